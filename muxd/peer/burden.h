/* burden: what clients leave unread, in numbers: how much room there is, what a fair part of it is,
 * and who is the worst. Pure. Memory for answers that were not read is `[limits] output_total` for
 * all connections together.
 *
 * One connection may leave as much as is still free: the more all together leave, the less that
 * is, so that some is always left for those who leave nothing. Half of it is what may be left for
 * good: divided by those who have a part in it, that is the share that nobody loses for others. */
#ifndef MUXD_PEER_BURDEN_H
#define MUXD_PEER_BURDEN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* for a client that reads, a busy machine is no reason to be closed */
#define BURDEN_STALLED_MS 1000

/* held: by all together */
size_t burden_free(size_t held, size_t total);
/* Nobody who holds no more than this is disconnected for others. clients: those that hold something
 * or wait for room; at least 1. */
size_t burden_share(size_t total, size_t clients);
/* An answer of this size has room. One over half of the total counts as half, or it might never
 * have. */
bool burden_fits(size_t need, size_t held, size_t total);
/* A client that takes is excused for as long as it needs at a slow pace: the time from which on it
 * counts as one that takes nothing, after it has taken some bytes. */
int64_t burden_taken(int64_t taken_ms, size_t bytes, int64_t now_ms);
/* It has taken nothing, or next to nothing, for longer than a busy machine explains. */
bool burden_is_stalled(int64_t taken_ms, int64_t now_ms);
/* The worst is who holds much for long. */
double burden_weight(size_t held, int64_t taken_ms, int64_t now_ms);
#endif
