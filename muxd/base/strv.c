/* strv.c: owns the growth of string vectors and the rule that an environment has one entry for each
 * name. */
#include "base/strv.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/mem.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void strv_fini(struct strv *vec)
{
    strv_free(vec->items);
    *vec = (struct strv){0};
}

void strv_add_owned(struct strv *vec, char *text)
{
    BUG_UNLESS(text && (vec->count < vec->cap || !vec->items));
    if (vec->count + 2 > vec->cap) {
        vec->cap = vec->cap ? vec->cap * 2 : 8;
        vec->items = xreallocarray(vec->items, vec->cap, sizeof *vec->items);
    }
    vec->items[vec->count++] = text;
    vec->items[vec->count] = NULL;
}

void strv_add(struct strv *vec, const char *text)
{
    strv_add_owned(vec, xstrdup(text));
}

void strv_add_all(struct strv *vec, const char *const *items)
{
    for (; items && *items; items++)
        strv_add(vec, *items);
}

void strv_addf(struct strv *vec, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strv_add_owned(vec, xvasprintf(format, args));
    va_end(args);
}

static void remove_at(struct strv *vec, size_t at)
{
    BUG_UNLESS(at < vec->count);
    free(vec->items[at]);
    BUG_UNLESS(!vec->items[vec->count]);
    memmove(vec->items + at, vec->items + at + 1, (vec->count - at) * sizeof *vec->items);
    vec->count--;
}

char **strv_take(struct strv *vec)
{
    char **items = vec->items ? vec->items : xcalloc(1, sizeof *items);
    *vec = (struct strv){0};
    return items;
}

/* The value of entry when it is NAME=…, else NULL. */
static const char *strv_value_of(const char *entry, const char *name, size_t len)
{
    return strncmp(entry, name, len) == 0 && entry[len] == '=' ? entry + len + 1 : NULL;
}

const char *strv_env_get(const char *const *env, const char *name)
{
    size_t len = strlen(name);
    for (; env && *env; env++) {
        const char *value = strv_value_of(*env, name, len);
        if (value)
            return value;
    }
    return NULL;
}

void strv_env_set(struct strv *env, const char *name, const char *value)
{
    BUG_UNLESS(*name && !strchr(name, '='));
    /* first: value may point into an entry that is freed below */
    char *entry = value ? xasprintf("%s=%s", name, value) : NULL;
    size_t len = strlen(name);
    for (size_t i = 0; i < env->count;) {
        if (!strv_value_of(env->items[i], name, len)) {
            i++;
        } else if (entry) {
            free(env->items[i]);
            env->items[i++] = entry;
            entry = NULL;
        } else {
            remove_at(env, i);
        }
    }
    if (entry)
        strv_add_owned(env, entry);
}

size_t strv_len(const char *const *items)
{
    size_t count = 0;
    while (items && items[count])
        count++;
    return count;
}

size_t strv_bytes(const char *const *items)
{
    size_t bytes = 0;
    for (; items && *items; items++)
        bytes += strlen(*items) + 1;
    return bytes;
}

char **strv_dup(const char *const *items)
{
    struct strv copy = {0};
    strv_add_all(&copy, items);
    return strv_take(&copy);
}

void strv_free(char **items)
{
    for (char **at = items; at && *at; at++)
        free(*at);
    free(items);
}

char *strv_quoted(char *const *argv)
{
    struct buf out = BUF_INIT;
    for (; *argv; argv++) {
        if (out.len)
            buf_append_byte(&out, ' ');
        if (**argv &&
            strspn(*argv,
                   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-") ==
                strlen(*argv)) {
            buf_append_text(&out, *argv);
            continue;
        }
        buf_append_byte(&out, '\'');
        for (const char *at = *argv; *at; at++)
            *at == '\'' ? buf_append_text(&out, "'\\''") : buf_append_byte(&out, *at);
        buf_append_byte(&out, '\'');
    }
    return buf_take(&out);
}
