/* times: when a session printed what: marks of time and offset, ever farther apart the longer it
 * lives, so that output can be asked for by time. In this worker's memory only: what a worker
 * before it has seen is known by nothing but its beginning. For this room. */
#ifndef MUXD_SESSION_TIMES_H
#define MUXD_SESSION_TIMES_H
#include <stdint.h>

struct times;
/* Output from offset on has just come; *times is made when first needed. */
void times_note(struct times **times, int64_t real_ms, uint64_t offset);
/* Where the output begins that came at real_ms or later, or a moment earlier; otherwise: when no
 * mark says. */
uint64_t times_offset(const struct times *times, int64_t real_ms, uint64_t head,
                      uint64_t otherwise);
void times_free(struct times *times); /* NULL is fine */
#endif
