/* frame: the read buffer of a line protocol. It grows with the line, at most to the cap and one
 * read, and is freed when it is empty, so that ten thousand silent connections hold no memory. */
#include "wire/frame.h"
#include "base/bug.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 4096
#define FIRST_CAP 16384
#define READ_MAX 65536 /* room beyond the cap of a line */

static bool frame_is_sound(const struct frame *frame)
{
    return frame->start <= frame->scanned && frame->scanned <= frame->len &&
           frame->len <= frame->cap && (frame->data != NULL) == (frame->cap > 0);
}

void frame_init(struct frame *frame, size_t max_line_bytes)
{
    *frame = (struct frame){.max_line = max_line_bytes};
}

void frame_fini(struct frame *frame)
{
    free(frame->data);
    *frame = (struct frame){.max_line = frame->max_line};
}

static void drop_all(struct frame *frame)
{
    free(frame->data);
    frame->data = NULL;
    frame->len = frame->cap = frame->start = frame->scanned = 0;
}

static void move_to_front(struct frame *frame)
{
    memmove(frame->data, frame->data + frame->start, frame->len - frame->start);
    frame->len -= frame->start;
    frame->scanned -= frame->start;
    frame->start = 0;
}

char *frame_room(struct frame *frame, size_t *size)
{
    BUG_UNLESS(frame_is_sound(frame));
    if (frame->cap - frame->len < ROOM_MIN && frame->start > 0)
        move_to_front(frame);
    if (frame->cap - frame->len < ROOM_MIN) {
        size_t cap = frame->cap ? frame->cap * 2 : FIRST_CAP;
        size_t limit = frame->max_line + READ_MAX;
        if (cap > limit)
            cap = limit;
        if (cap < frame->len + ROOM_MIN) /* the caller feeds without taking lines out */
            cap = frame->len + READ_MAX;
        frame->data = xrealloc(frame->data, cap);
        frame->cap = cap;
    }
    *size = frame->cap - frame->len;
    return frame->data + frame->len;
}

void frame_filled(struct frame *frame, size_t size)
{
    BUG_UNLESS(size <= frame->cap - frame->len);
    frame->len += size;
    if (frame->len == 0)
        drop_all(frame);
}

void frame_feed(struct frame *frame, const void *data, size_t size)
{
    const char *from = data;
    while (size > 0) {
        size_t room;
        char *to = frame_room(frame, &room);
        if (room > size)
            room = size;
        memcpy(to, from, room);
        frame_filled(frame, room);
        from += room;
        size -= room;
    }
}

static bool frame_is_blank(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (strchr(" \t\r", line[i]) == NULL || line[i] == '\0')
            return false;
    }
    return true;
}

static int fail_too_large(const struct frame *frame, struct err *err)
{
    return err_set(
        err, ERR_TOO_LARGE,
        "a request line is longer than %zu bytes ([limits] max_request); send it in pieces",
        frame->max_line);
}

/* The unread part has no newline: wait for it, unless the line is too long already. What there is
 * of it is lent to the caller, and dropped with the next call. */
static int want_more(struct frame *frame, const char **line, size_t *len, struct err *err)
{
    size_t pending = frame->len - frame->start;
    frame->scanned = frame->len;
    if (!frame->skipping && pending > frame->max_line) {
        frame->skipping = true;
        *line = frame->data + frame->start;
        *len = pending;
        return fail_too_large(frame, err);
    }
    if (frame->skipping || pending == 0)
        drop_all(frame);
    return 0;
}

int frame_next(struct frame *frame, const char **line, size_t *len, struct err *err)
{
    BUG_UNLESS(frame_is_sound(frame));
    for (;;) {
        char *newline = NULL;
        if (frame->scanned < frame->len)
            newline = memchr(frame->data + frame->scanned, '\n', frame->len - frame->scanned);
        if (newline == NULL)
            return want_more(frame, line, len, err);
        const char *begin = frame->data + frame->start;
        size_t size = (size_t)(newline - begin);
        frame->start = frame->scanned = (size_t)(newline - frame->data) + 1;
        bool rest_of_long = frame->skipping;
        frame->skipping = false;
        if (rest_of_long)
            continue;
        *line = begin;
        *len = size;
        if (size > frame->max_line)
            return fail_too_large(frame, err);
        if (!frame_is_blank(begin, size))
            return 1;
    }
}

int frame_eof(struct frame *frame, const char **line, size_t *len)
{
    size_t pending = frame->len - frame->start;
    if (pending == 0 || frame->skipping || pending > frame->max_line)
        return 0;
    const char *begin = frame->data + frame->start;
    if (frame_is_blank(begin, pending))
        return 0;
    *line = begin;
    *len = pending;
    frame->start = frame->scanned = frame->len;
    return 1;
}
