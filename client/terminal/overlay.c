/* overlay: owns the terminal's keys and contents while overlay_run runs, and keys typed ahead. */
#include "client/terminal/overlay.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "client/terminal/query.h"
#include "client/terminal/terminal.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static struct { /* keys that are not used yet */
    char data[OVERLAY_AHEAD];
    size_t size;
} ahead;

static unsigned char leave_key; /* 0: none */

struct run {
    const struct overlay *overlay;
    struct buf *out;
    bool done, gone, resized;
};

static void overlay_draw(struct run *run)
{
    int rows, cols;
    terminal_size(&rows, &cols);
    terminal_append_plain(run->out, run->overlay->mouse);
    buf_append_text(run->out, "\033[?2026h\033[?25l\033[m\033[r\033[H\033[2J");
    run->overlay->draw(run->overlay->arg, run->out, rows, cols);
    buf_append_text(run->out, "\033[?2026l");
}

static void overlay_look_at_signals(struct run *run)
{
    struct err err;
    bool stop = terminal_stop, continued = terminal_continued;
    if (stop)
        terminal_suspend();
    else if (continued)
        terminal_leave();
    terminal_continued = 0;
    if ((stop || continued) && terminal_enter(&err) < 0)
        run->gone = true;
    run->resized |= terminal_resized || stop || continued;
    if (terminal_resized || stop || continued)
        overlay_draw(run);
    terminal_resized = 0;
}

static void overlay_use_keys(struct run *run)
{
    int rows, cols;
    size_t at = 0, used = 1;
    int32_t key;
    terminal_size(&rows, &cols);
    while (!run->done && at < ahead.size &&
           (used = overlay_key_next(ahead.data + at, ahead.size - at, &key)) > 0) {
        if (leave_key && key == leave_key) { /* it stays, with what is behind it */
            run->done = true;
            break;
        }
        at += used;
        if (key == 'Z' - '@')
            terminal_stop = 1;
        else
            run->done = run->overlay->key(run->overlay->arg, key, rows);
    }
    ahead.size -= at;
    memmove(ahead.data, ahead.data + at, ahead.size);
    mem_wipe(ahead.data + ahead.size, at);
    if (ahead.size == sizeof ahead.data && !run->done) /* no key is so long */
        ahead.size = 0;
    if (!run->done)
        overlay_draw(run);
}

static void overlay_take_keys(struct run *run)
{
    ssize_t got = query_read(ahead.data + ahead.size, sizeof ahead.data - ahead.size);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    run->gone = got <= 0;
    ahead.size += got > 0 ? (size_t)got : 0;
    if (!run->gone)
        overlay_use_keys(run);
}

static void write_out(struct run *run)
{
    ssize_t n = terminal_write(run->out->data, run->out->len);
    if (n < 0)
        run->gone = true;
    else
        buf_consume(run->out, (size_t)n);
}

bool overlay_run(const struct overlay *overlay, struct buf *out)
{
    struct run run = {.overlay = overlay, .out = out};
    BUG_UNLESS(terminal_is_entered());
    overlay_use_keys(&run);
    while (!run.done && !run.gone) {
        /* Keys are read only while the terminal keeps up, or a drawing for each would pile up. */
        struct pollfd fds[2] = {{.fd = out->len > 0 ? -1 : STDIN_FILENO, .events = POLLIN},
                                {.fd = out->len > 0 ? terminal_out_fd() : -1, .events = POLLOUT}};
        int held_ms = out->len > 0 ? -1 : query_wait_ms();
        struct timespec left = {.tv_sec = held_ms / 1000, .tv_nsec = held_ms % 1000 * 1000000};
        int ready = terminal_stop
                        ? 0
                        : ppoll(fds, 2, held_ms >= 0 ? &left : NULL, terminal_wait_mask());
        overlay_look_at_signals(&run);
        if ((ready > 0 && fds[0].revents) || (ready == 0 && held_ms >= 0))
            overlay_take_keys(&run);
        if (out->len > 0 && !run.gone)
            write_out(&run);
    }
    terminal_resized |= run.resized;
    buf_clear(out);
    return !run.gone;
}

void overlay_leave_on(unsigned char key)
{
    leave_key = key;
}

void overlay_type_ahead(const char *data, size_t size)
{
    BUG_UNLESS(ahead.size == 0 && size <= sizeof ahead.data); /* no key is lost */
    ahead.size = size;
    memcpy(ahead.data, data, ahead.size);
}

size_t overlay_unused(char *data)
{
    size_t size = ahead.size;
    memcpy(data, ahead.data, size);
    mem_wipe(ahead.data, sizeof ahead.data);
    ahead.size = 0;
    return size;
}

void overlay_line(struct buf *out, int row, int cols, const char *style, const char *text,
                  size_t size)
{
    int used = 0;
    BUG_UNLESS(row >= 0 && cols > 0);
    /* erased first: behind a full line the cursor still stands on its last character */
    buf_printf(out, "\033[%d;1H\033[m%s\033[K", row + 1, style);
    for (size_t at = 0; at < size;) {
        int32_t rune;
        size_t taken = utf8_decode(text + at, size - at, &rune);
        int width = taken > 0 && rune >= 0 ? utf8_width(rune) : 1;
        if (taken == 0 || used + width > cols)
            break;
        if (rune < 0)
            buf_append_byte(out, '?');
        else if (rune >= ' ' && (rune < 0x7f || rune >= 0xa0))
            buf_append(out, text + at, taken);
        used += width;
        at += taken;
    }
    buf_append_text(out, "\033[m");
}
