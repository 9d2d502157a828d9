/* clock.c: the only reader of the kernel's clocks. */
#include "base/clock.h"
#include "base/bug.h"
#include <errno.h>
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
