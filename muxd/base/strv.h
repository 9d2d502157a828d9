/* strv: NULL-terminated vectors of strings, as argv and environ are. Caps on their size are the
 * caller's. */
#ifndef MUXD_BASE_STRV_H
#define MUXD_BASE_STRV_H
#include <stddef.h>

struct strv {
    char **items; /* owned, and so is each string; NULL while empty. items[count] is NULL */
    size_t count;
    size_t cap; /* allocated slots, including that of the NULL */
};

/* frees; safe on a zeroed or finished vector, which may be used again at once */
void strv_fini(struct strv *vec);
void strv_add(struct strv *vec, const char *text);
void strv_add_owned(struct strv *vec, char *text); /* takes text, which malloc(3) made */
/* items ends with NULL, or is NULL: nothing */
void strv_add_all(struct strv *vec, const char *const *items);
void strv_addf(struct strv *vec, const char *format, ...) __attribute__((format(printf, 2, 3)));
char **strv_take(struct strv *vec); /* never NULL; freed by strv_free. vec is empty afterwards */

/* Vectors of NAME=VALUE entries. */

/* the value, borrowed; NULL when there is none or env is NULL */
const char *strv_env_get(const char *const *env, const char *name);
/* replaces every entry of that name; value NULL: removes them */
void strv_env_set(struct strv *env, const char *name, const char *value);

size_t strv_len(const char *const *items); /* 0 for NULL */
size_t strv_bytes(const char *const *items); /* all strings and their NULs; 0 for NULL */
char **strv_dup(const char *const *items); /* never NULL; freed by strv_free */
void strv_free(char **items);              /* each string too; NULL is fine */
/* one line, quoted as for a shell, for display; freed by free(3) */
char *strv_quoted(char *const *argv);
#endif
