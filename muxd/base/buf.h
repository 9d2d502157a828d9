/* buf: a growing array of bytes with a maximum. data is valid until the next call that grows or
 * frees the buffer. */
#ifndef MUXD_BASE_BUF_H
#define MUXD_BASE_BUF_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
    /* owned; NULL while nothing was ever appended. Always followed by a NUL byte that len doesn't
     * count */
    char *data;
    size_t len;  /* bytes in use */
    size_t cap;  /* bytes allocated */
    size_t max;  /* len never grows beyond; SIZE_MAX: no cap */
    bool wiping; /* contents are wiped when moved or freed (typed secrets) */
};

#define BUF_INIT ((struct buf){.max = (size_t)-1})

void buf_init(struct buf *buf, size_t max_bytes); /* 0: no cap */
/* the same; contents are wiped on growth, buf_clear and buf_fini */
void buf_init_wiping(struct buf *buf, size_t max_bytes);
/* frees; safe on a zeroed or finished buf; buf_init before it is used again */
void buf_fini(struct buf *buf);
void buf_clear(struct buf *buf); /* len = 0; memory is kept */
/* Append; false (and nothing appended) when it would go over max. */
bool buf_append(struct buf *buf, const void *data, size_t size);
bool buf_append_text(struct buf *buf, const char *text);
bool buf_append_byte(struct buf *buf, char byte);
bool buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool buf_vprintf(struct buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* Room for size more bytes at data + len, or NULL over max; buf_commit makes them part of the
 * contents. */
char *buf_reserve(struct buf *buf, size_t size);
void buf_commit(struct buf *buf, size_t size);
void buf_consume(struct buf *buf, size_t size); /* drops bytes at the front */
/* drops bytes at the end; len is at most buf->len */
void buf_truncate(struct buf *buf, size_t len);
/* the contents, NUL-terminated, now the caller's; never NULL. buf is empty afterwards */
char *buf_take(struct buf *buf);
#endif
