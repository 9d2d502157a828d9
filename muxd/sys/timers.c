/* timers: owns the heap of timers. */
#include "sys/timers.h"
#include "base/bug.h"
#include "base/mem.h"

/* The timer is set, and where it says it is. */
static bool holds(const struct timers *timers, const struct loop_timer *timer)
{
    return (size_t)timer->slot < timers->count && timers->heap[timer->slot] == timer;
}

static void heap_put(struct timers *timers, size_t slot, struct loop_timer *timer)
{
    timers->heap[slot] = timer;
    timer->slot = (long)slot;
}

static void heap_settle(struct timers *timers, size_t slot, struct loop_timer *timer)
{
    while (slot > 0 && timers->heap[(slot - 1) / 2]->due_ns > timer->due_ns) {
        heap_put(timers, slot, timers->heap[(slot - 1) / 2]);
        slot = (slot - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * slot + 1;
        if (child >= timers->count)
            break;
        if (child + 1 < timers->count &&
            timers->heap[child + 1]->due_ns < timers->heap[child]->due_ns)
            child++;
        if (timers->heap[child]->due_ns >= timer->due_ns)
            break;
        heap_put(timers, slot, timers->heap[child]);
        slot = child;
    }
    heap_put(timers, slot, timer);
}

void loop_timer_init(struct loop_timer *timer, struct loop *loop, loop_fn *fn, void *arg)
{
    *timer = (struct loop_timer){.loop = loop, .fn = fn, .arg = arg, .slot = -1};
}

void loop_timer_set_ns(struct loop_timer *timer, int64_t due_ns)
{
    struct timers *timers = loop_timers(timer->loop);
    BUG_UNLESS(timer->fn && (timer->slot < 0 || holds(timers, timer)));
    timer->due_ns = due_ns;
    if (timer->slot < 0) {
        if (timers->count == timers->cap) {
            timers->cap = timers->cap ? 2 * timers->cap : 32;
            timers->heap = xreallocarray(timers->heap, timers->cap, sizeof *timers->heap);
        }
        heap_put(timers, timers->count, timer);
        timers->count++;
    }
    heap_settle(timers, (size_t)timer->slot, timer);
}

void loop_timer_set_ms(struct loop_timer *timer, int64_t after_ms)
{
    int64_t now = loop_now_ns(timer->loop);
    int64_t most = (INT64_MAX - now) / 1000000;
    loop_timer_set_ns(timer, now + (after_ms < 0      ? 0
                                    : after_ms > most ? most
                                                      : after_ms) *
                                       1000000);
}

void loop_timer_stop(struct loop_timer *timer)
{
    if (timer->slot < 0)
        return;
    struct timers *timers = loop_timers(timer->loop);
    BUG_UNLESS(holds(timers, timer));
    size_t slot = (size_t)timer->slot;
    struct loop_timer *last = timers->heap[--timers->count];
    timer->slot = -1;
    if (last != timer)
        heap_settle(timers, slot, last);
}

bool timers_run(struct timers *timers, const struct loop *loop)
{
    /* At most as many as were set at the beginning: a timer that sets itself to now waits for the
     * next turn. */
    size_t most = timers->count;
    bool any = false;
    while (most-- > 0 && timers->count > 0 && timers->heap[0]->due_ns <= loop_now_ns(loop)) {
        struct loop_timer *timer = timers->heap[0];
        loop_timer_stop(timer);
        timer->fn(timer->arg);
        any = true;
    }
    return any;
}
