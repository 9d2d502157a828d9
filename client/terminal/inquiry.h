/* inquiry: asks the person's terminal what only that knows (wire/outer.h), and takes the answers
 * out of what is typed. Programs never wait for a terminal: the daemon is told before they ask. A
 * terminal that answers nothing is left alone. */
#ifndef MUXD_CLIENT_INQUIRY_H
#define MUXD_CLIENT_INQUIRY_H
#include "wire/outer.h"
#include <sys/types.h>

/* Appends the questions to what the terminal gets next; nothing while it has not answered those
 * before, and for one that never does only the first time since inquiry_settle. From then on the
 * terminal also tells when its colour scheme changes. */
void inquiry_ask(struct buf *out);
/* read(2) of standard input without the answers. size is more than INQUIRY_HELD. -1 and EAGAIN:
 * there was nothing else. Call it when there is something to read, and when the time of
 * inquiry_wait_ms is over. */
#define INQUIRY_HELD 128
ssize_t inquiry_read(char *data, size_t size);
/* what may be an answer is a key after that time; -1: there is nothing such */
int inquiry_wait_ms(void);
/* True once for each change of what is known. The cell's size is what the kernel says, where it
 * does. Asks again where that is due: the terminal has said that it looks different, or has got the
 * focus, or (resized) its window or font is another one. */
bool inquiry_news(struct outer *outer, struct buf *out);
void inquiry_resized(void);
/* what was told last, for another daemon; false: nothing */
bool inquiry_known(struct outer *outer);
/* asks, and waits a moment; what is typed meanwhile goes to ahead */
void inquiry_now(struct buf *ahead, struct outer *outer);
/* Before the terminal is given back: what it still answers now would be typed into a shell. Waits
 * for it, but not for long. */
void inquiry_settle(void);
#endif
