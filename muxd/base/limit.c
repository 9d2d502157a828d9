/* limit.c: owns the list of what the kernel refuses now. */
#include "base/limit.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/limit_kind.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct met {
    enum limit_kind kind; /* NONE: nothing was refused */
    uint64_t value;       /* at the time */
    int64_t since_ms;
};
static _Thread_local struct met all[LIMIT_USES]; /* libue may be called by several threads */

static const struct {
    const char *what;
    bool again;
} rows[] = {
#define LIMIT(ident, ...) {__VA_ARGS__},
#include "base/limits.def"
#undef LIMIT
};
_Static_assert(sizeof rows / sizeof *rows == LIMIT_USES, "one row for each use");

bool limit_explain(enum limit_use use, int error, struct limit_text *out)
{
    struct limit_value value;
    BUG_UNLESS(use < LIMIT_USES);
    enum limit_kind kind = limit_kind_of(use, error);
    *out = (struct limit_text){.what = rows[use].what};
    if (kind == LIMIT_KIND_NONE)
        return false;
    limit_kind_value(kind, &value);
    limit_kind_text(kind, &value, out);
    return true;
}

bool limit_met(enum limit_use use, int error)
{
    struct limit_value value;
    BUG_UNLESS(use < LIMIT_USES);
    enum limit_kind kind = limit_kind_of(use, error);
    if (kind == LIMIT_KIND_NONE)
        return false;
    bool fresh = all[use].kind != kind;
    limit_kind_value(kind, &value);
    all[use] = (struct met){.kind = kind,
                            .value = value.value,
                            .since_ms = fresh ? clock_real_ms() : all[use].since_ms};
    return fresh;
}

void limit_passed(enum limit_use use)
{
    BUG_UNLESS(use < LIMIT_USES);
    all[use].kind = LIMIT_KIND_NONE;
}

int limit_err(struct err *err, int code, enum limit_use use, int error, const char *format, ...)
{
    struct limit_text text;
    char what[sizeof err->text / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    limit_met(use, error);
    if (!limit_explain(use, error, &text))
        return err_set(err, code, "%s: %s; try again", what, strerror(error));
    return err_set(err, code, "%s: %s: the limit of %s is reached; %s", what, strerror(error),
                   text.limit, text.raise);
}

int limit_check_stack(struct err *err)
{
    struct limit_text text;
    if (!limit_kind_stack_is_low() || !limit_explain(LIMIT_STACK, 0, &text))
        return 0;
    return err_set(err, ERR_SYSTEM, "the limit of %s is too low for muxd; %s", text.limit,
                   text.raise);
}

int limit_try_passing(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return errno;
    int error = fd_send(pair[0], "", 1, pair, 1, MSG_DONTWAIT) < 0 ? errno : 0;
    close(pair[0]);
    close(pair[1]);
    return error;
}

static bool limit_is_over(const struct met *met, uint64_t value, bool again)
{
    if (met->kind == LIMIT_KIND_PASSED)
        return limit_try_passing() == 0;
    return value > met->value && !again;
}

void limit_each(void (*fn)(void *arg, const struct limit_text *text), void *arg)
{
    for (int use = 0; use < LIMIT_USES; use++) {
        struct limit_text text = {.what = rows[use].what, .since_ms = all[use].since_ms};
        struct limit_value value;
        if (all[use].kind == LIMIT_KIND_NONE)
            continue;
        limit_kind_value(all[use].kind, &value);
        if (limit_is_over(&all[use], value.value, rows[use].again)) {
            limit_passed((enum limit_use)use);
            continue;
        }
        limit_kind_text(all[use].kind, &value, &text);
        fn(arg, &text);
    }
}
