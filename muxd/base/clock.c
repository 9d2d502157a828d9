/* clock.c: the only reader of the kernel's clocks. */
#include "base/clock.h"
#include "base/bug.h"
#include <errno.h>
#include <time.h>

int64_t clock_ns(clockid_t id)
{
    struct timespec now;
    if (clock_gettime(id, &now) != 0)
        BUG("clock %d can't be read (errno %d)", (int)id, errno);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_mono_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t clock_mono_ms(void)
{
    return clock_ns(CLOCK_MONOTONIC) / 1000000;
}
