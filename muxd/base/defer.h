/* defer: calls put off until the end of the turn, in the order in which they were deferred.
 * There is one queue for all, so one question tells whether work is left. */
#ifndef MUXD_BASE_DEFER_H
#define MUXD_BASE_DEFER_H
#include "base/list.h"

/* Embedded in its owner, which cancels it before freeing it; zeroed is fine. */
struct deferred {
    struct list link;
    void (*fn)(void *arg);
    void *arg;
};
struct defer_queue {
    struct list waiting;
    bool running; /* defer_run is under way */
};

void defer_init(struct defer_queue *queue);
/* fn is set. A call that waits already keeps its place and runs once. */
void defer_call(struct defer_queue *queue, struct deferred *deferred);
void defer_cancel(struct deferred *deferred); /* fine when it doesn't wait */
bool deferred_waits(const struct deferred *deferred);
bool defer_is_idle(const struct defer_queue *queue); /* nothing waits */
/* Runs the calls that wait now; not from within one of them. A call may free its own struct, cancel
 * others or defer itself again; calls that are deferred meanwhile wait for the next run. */
void defer_run(struct defer_queue *queue);
#endif
