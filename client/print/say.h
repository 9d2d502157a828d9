/* say: bytes for people and pipes: standard output exact, standard error escaped. */
#ifndef MUXD_CLIENT_SAY_H
#define MUXD_CLIENT_SAY_H
#include "base/buf.h"
#include "base/err.h"
#include "wire/json.h"
#include <stdbool.h>

/* To standard output, whole. A reader that went away ends ue silently (141), any other failure with
 * its reason (125). */
void say_out(const void *data, size_t size);
/* the same end, for who has tried to write there: errno says why not */
void say_lost(void) __attribute__((__noreturn__));
/* the same to standard error: what a program wrote there (--raw) */
void say_stderr_bytes(const void *data, size_t size);
void say_buf(struct buf *buf);                        /* to standard output, and frees it */
/* one line; on a terminal without a byte that it would obey */
void say_json(const struct json *value);
/* Text that a program may have written: exact in a pipe; on a terminal escaped, "\r\n" as "\n", and
 * a newline at its end. */
void say_text(const char *text, size_t len);
/* "ue: TEXT" on standard error, escaped. */
void say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "ue: SUBJECT: …": the text's own subject in quotes, else the verb (may be NULL). */
void say_err(const char *verb, const struct err *err);
bool say_is_tty(int fd);
/* What say_text writes on a terminal. */
void say_for_terminal(struct buf *out, const char *text, size_t len);
#endif
