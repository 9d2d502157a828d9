/* offload: a few threads for work that may block. They are made when they are first needed and
 * stay. When the kernel gives none, that is an error to the caller, never a crash. */
#ifndef MUXD_SYS_OFFLOAD_H
#define MUXD_SYS_OFFLOAD_H
#include "sys/loop.h"
#include <stddef.h>

struct offload;
/* wake: called in a thread each time work is done, for the loop to call offload_finish. */
struct offload *offload_new(loop_fn *wake, void *arg);
void offload_free(struct offload *offload); /* nothing may be under way. NULL is fine */
/* 0; or an errno: there is no thread, and neither is called. */
int offload_put(struct offload *offload, loop_fn *work, loop_fn *done, void *arg);
/* Calls done for all finished work and returns how many. wait: when none is finished but some is
 * under way, waits for one. */
size_t offload_finish(struct offload *offload, bool wait);
size_t offload_count(const struct offload *offload); /* under way: put, and not yet finished */
#endif
