/* err: what went wrong in the world, as a stable code (errors.def) and a text for people. A
 * function that can fail returns 0 or the negative code and fills in the struct err that its caller
 * gave. Texts are lower case, without a full stop, name their subject in quotes and say what to do
 * next. */
#ifndef MUXD_BASE_ERR_H
#define MUXD_BASE_ERR_H
#include <stdarg.h>

enum err_code {
    ERR_NONE = 0,
#define ERROR(ident, ...) ERR_##ident##_ORDINAL_,
    ERR_FIRST_ORDINAL_ = 0,
#include "base/errors.def"
    ERR_COUNT_,
#undef ERROR
#define ERROR(ident, ...) ERR_##ident = -ERR_##ident##_ORDINAL_,
#include "base/errors.def"
#undef ERROR
};

struct err {
    int code;        /* 0 or a negative ERR_… */
    char text[1024]; /* NUL-terminated, cut at a character's boundary when too long */
};

/* Set code and text; return the code, so that `return err_set(…)` reads well. err may be NULL:
 * only the code returns. */
int err_set(struct err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int err_vset(struct err *err, int code, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
/* Puts "prefix: " in front of the text. */
void err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Facts of a code from errors.def: stable name ("no_such_session"), exit status of ue, JSON-RPC
 * error number. */
const char *err_name(int code);
const char *err_help(int code); /* one line for people: the man page has it */
int err_exit_status(int code);
int err_rpc(int code);
int err_by_name(const char *name); /* the code of a stable name; ERR_INTERNAL when unknown */
#endif
