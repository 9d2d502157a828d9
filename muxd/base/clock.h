/* clock: time in one place. CLOCK_MONOTONIC for waits and durations, CLOCK_REALTIME only for what
 * people read. */
#ifndef MUXD_BASE_CLOCK_H
#define MUXD_BASE_CLOCK_H
#include <stdint.h>
#include <time.h>
int64_t clock_ns(clockid_t id); /* of any clock */
int64_t clock_mono_ns(void);
int64_t clock_mono_ms(void);
/* processor time of the calling thread: what something cost, however busy the machine is */
int64_t clock_thread_ns(void);
/* CLOCK_BOOTTIME: comparable between processes and across a worker's restart */
int64_t clock_boot_ms(void);
int64_t clock_real_ms(void); /* milliseconds since 1970 */
void clock_format_iso(int64_t real_ms, char out[32]); /* "2026-08-30T12:00:00.123Z" */
#endif
