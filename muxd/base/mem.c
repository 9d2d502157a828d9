/* mem.c: owns what happens when there is no memory: a line on stderr and abort, so that the keeper
 * starts a new worker. */
#include "base/mem.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *checked(void *block, size_t size)
{
    if (!block) {
        /* No stdio: its buffers may need the memory that is missing. */
        char line[64];
        int len = snprintf(line, sizeof line, "out of memory (%zu bytes wanted)\n", size);
        if (write(STDERR_FILENO, line, (size_t)len) < 0)
            abort();
        abort();
    }
    return block;
}

void *xmalloc(size_t size)
{
    return checked(malloc(size ? size : 1), size);
}

void *xcalloc(size_t count, size_t size)
{
    return checked(count && size ? calloc(count, size) : calloc(1, 1), size);
}

void *xrealloc(void *old, size_t size)
{
    return checked(realloc(old, size ? size : 1), size);
}

void *xreallocarray(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return checked(NULL, SIZE_MAX);
    return xrealloc(old, bytes);
}

char *xstrdup(const char *text)
{
    return xmemdup(text, strlen(text) + 1);
}

char *xstrndup(const char *text, size_t max)
{
    size_t len = strnlen(text, max);
    char *copy = xmalloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

void *xmemdup(const void *data, size_t size)
{
    void *copy = xmalloc(size);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

char *xvasprintf(const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    return checked(text, 0);
}

char *xasprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = xvasprintf(format, args);
    va_end(args);
    return text;
}

void mem_wipe(void *data, size_t size)
{
    if (size)
        explicit_bzero(data, size);
}
