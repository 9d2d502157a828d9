/* mem: allocation that cannot fail. Without memory the process aborts (the keeper then starts a new
 * worker), so callers never check. Sizes that a peer names must be capped before they come here. */
#ifndef MUXD_BASE_MEM_H
#define MUXD_BASE_MEM_H
#include <stdarg.h>
#include <stddef.h>

/* Like malloc(3), calloc(3), realloc(3), strdup(3), but abort with a message when there is no
 * memory. Freed with free(3). */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
/* aborts on overflow of count * size too */
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t max);
void *xmemdup(const void *data, size_t size);
/* Like asprintf(3); the string returned is the caller's. */
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
/* Overwrites size bytes so that the compiler can't drop it (explicit_bzero(3)). */
void mem_wipe(void *data, size_t size);
#endif
