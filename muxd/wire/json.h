/* json: JSON values (RFC 8259), strict where the library behind it is not. The only includer of
 * cJSON.h is json.c. A value is a tree with one owner, who frees the root. Strings carry their
 * length and may hold NUL bytes (terminal output does). const struct json * is borrowed from its
 * tree; what has been added to a tree belongs to that tree. */
#ifndef MUXD_WIRE_JSON_H
#define MUXD_WIRE_JSON_H
#include "base/buf.h"
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;

enum json_type {
    JSON_ABSENT,
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

#define JSON_DEPTH_MAX 64
/* 2^53: the last integer that every JSON reader keeps exact */
#define JSON_INTEGER_MAX INT64_C(9007199254740992)

enum json_flags {
    JSON_STRICT = 0,
    /* the escape \u0000 in string values (never in keys): for reading muxd's own answers */
    JSON_ALLOW_NUL = 1,
};

/* One value and nothing behind it but white space. NULL and ERR_PARSE for: anything outside RFC
 * 8259, duplicate keys, \u0000 (see the flag), lone surrogates, ill-formed UTF-8, nesting deeper
 * than JSON_DEPTH_MAX, integers beyond 2^53, numbers that overflow or are longer than 63
 * characters, more than 262144 values. The text names the byte position, counted from 1. The text
 * is read once; linear in size but for sorting keys. */
struct json *json_parse(const char *data, size_t size, struct err *err);
struct json *json_parse_with(const char *data, size_t size, enum json_flags flags, struct err *err);
void json_free(struct json *value); /* NULL is fine. Only roots and detached values */

/* Reading. NULL as value is allowed everywhere and means absent. */
enum json_type json_type(const struct json *value);
/* "string", "number", …; "nothing" for JSON_ABSENT */
const char *json_type_name(enum json_type type);
/* case-sensitive; NULL: absent, or not an object */
const struct json *json_get(const struct json *object, const char *key);
/* NULL unless a string; NUL-terminated too; len may be NULL */
const char *json_str(const struct json *value, size_t *len);
/* a number without fraction within 2^53 */
bool json_int(const struct json *value, int64_t *out);
bool json_double(const struct json *value, double *out);
bool json_bool(const struct json *value, bool *out);
/* The same by key; out is untouched when absent or of another type. */
const char *json_get_str(const struct json *object, const char *key, size_t *len);
bool json_get_int(const struct json *object, const char *key, int64_t *out);
bool json_get_bool(const struct json *object, const char *key, bool *out);
/* Members of an object and items of an array, in order: for (it = json_first(v); it; it =
 * json_next(it)). */
const struct json *json_first(const struct json *container); /* NULL: empty, or no container */
const struct json *json_next(const struct json *item);
const char *json_key(const struct json *item); /* NULL for items of an array */
size_t json_count(const struct json *container); /* linear */
/* members in any order; numbers by value */
bool json_equal(const struct json *a, const struct json *b);

/* Building. key is NULL when parent is an array. The caller sees to it that a key is not added
 * twice. Text that is no valid UTF-8 is taken with U+FFFD for what is ill-formed
 * (utf8_append_lossy), so that no byte can spoil a line. */
struct json *json_object_new(void);
struct json *json_array_new(void);
struct json *json_string_new(const char *data, size_t len);
/* takes malloced, valid UTF-8 over; data[len] is NUL */
struct json *json_string_taken(char *data, size_t len);
struct json *json_int_new(int64_t number);              /* |number| ≤ 2^53, else a bug */
struct json *json_double_new(double number);            /* finite, else a bug */
struct json *json_bool_new(bool truth);
struct json *json_null_new(void);
struct json *json_copy(const struct json *value);
/* takes value over and returns it */
struct json *json_add(struct json *parent, const char *key, struct json *value);
/* The same, and takes key over too, which is malloced. */
struct json *json_add_taken(struct json *parent, char *key, struct json *value);
/* a new one, borrowed from parent */
struct json *json_add_object(struct json *parent, const char *key);
struct json *json_add_array(struct json *parent, const char *key);
void json_add_str(struct json *parent, const char *key, const char *data, size_t len);
/* NUL-terminated; NULL becomes null */
void json_add_text(struct json *parent, const char *key, const char *text);
/* its contents, UTF-8, are taken: it is empty then */
void json_add_buf(struct json *parent, const char *key, struct buf *text);
void json_add_int(struct json *parent, const char *key, int64_t number);
void json_add_double(struct json *parent, const char *key, double number); /* finite, else a bug */
void json_add_bool(struct json *parent, const char *key, bool truth);
void json_add_null(struct json *parent, const char *key);
/* the member, now the caller's; NULL when absent */
struct json *json_detach(struct json *object, const char *key);
/* keeps value and place; nothing when absent */
void json_rename(struct json *object, const char *key, const char *to);

/* Appends value in one line without blanks or a newline; false when out went over its max (its
 * contents are then partial). Numbers are the shortest text that reads back equal. */
bool json_print(struct buf *out, const struct json *value);
/* one quoted string; valid UTF-8 */
bool json_print_str(struct buf *out, const char *data, size_t len);
#endif
