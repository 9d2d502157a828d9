/* log.c: owns the log's descriptor and the form of a line: time, level, role and process, escaped text. */
#include "base/log.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    TEXT_MAX = 4096,            /* of one message before escaping */
    LINE_MAX_BYTES = 5 * TEXT_MAX, /* an escaped byte takes four; the rest is for time and role */
};

static const char *const level_names[] = {"error", "warn", "info", "debug"};

static struct {
    int fd; /* -1: stderr */
    enum log_level level;
    const char *role;
    uint64_t lost; /* lines since the last one that went out whole */
    bool torn;     /* the last line went out in part */
    struct buf line;
} sink = {.fd = -1, .level = LOG_INFO, .line = {.max = LINE_MAX_BYTES}};

int log_level_by_name(const char *name)
{
    for (int i = 0; i <= LOG_DEBUG; i++)
        if (strcasecmp(name, level_names[i]) == 0)
            return i;
    return -1;
}

int log_open(const char *path, enum log_level level, struct err *err)
{
    int fd = -1;
    if (path && strcmp(path, "-") != 0) {
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
        if (fd < 0)
            return err_set(err, ERR_SYSTEM, "log '%s' can't be opened: %s; check its directory or set another in [muxd] log", path,
                           strerror(errno));
    }
    fd_close(&sink.fd); /* what the one before had no room for is told in this one */
    sink.fd = fd;
    sink.level = level;
    buf_reserve(&sink.line, LINE_MAX_BYTES); /* now, so that writing a line never allocates */
    return 0;
}

void log_set_level(enum log_level level)
{
    sink.level = level;
}

void log_set_role(const char *role)
{
    sink.role = role;
}

void log_close(void)
{
    fd_close(&sink.fd);
    sink.lost = 0;
    sink.torn = false;
}

static void begin_line(enum log_level level)
{
    char when[32];
    clock_format_iso(clock_real_ms(), when);
    buf_clear(&sink.line);
    if (sink.torn)
        buf_append_byte(&sink.line, '\n');
    buf_printf(&sink.line, "%s %s %s[%d] ", when, level_names[level], sink.role ? sink.role : "muxd", (int)getpid());
}

static bool send_line(void)
{
    buf_append_byte(&sink.line, '\n');
    int fd = sink.fd >= 0 ? sink.fd : STDERR_FILENO;
    ssize_t done;
    do
        done = write(fd, sink.line.data, sink.line.len);
    while (done < 0 && errno == EINTR);
    if (done == (ssize_t)sink.line.len) {
        sink.torn = false;
        return true;
    }
    sink.torn = sink.torn || done > 0;
    sink.lost++;
    return false;
}

/* Tells what is missing in front of the first line that has room again. */
static bool tell_lost(void)
{
    if (sink.lost == 0)
        return true;
    uint64_t lost = sink.lost;
    begin_line(LOG_WARN);
    buf_printf(&sink.line, "%llu lines of this log were lost, there was no room to write them", (unsigned long long)lost);
    if (!send_line()) {
        sink.lost = lost;
        return false;
    }
    sink.lost = 0;
    return true;
}

void log_at(enum log_level level, const char *format, ...)
{
    if (level > sink.level)
        return;
    int saved = errno;
    char text[TEXT_MAX];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len >= 0 && tell_lost()) {
        begin_line(level);
        bool cut = (size_t)len >= sizeof text;
        size_t kept = strlen(text);
        if (cut)
            kept -= utf8_incomplete_tail(text, kept);
        utf8_append_escaped(&sink.line, text, kept, false);
        if (cut)
            buf_printf(&sink.line, " [%zu bytes more]", (size_t)len - kept);
        send_line();
    } else {
        sink.lost++;
    }
    errno = saved;
}
