/* timers: the loop's timers: a binary heap, the earliest at slot 0. Private to the loop. */
#ifndef MUXD_SYS_TIMERS_H
#define MUXD_SYS_TIMERS_H
#include "sys/loop.h"
#include <stddef.h>

struct timers {
    struct loop_timer **heap;
    size_t count, cap;
};

struct timers *loop_timers(struct loop *loop); /* of that loop, borrowed */
/* calls the timers that are due; false: none was */
bool timers_run(struct timers *timers, const struct loop *loop);
#endif
