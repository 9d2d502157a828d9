/* defer.c: owns the order of deferred calls. */
#include "base/defer.h"
#include "base/bug.h"

void defer_init(struct defer_queue *queue)
{
    list_init(&queue->waiting);
    queue->running = false;
}

bool deferred_waits(const struct deferred *deferred)
{
    return !list_is_empty(&deferred->link);
}

void defer_call(struct defer_queue *queue, struct deferred *deferred)
{
    BUG_UNLESS(deferred->fn && queue->waiting.next);
    if (!deferred_waits(deferred))
        list_append(&queue->waiting, &deferred->link);
}

void defer_cancel(struct deferred *deferred)
{
    list_remove(&deferred->link);
}

bool defer_is_idle(const struct defer_queue *queue)
{
    return list_is_empty(&queue->waiting);
}

void defer_run(struct defer_queue *queue)
{
    struct list batch;
    BUG_UNLESS(!queue->running);
    queue->running = true;
    list_take(&queue->waiting, &batch);
    while (!list_is_empty(&batch)) {
        struct deferred *deferred = LIST_OWNER(batch.next, struct deferred, link);
        list_remove(&deferred->link);
        deferred->fn(deferred->arg);
    }
    queue->running = false;
}
