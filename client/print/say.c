/* say: owns what ue writes to standard output and standard error. */
#include "client/print/say.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/utf8.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* errno says why fd can't be written. */
static void __attribute__((__noreturn__)) say_leave(int fd)
{
    if (errno == EPIPE) /* SIGPIPE is ignored here: the status is as if it were not */
        exit(128 + SIGPIPE);
    if (fd == STDOUT_FILENO)
        say_note("standard output: can't be written: %s; the sessions go on", strerror(errno));
    exit(125);
}

static void write_or_leave(int fd, const void *data, size_t size)
{
    if (fd_write_all(fd, data, size) >= 0)
        return;
    say_leave(fd);
}

void say_lost(void)
{
    say_leave(STDOUT_FILENO);
}

void say_out(const void *data, size_t size)
{
    if (size > 0)
        write_or_leave(STDOUT_FILENO, data, size);
}

void say_stderr_bytes(const void *data, size_t size)
{
    if (size > 0)
        write_or_leave(STDERR_FILENO, data, size);
}

void say_buf(struct buf *buf)
{
    say_out(buf->data, buf->len);
    buf_fini(buf);
}

/* JSON strings may hold DEL, C1 and what reorders a line as they are (RFC 8259), but a terminal
 * obeys them. */
static void append_obeyed_escaped(struct buf *out, const char *line, size_t len)
{
    int32_t rune;
    for (size_t at = 0, size; at < len; at += size) {
        size = utf8_decode(line + at, len - at, &rune);
        BUG_UNLESS(size > 0); /* JSON is whole UTF-8 */
        if (rune >= 0x7f && utf8_is_obeyed(rune))
            buf_printf(out, "\\u%04x", (unsigned)rune);
        else
            buf_append(out, line + at, size);
    }
}

void say_append_json(struct buf *out, const struct json *value)
{
    struct buf line = BUF_INIT;
    json_print(&line, value);
    if (say_is_tty(STDOUT_FILENO))
        append_obeyed_escaped(out, line.data, line.len);
    else
        buf_append(out, line.data, line.len);
    buf_append_byte(out, '\n');
    buf_fini(&line);
}

void say_json(const struct json *value)
{
    struct buf out = BUF_INIT;
    say_append_json(&out, value);
    say_buf(&out);
}

bool say_is_tty(int fd)
{
    return isatty(fd) == 1;
}

void say_for_terminal(struct buf *out, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t stop = end ? (size_t)(end - text) : len;
        size_t cut = end && stop > at && text[stop - 1] == '\r' ? stop - 1 : stop;
        utf8_append_escaped(out, text + at, cut - at, true);
        /* also at the end of the text, so that the shell's prompt begins on its own line */
        buf_append_byte(out, '\n');
        at = end ? stop + 1 : len;
    }
}

void say_text(const char *text, size_t len)
{
    if (!say_is_tty(STDOUT_FILENO)) {
        say_out(text, len);
        return;
    }
    struct buf out = BUF_INIT;
    say_for_terminal(&out, text, len);
    say_buf(&out);
}

/* When standard error can't be written there is no place left for a message. */
static void append_aside(struct buf *out, const char *text, size_t len)
{
    utf8_append_escaped(out, text, len, false);
    buf_append_byte(out, '\n');
    if (fd_write_all(STDERR_FILENO, out->data, out->len) < 0)
        errno = 0;
    buf_fini(out);
}

void say_aside(const char *text, size_t len)
{
    struct buf out = BUF_INIT;
    append_aside(&out, text, len);
}

static void say_escaped(const char *head, const char *subject, const char *text)
{
    struct buf out = BUF_INIT;
    buf_printf(&out, "%s%s%s", head, subject ? subject : "", subject ? ": " : "");
    append_aside(&out, text, strlen(text));
}

void say_note(const char *format, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    say_escaped("ue: ", NULL, text.data ? text.data : "");
    buf_fini(&text);
}

void say_err(const char *verb, const struct err *err)
{
    say_escaped("ue: ", err->text[0] == '\'' ? NULL : verb, err->text);
}
