/* log.c: owns the log's descriptor and the form of a line: time, level, role and process, escaped
 * text. */
#include "base/log.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TEXT_MAX = 4096,            /* of one message before escaping */
    LINE_MAX_BYTES = 5 * TEXT_MAX, /* an escaped byte takes four; the rest is for time and role */
};

enum trouble { TROUBLE_NONE, TROUBLE_UNOPENED, TROUBLE_UNWRITABLE, TROUBLE_GONE };

static const char *const level_names[] = {"error", "warn", "info", "debug"};
_Static_assert(sizeof level_names / sizeof *level_names == LOG_DEBUG + 1, "a name for each level");

static struct {
    int fd; /* -1: stderr */
    enum log_level level;
    const char *role;
    uint64_t lost; /* lines since the last one that was written whole */
    bool torn;     /* the last line was written in part */
    struct buf line;
    /* of the file that is open or could not be opened; NULL: stderr was asked for */
    char *path;
    enum trouble trouble;
    int trouble_errno;
    int64_t trouble_ms;
} sink = {.fd = -1, .level = LOG_INFO, .line = {.max = LINE_MAX_BYTES}};

static void log_note(enum trouble trouble, int error)
{
    if (trouble != sink.trouble)
        sink.trouble_ms = clock_real_ms();
    sink.trouble = trouble;
    sink.trouble_errno = error;
}

/* Lines that go to a file which was moved or removed are lost to its readers. */
static void look_at_place(void)
{
    struct stat open_one, there;
    if (!sink.path || sink.fd < 0 || fstat(sink.fd, &open_one) != 0)
        return;
    bool same = lstat(sink.path, &there) == 0 && there.st_ino == open_one.st_ino &&
                there.st_dev == open_one.st_dev;
    if (!same)
        log_note(TROUBLE_GONE, 0);
    else if (sink.trouble == TROUBLE_GONE)
        log_note(TROUBLE_NONE, 0);
}

static void log_set_path(const char *path)
{
    char *copy = path ? xstrdup(path) : NULL;
    free(sink.path);
    sink.path = copy;
}

int log_open(const char *path, enum log_level level, struct err *err)
{
    int fd = -1;
    BUG_UNLESS(level <= LOG_DEBUG);
    if (path && strcmp(path, "-") == 0)
        path = NULL;
    if (path) {
        fd = open(path,
                  O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                  0600);
        int error = errno;
        if (fd < 0 && sink.fd < 0) { /* else the open log stays in use */
            log_set_path(path);
            log_note(TROUBLE_UNOPENED, error);
        }
        errno = error;
        if (fd < 0)
            return err_set(
                err, ERR_SYSTEM,
                "log '%s' can't be opened: %s; check its directory or set another in [muxd] log",
                path, strerror(errno));
    }
    fd_close(&sink.fd); /* the count of lost lines goes over to the new log */
    sink.fd = fd;
    sink.level = level;
    log_set_path(path);
    log_note(TROUBLE_NONE, 0);
    buf_reserve(&sink.line, LINE_MAX_BYTES); /* now, so that writing a line never allocates */
    return 0;
}

void log_go_without(const char *path)
{
    if (sink.fd >= 0)
        return;
    log_set_path(path);
    log_note(TROUBLE_UNOPENED, 0);
}

void log_set_level(enum log_level level)
{
    BUG_UNLESS(level <= LOG_DEBUG);
    sink.level = level;
}

void log_set_role(const char *role)
{
    sink.role = role;
}

void log_close(void)
{
    fd_close(&sink.fd);
    log_set_path(NULL);
    log_note(TROUBLE_NONE, 0);
    sink.lost = 0;
    sink.torn = false;
}

bool log_trouble(struct log_trouble *out)
{
    look_at_place();
    *out = (struct log_trouble){.since_ms = sink.trouble_ms, .lost = sink.lost};
    const char *why = sink.trouble_errno ? strerror(sink.trouble_errno)
                                         : "its directory is refused";
    switch (sink.trouble) {
    case TROUBLE_NONE: return false;
    case TROUBLE_UNOPENED:
        snprintf(out->text, sizeof out->text,
                 "can't be opened: %s; what is logged goes to standard error, if anywhere; mend "
                 "that and run 'ue reload'",
                 why);
        break;
    case TROUBLE_UNWRITABLE:
        snprintf(
            out->text, sizeof out->text,
            "can't be written: %s; make room for it, or set another [muxd] log and run 'ue reload'",
            why);
        break;
    case TROUBLE_GONE:
        snprintf(out->text, sizeof out->text,
                 "is gone: it was moved or removed; 'ue reload' begins a new one there");
        break;
    }
    return true;
}

static void begin_line(enum log_level level)
{
    char when[32];
    clock_format_iso(clock_real_ms(), when);
    buf_clear(&sink.line);
    if (sink.torn)
        buf_append_byte(&sink.line, '\n');
    buf_printf(&sink.line, "%s %s %s[%d] ", when, level_names[level],
               sink.role ? sink.role : "muxd", (int)getpid());
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
        if (sink.trouble == TROUBLE_UNWRITABLE)
            log_note(TROUBLE_NONE, 0);
        look_at_place();
        return true;
    }
    if (sink.fd >= 0)
        log_note(TROUBLE_UNWRITABLE, done < 0 ? errno : ENOSPC);
    sink.torn = sink.torn || done > 0;
    sink.lost++;
    return false;
}

/* Logs the count of lost lines in front of the first line that has room again. */
static bool log_tell_lost(void)
{
    if (sink.lost == 0)
        return true;
    uint64_t lost = sink.lost;
    begin_line(LOG_WARN);
    buf_printf(&sink.line, "%llu lines of this log were lost, there was no room to write them",
               (unsigned long long)lost);
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
    if (len >= 0 && log_tell_lost()) {
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
