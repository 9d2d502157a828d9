/* defer: calls put off until the end of the turn, in the order in which they were asked for. One
 * queue for all, so that whether there is work left is one question. */
#ifndef MUXD_BASE_DEFER_H
#define MUXD_BASE_DEFER_H
#include "base/list.h"

struct deferred { /* embedded in its owner, who cancels it before it is freed; zeroed is fine */
    struct list link;
    void (*fn)(void *arg);
    void *arg;
};
struct defer_queue {
    struct list waiting;
};

void defer_init(struct defer_queue *queue);
/* fn and arg are set. Asked for again while it waits: it keeps its place and is called once. */
void defer_call(struct defer_queue *queue, struct deferred *deferred);
void defer_cancel(struct deferred *deferred); /* fine when it does not wait */
bool deferred_waits(const struct deferred *deferred);
bool defer_is_idle(const struct defer_queue *queue); /* nothing waits */
/* Calls those that wait now. Each may be freed, cancel others or be deferred anew by its call; what
 * is deferred meanwhile waits for the next run. */
void defer_run(struct defer_queue *queue);
#endif
