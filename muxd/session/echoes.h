/* echoes: what the agents have typed into a session and its terminal has not repeated yet, so that
 * a pattern does not take that for output. What people type is not kept, and so not known here. */
#ifndef MUXD_SESSION_ECHOES_H
#define MUXD_SESSION_ECHOES_H
#include <stdbool.h>
#include <stdint.h>

struct echoes;
struct input;
struct session;

/* It was taken for the session's input queue; echoes_sent follows, once for all that was. */
void echoes_typed(struct session *session, const struct input *input);
/* The queue is about to be given to the program. */
void echoes_sent(struct session *session);
/* From which output offset on it is not decided yet what is an echo; UINT64_MAX: it is, up to the
 * head. To be asked before echoes_cover. */
uint64_t echoes_hold(struct session *session);
/* CLOCK_MONOTONIC: then echoes_hold decides, if nothing comes meanwhile; INT64_MAX: it has. */
int64_t echoes_due_ns(const struct session *session);
/* As echo_covers. */
bool echoes_cover(const struct session *session, uint64_t from, uint64_t to, uint64_t *next);
void echoes_rest(struct session *session); /* it is not typed into any more: gives memory back */
void echoes_free(struct echoes *echoes); /* NULL is fine */
#endif
