/* when: a time as people write it: 10m (ago), 14:05[:30] (today), 2026-08-30[T14:05[:30][Z]]. */
#ifndef MUXD_CLIENT_WHEN_H
#define MUXD_CLIENT_WHEN_H
#include <stdbool.h>
#include <stdint.h>

/* *out: milliseconds since 1970. now_ms: the base of "ago" and "today". Times without a Z are local
 * (mktime(3)). False: text is no time, and *out is undefined. */
bool when_read(const char *text, int64_t now_ms, int64_t *out);
#endif
