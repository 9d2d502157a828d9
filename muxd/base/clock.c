/* clock.c: the only reader of the kernel's clocks. */
#include "base/clock.h"
#include "base/bug.h"
#include <errno.h>
#include <stdio.h>
#include <time.h>

static int64_t read_ns(clockid_t id)
{
    struct timespec now;
    if (clock_gettime(id, &now) != 0)
        BUG("clock %d can't be read (errno %d)", (int)id, errno);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_mono_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_mono_ms(void)
{
    return read_ns(CLOCK_MONOTONIC) / 1000000;
}

int64_t clock_thread_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_boot_ms(void)
{
    return read_ns(CLOCK_BOOTTIME) / 1000000;
}

int64_t clock_real_ms(void)
{
    return read_ns(CLOCK_REALTIME) / 1000000;
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
