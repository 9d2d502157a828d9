/* person: whether a person is at the other end of a connection. What a client says of itself is no
 * evidence. A person's client passes its terminal with the line of its request (passed.c), and the
 * kernel tells the rest: the terminal is the one that the client's process runs on, in its
 * foreground; muxd has not made it for a session; and the process descends from no session of any
 * daemon, as it bears no mark (sys/mark.h).
 *
 * This keeps out what runs below a session, and programs without a terminal. It can't tell a
 * person from another program of the same user that has a terminal of its own and was started
 * outside of every session. */
#ifndef MUXD_PEER_PERSON_H
#define MUXD_PEER_PERSON_H
#include "base/err.h"
#include <stdbool.h>
#include <sys/types.h>

struct peer;
/* Whether the terminal on which this process session runs (getsid(2)) was made for a session. */
typedef bool person_made_fn(void *arg, pid_t sid);
/* 0: a person. ERR_DENIED: the text says what is missing, as the rest of a sentence. Only while a
 * request of this peer is being handled for the first time: then its terminal is closed. */
int person_check(struct peer *peer, person_made_fn *made, void *arg, struct err *err);
#endif
