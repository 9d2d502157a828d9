/* clock_more.c: owns the clocks that the keeper has no use for, and how a time is written for
 * people. */
#include "base/clock.h"
#include <stdio.h>
#include <time.h>

int64_t clock_thread_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_boot_ms(void)
{
    return clock_ns(CLOCK_BOOTTIME) / 1000000;
}

int64_t clock_real_ms(void)
{
    return clock_ns(CLOCK_REALTIME) / 1000000;
}

void clock_format_iso(int64_t real_ms, char out[32])
{
    int64_t millis = real_ms % 1000;
    time_t seconds = (time_t)(real_ms / 1000);
    if (millis < 0) {
        millis += 1000;
        seconds--;
    }
    struct tm utc;
    /* A year that doesn't fit comes from a damaged record: the epoch is plainly no real date. */
    if (!gmtime_r(&seconds, &utc) || utc.tm_year < -1900 || utc.tm_year > 8099) {
        seconds = 0;
        millis = 0;
        gmtime_r(&seconds, &utc);
    }
    size_t len = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out + len, 32 - len, ".%03dZ", (int)millis);
}
