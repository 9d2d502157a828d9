/* buf.c: owns the growth of buffers: doubling up to the cap, one spare byte for the NUL that always
 * follows the contents. */
#include "base/buf.h"
#include "base/bug.h"
#include "base/mem.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 64 };

void buf_init(struct buf *buf, size_t max_bytes)
{
    *buf = (struct buf){.max = max_bytes ? max_bytes : SIZE_MAX};
}

void buf_init_wiping(struct buf *buf, size_t max_bytes)
{
    buf_init(buf, max_bytes);
    buf->wiping = true;
}

void buf_fini(struct buf *buf)
{
    if (buf->wiping && buf->data)
        mem_wipe(buf->data, buf->cap);
    free(buf->data);
    buf->data = NULL;
    buf->len = buf->cap = 0;
}

void buf_clear(struct buf *buf)
{
    if (!buf->data)
        return;
    if (buf->wiping)
        mem_wipe(buf->data, buf->cap);
    buf->len = 0;
    buf->data[0] = 0;
}

/* need counts the NUL and is at most max + 1. */
static void buf_grow(struct buf *buf, size_t need)
{
    size_t limit = buf->max == SIZE_MAX ? SIZE_MAX : buf->max + 1;
    size_t cap = buf->cap ? buf->cap : FIRST_CAP;
    BUG_UNLESS(buf->cap < need && need <= limit && buf->len < need);
    BUG_UNLESS((buf->data == NULL) == (buf->cap == 0));
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    if (cap > limit)
        cap = limit;
    if (!buf->wiping) {
        buf->data = xrealloc(buf->data, cap);
    } else {
        char *fresh = xmalloc(cap);
        if (buf->data) {
            memcpy(fresh, buf->data, buf->len);
            mem_wipe(buf->data, buf->cap);
            free(buf->data);
        }
        buf->data = fresh;
    }
    buf->cap = cap;
}

char *buf_reserve(struct buf *buf, size_t size)
{
    if (size > buf->max || buf->len > buf->max - size)
        return NULL;
    size_t need = buf->len + size;
    if (need == SIZE_MAX)
        return NULL; /* no room for the NUL */
    if (need + 1 > buf->cap)
        buf_grow(buf, need + 1);
    buf->data[buf->len] = 0;
    return buf->data + buf->len;
}

void buf_commit(struct buf *buf, size_t size)
{
    BUG_UNLESS(size < buf->cap - buf->len || (size == 0 && buf->cap == 0));
    buf->len += size;
    if (buf->data)
        buf->data[buf->len] = 0;
}

bool buf_append(struct buf *buf, const void *data, size_t size)
{
    char *room = buf_reserve(buf, size);
    if (!room)
        return false;
    if (size)
        memcpy(room, data, size);
    buf_commit(buf, size);
    return true;
}

bool buf_append_text(struct buf *buf, const char *text)
{
    return buf_append(buf, text, strlen(text));
}

bool buf_append_byte(struct buf *buf, char byte)
{
    return buf_append(buf, &byte, 1);
}

bool buf_vprintf(struct buf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    BUG_UNLESS(buf->len < buf->cap || buf->cap == 0);
    size_t spare = buf->cap - buf->len;
    int len = vsnprintf(spare ? buf->data + buf->len : NULL, spare, format, args);
    BUG_UNLESS(len >= 0);
    char *room = buf_reserve(buf, (size_t)len);
    if (room) {
        vsnprintf(room, (size_t)len + 1, format, again);
        buf_commit(buf, (size_t)len);
    } else if (spare) {
        buf->data[buf->len] = 0;
    }
    va_end(again);
    return room != NULL;
}

bool buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool fits = buf_vprintf(buf, format, args);
    va_end(args);
    return fits;
}

void buf_consume(struct buf *buf, size_t size)
{
    BUG_UNLESS(size <= buf->len);
    if (size == 0)
        return;
    memmove(buf->data, buf->data + size, buf->len - size);
    if (buf->wiping)
        mem_wipe(buf->data + buf->len - size, size);
    buf->len -= size;
    buf->data[buf->len] = 0;
}

void buf_truncate(struct buf *buf, size_t len)
{
    BUG_UNLESS(len <= buf->len);
    if (!buf->data)
        return;
    if (buf->wiping)
        mem_wipe(buf->data + len, buf->len - len);
    buf->len = len;
    buf->data[len] = 0;
}

char *buf_take(struct buf *buf)
{
    char *taken = buf->data;
    if (!taken)
        return xstrdup("");
    BUG_UNLESS(buf->len < buf->cap && taken[buf->len] == 0);
    buf->data = NULL;
    buf->len = buf->cap = 0;
    return taken;
}
