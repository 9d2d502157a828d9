/* burden: owns the arithmetic of what clients leave unread. */
#include "peer/burden.h"
#include "base/bug.h"

#define SLOW_BYTES_A_MS 64 /* a client that takes less is as good as one that takes nothing */

size_t burden_free(size_t held, size_t total)
{
    return held < total ? total - held : 0;
}

size_t burden_share(size_t total, size_t clients)
{
    BUG_UNLESS(clients > 0);
    return total / 2 / clients;
}

bool burden_fits(size_t need, size_t held, size_t total)
{
    return (need < total / 2 ? need : total / 2) <= burden_free(held, total);
}

int64_t burden_taken(int64_t taken_ms, size_t bytes, int64_t now_ms)
{
    int64_t excused_ms = taken_ms + (int64_t)(bytes / SLOW_BYTES_A_MS);
    return excused_ms < now_ms ? excused_ms : now_ms;
}

bool burden_is_stalled(int64_t taken_ms, int64_t now_ms)
{
    return now_ms - taken_ms >= BURDEN_STALLED_MS;
}

double burden_weight(size_t held, int64_t taken_ms, int64_t now_ms)
{
    return (double)held * (double)(now_ms - taken_ms + 1);
}
