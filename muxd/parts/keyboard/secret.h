/* secret: what a person types where a program does not show it: typed straight into the
 * terminal, or staged: kept in locked memory until the program asks for it, once and for a
 * limited time. It never goes through a queue, a log or a recording. */
#ifndef MUXD_PARTS_SECRET_H
#define MUXD_PARTS_SECRET_H
#include "session/input.h"

struct buf;
struct registry;

#define SECRET_MAX 4000 /* bytes; with its line end it fits into a line of the kernel */

/* Types it and a line end now. ERR_SECRET_PROMPT: the program does not read a secret, and
 * `blind` is not given. Else as session_type_direct. */
int secret_type(struct session *session, const struct author *author, const char *data, size_t size,
                bool blind, struct err *err);
/* 0: the program reads a secret now; else ERR_SECRET_PROMPT */
int secret_check(struct session *session, struct err *err);
/* Stages it until the program reads a secret, for at most expire_ms. Replaces the one staged
 * before. ERR_LIMIT: no memory can be locked. */
int secret_stage(struct session *session, const struct author *author, const char *data,
                 size_t size, int64_t expire_ms, struct err *err);
/* True: a restart of the worker has lost the staged secret, because the kernel has no memory
 * that outlives a worker (secret_page.h). Until a secret is typed, staged or forgotten. */
bool secret_was_lost(const struct session *session);
bool secret_is_staged(const struct session *session);
/* Appends text to out with "[secret]" for each staged secret in it. False: there is none in it, and
 * nothing is appended. */
bool secret_hide(struct registry *registry, const char *text, size_t size, struct buf *out);
bool secret_forget(struct session *session); /* false: there was none */
#endif
