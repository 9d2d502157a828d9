/* query: asks the person's terminal what only that knows (wire/outer.h), and takes the answers
 * out of what is typed. Programs never wait for a terminal: the daemon is told before they ask. A
 * terminal that answers nothing is left alone. */
#ifndef MUXD_CLIENT_QUERY_H
#define MUXD_CLIENT_QUERY_H
#include "wire/outer.h"
#include <sys/types.h>

/* Appends the questions to what the terminal gets next; nothing while it has not answered those
 * before, and for one that never does only the first time since query_settle. From then on the
 * terminal also tells when its colour scheme changes. */
void query_ask(struct buf *out);
/* read(2) of standard input without the answers. size is more than QUERY_HELD. -1 and EAGAIN:
 * there was nothing else. Call it when there is something to read, and when the time of
 * query_wait_ms is over. */
#define QUERY_HELD 128
ssize_t query_read(char *data, size_t size);
/* what may be an answer is a key after that time; -1: there is nothing such */
int query_wait_ms(void);
/* True once for each change of what is known. The cell's size is what the kernel says, where it
 * does. Asks again where that is due: the terminal has said that it looks different, or has got the
 * focus, or (resized) its window or font is another one. */
bool query_changed(struct outer *outer, struct buf *out);
void query_resized(void);
/* what was told last, for another daemon; false: nothing */
bool query_told(struct outer *outer);
/* asks, and waits a moment; what is typed meanwhile goes to ahead */
void query_wait_answers(struct buf *ahead, struct outer *outer);
/* Before the terminal is given back: what it still answers now would be typed into a shell. Waits
 * for it, but not for long. */
void query_settle(void);
#endif
