/* offload: a few threads for what may block. They are made when they are first needed and stay;
 * that the kernel gives none is an answer, never an end. */
#ifndef MUXD_SYS_OFFLOAD_H
#define MUXD_SYS_OFFLOAD_H
#include "sys/loop.h"
#include <stddef.h>

struct offload;
/* wake: called in a thread, once work is done that offload_finish has not seen yet. */
struct offload *offload_new(loop_fn *wake, void *arg);
void offload_free(struct offload *offload); /* nothing may be under way. NULL is fine */
/* 0, or an errno: there is no thread, and neither is called. */
int offload_put(struct offload *offload, loop_fn *work, loop_fn *done, void *arg);
/* Calls done of all whose work is done; waits for the next one first when there is none and some
 * are under way. Returns how many. */
size_t offload_finish(struct offload *offload, bool wait);
size_t offload_count(const struct offload *offload); /* under way: put, and not yet finished */
#endif
