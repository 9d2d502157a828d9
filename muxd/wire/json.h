/* json: JSON values (RFC 8259), strict where cJSON is not; json.c is the only includer of
 * cJSON.h. A value is a tree with one owner, which frees the root. Strings have a length and may
 * hold NUL bytes (terminal output does). A const struct json * is borrowed from its tree; a
 * value that was added to a tree belongs to it. */
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
    /* the escape \u0000 in string values (never in keys), for reading muxd's own answers */
    JSON_ALLOW_NUL = 1,
};

/* Parses one value with only white space behind it. NULL and ERR_PARSE for: anything outside RFC
 * 8259, duplicate keys, \u0000 (see the flag), lone surrogates, ill-formed UTF-8, nesting deeper
 * than JSON_DEPTH_MAX, integers beyond 2^53, numbers that overflow or are longer than 63
 * characters, more than 262144 values. The error names the byte position, counted from 1. Reads the
 * data once; linear in size, except for sorting keys. */
struct json *json_parse(const char *data, size_t size, struct err *err);
struct json *json_parse_with(const char *data, size_t size, enum json_flags flags, struct err *err);
void json_free(struct json *value); /* a root or a detached value; NULL is fine */

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
/* Members of an object and items of an array, in order:
 * for (it = json_first(v); it; it = json_next(it)). */
const struct json *json_first(const struct json *container); /* NULL: empty, or no container */
const struct json *json_next(const struct json *item);
const char *json_key(const struct json *item); /* NULL for items of an array */
size_t json_count(const struct json *container); /* linear */
/* members in any order; numbers by value */
bool json_equal(const struct json *a, const struct json *b);

/* Building. key is NULL when parent is an array. The caller must not add a key twice. Ill-formed
 * UTF-8 in a text is replaced with U+FFFD (utf8_append_lossy), so that no byte can spoil a line. */
struct json *json_object_new(void);
struct json *json_array_new(void);
struct json *json_string_new(const char *data, size_t len);
/* takes ownership of data: from malloc(3), valid UTF-8, data[len] is NUL */
struct json *json_string_taken(char *data, size_t len);
struct json *json_int_new(int64_t number);   /* |number| ≤ 2^53, else a bug */
struct json *json_double_new(double number); /* finite, else a bug */
struct json *json_bool_new(bool truth);
struct json *json_null_new(void);
struct json *json_copy(const struct json *value);
/* takes ownership of value, which is in no tree yet, and returns it */
struct json *json_add(struct json *parent, const char *key, struct json *value);
/* the same, and takes ownership of key, from malloc(3), too */
struct json *json_add_taken(struct json *parent, char *key, struct json *value);
/* a new one, borrowed from parent */
struct json *json_add_object(struct json *parent, const char *key);
struct json *json_add_array(struct json *parent, const char *key);
void json_add_str(struct json *parent, const char *key, const char *data, size_t len);
/* NUL-terminated; NULL becomes null */
void json_add_text(struct json *parent, const char *key, const char *text);
/* takes the contents of text, as json_add_str does; it is empty afterwards */
void json_add_buf(struct json *parent, const char *key, struct buf *text);
void json_add_int(struct json *parent, const char *key, int64_t number);
void json_add_double(struct json *parent, const char *key, double number); /* finite, else a bug */
void json_add_bool(struct json *parent, const char *key, bool truth);
void json_add_null(struct json *parent, const char *key);
/* the member, now the caller's; NULL when absent */
struct json *json_detach(struct json *object, const char *key);
/* keeps value and place; does nothing when key is absent. No member has the name `to` yet */
void json_rename(struct json *object, const char *key, const char *to);

/* Appends value in one line without blanks or a newline. A number is the shortest text that
 * reads back equal. False: out is at its max, and has a part of the value. */
bool json_print(struct buf *out, const struct json *value);
/* one quoted string; valid UTF-8 */
bool json_print_str(struct buf *out, const char *data, size_t len);
#endif
