/* secret: what a person types where a program does not show it: straight into the terminal, or kept
 * in locked memory until the program asks, once and for a while. It never goes through a queue, a
 * log or a recording. */
#ifndef MUXD_PARTS_SECRET_H
#define MUXD_PARTS_SECRET_H
#include "session/input.h"

#define SECRET_MAX 4000 /* bytes; fits a line of the kernel's with its end */

/* Types it and the line's end now. ERR_SECRET_PROMPT: the program does not read a secret and it is
 * not `blind`. As session_type_direct. */
int secret_type(struct session *session, const struct author *author, const char *data, size_t size,
                bool blind, struct err *err);
/* whether it reads one now: 0 or ERR_SECRET_PROMPT */
int secret_check(struct session *session, struct err *err);
/* Kept until the program reads a secret, at most expire_ms. Takes the place of an earlier one.
 * ERR_LIMIT: no memory can be locked. */
int secret_stage(struct session *session, const struct author *author, const char *data,
                 size_t size, int64_t expire_ms, struct err *err);
/* Where the kernel has no memory for that (secret_page.h), a restart of the worker loses what is
 * staged. True until a secret is typed, staged or forgotten. */
bool secret_was_lost(const struct session *session);
bool secret_is_staged(const struct session *session);
bool secret_forget(struct session *session); /* false: there was none */
#endif
