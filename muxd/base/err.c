/* err.c: owns the table of error codes and the making of error texts. */
#include "base/err.h"
#include "base/bug.h"
#include "base/utf8.h"
#include <stdio.h>
#include <string.h>

struct error_row {
    const char *name;
    const char *help;
    int exit;
    int rpc;
};

static const struct error_row rows[] = {
    [0] = {.name = "none", .help = "no error"},
#define ERROR(ident, ...) [ERR_##ident##_ORDINAL_] = {__VA_ARGS__},
#include "base/errors.def"
#undef ERROR
};

_Static_assert(sizeof rows / sizeof rows[0] == ERR_COUNT_, "one row for each code");
_Static_assert(ERR_NONE == 0 && ERR_INTERNAL == -1, "codes are negative and start at -1");
#define ERROR(ident, ...)                                                                          \
    _Static_assert(ERR_##ident + ERR_##ident##_ORDINAL_ == 0 && ERR_##ident < 0, "row of " #ident);
#include "base/errors.def"
#undef ERROR

static const struct error_row *row_of(int code)
{
    if (code > 0 || code <= -ERR_COUNT_)
        BUG("%d is no error code", code);
    return &rows[-code];
}

static void err_copy_cut(char *to, size_t room, const char *from, size_t len)
{
    if (len >= room) {
        len = room - 1;
        len -= utf8_incomplete_tail(from, len);
    }
    memcpy(to, from, len);
    to[len] = 0;
}

int err_vset(struct err *err, int code, const char *format, va_list args)
{
    BUG_UNLESS(row_of(code)->exit != 0);
    if (!err)
        return code;
    /* Through a second buffer: an argument may be the text that is being replaced. */
    char text[sizeof err->text + 4];
    int len = vsnprintf(text, sizeof text, format, args);
    BUG_UNLESS(len >= 0);
    err_copy_cut(err->text, sizeof err->text, text, strnlen(text, sizeof text));
    err->code = code;
    return code;
}

int err_set(struct err *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err_vset(err, code, format, args);
    va_end(args);
    return code;
}

void err_prefix(struct err *err, const char *format, ...)
{
    if (!err)
        return;
    char text[2 * sizeof err->text];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof err->text, format, args);
    va_end(args);
    BUG_UNLESS(len >= 0);
    size_t used = strlen(text);
    if ((size_t)len > used)
        used -= utf8_incomplete_tail(text, used);
    int more = snprintf(text + used, sizeof text - used, ": %s", err->text);
    BUG_UNLESS(more >= 0);
    err_copy_cut(err->text, sizeof err->text, text, strlen(text));
}

const char *err_name(int code)
{
    return row_of(code)->name;
}

const char *err_help(int code)
{
    return row_of(code)->help;
}

int err_exit_status(int code)
{
    return row_of(code)->exit;
}

int err_rpc(int code)
{
    return row_of(code)->rpc;
}

int err_by_name(const char *name)
{
    for (int i = 1; i < ERR_COUNT_; i++)
        if (strcmp(rows[i].name, name) == 0)
            return -i;
    return ERR_INTERNAL;
}
