/* query: asks the person's terminal for its colours and cell size (wire/profile.h), and separates
 * its replies from the keys. The daemon gets the replies before programs ask it, so that no program
 * waits for a terminal. A terminal that never replies is not asked again. */
#ifndef MUXD_CLIENT_QUERY_H
#define MUXD_CLIENT_QUERY_H
#include "wire/profile.h"
#include <sys/types.h>

/* Appends the queries to out, which is for the terminal; nothing while it owes replies to the last
 * ones (one that never replies gets them once until query_settle). From then on the terminal also
 * reports changes of its colour scheme. */
void query_ask(struct buf *out);
/* read(2) of standard input without the replies. size is more than QUERY_HELD. -1 and EAGAIN: there
 * were only replies. Call it when there is something to read, and when query_wait_ms has passed. */
#define QUERY_HELD 128
ssize_t query_read(char *data, size_t size);
/* After that time bytes that could begin a reply are keys; -1: there are no such bytes. */
int query_wait_ms(void);
/* True once for each change of the replies, and then sets *profile. The kernel's cell size is
 * preferred. Appends queries to out when they are due again: the terminal has reported a new colour
 * scheme, has got the focus, or was resized (query_resized). */
bool query_changed(struct profile *profile, struct buf *out);
void query_resized(void);
/* What query_changed told last, for another daemon; false: nothing yet. */
bool query_told(struct profile *profile);
/* Asks, and waits a moment for the replies; keys that are typed meanwhile go to ahead. */
void query_wait_answers(struct buf *ahead, struct profile *profile);
/* Call it before the terminal is given back: waits a moment for replies that are still due, as the
 * shell would take them for keys. */
void query_settle(void);
#endif
