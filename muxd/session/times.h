/* times: when a session printed what: marks of time and offset, so that output can be asked for by
 * time. The longer the session lives, the farther apart they are. They are in this worker's memory
 * only; of what an earlier worker has read, only the beginning is known. For this room. */
#ifndef MUXD_SESSION_TIMES_H
#define MUXD_SESSION_TIMES_H
#include <stdint.h>

struct times;
/* Output from offset on has just come; *times is made when first needed. */
void times_note(struct times **times, int64_t real_ms, uint64_t offset);
/* The offset where the output of real_ms and later begins, or a moment before it; `otherwise` when
 * no mark tells. */
uint64_t times_offset(const struct times *times, int64_t real_ms, uint64_t head,
                      uint64_t otherwise);
void times_free(struct times *times); /* NULL is fine */
#endif
