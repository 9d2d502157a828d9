/* times.c: owns the marks. */
#include "session/times.h"
#include "base/bug.h"
#include "base/mem.h"
#include <stdlib.h>

#define MARKS_FIRST 2 /* what a shell prints until its prompt */
#define MARKS_MAX 256
/* between two marks, at least; doubles each time that there are too many */
#define STEP_FIRST_MS 100

struct mark {
    int64_t real_ms, last_ms; /* of the first and the last output that it stands for */
    uint64_t offset;
};
struct times {
    int64_t step_ms;
    uint32_t count, room;
    struct mark *marks; /* owned */
};

static void thin_out(struct times *times)
{
    BUG_UNLESS(times->marks);
    for (uint32_t i = 0; 2 * i < times->count; i++) {
        int64_t last_ms = times->marks[2 * i + 1 < times->count ? 2 * i + 1 : 2 * i].last_ms;
        times->marks[i] = times->marks[2 * i];
        times->marks[i].last_ms = last_ms;
    }
    times->count = (times->count + 1) / 2;
    times->step_ms *= 2;
}

void times_note(struct times **place, int64_t real_ms, uint64_t offset)
{
    struct times *times = *place;
    if (!times) {
        times = *place = xcalloc(1, sizeof *times);
        times->step_ms = STEP_FIRST_MS;
    }
    struct mark *last = times->count > 0 ? &times->marks[times->count - 1] : NULL;
    if (last && real_ms < last->real_ms + times->step_ms) { /* also when the clock was set back */
        last->last_ms = real_ms > last->last_ms ? real_ms : last->last_ms;
        return;
    }
    if (times->count == MARKS_MAX)
        thin_out(times);
    if (times->count == times->room) {
        times->room = times->room ? 2 * times->room : MARKS_FIRST;
        times->marks = xreallocarray(times->marks, times->room, sizeof *times->marks);
    }
    BUG_UNLESS(times->marks);
    times->marks[times->count++] = (struct mark){
        .real_ms = real_ms, .last_ms = real_ms, .offset = offset};
}

uint64_t times_offset(const struct times *times, int64_t real_ms, uint64_t head, uint64_t otherwise)
{
    if (!times || times->count == 0 || real_ms < times->marks[0].real_ms)
        return otherwise;
    uint32_t low = 0, high = times->count; /* the last mark that is not later */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (times->marks[middle].real_ms <= real_ms)
            low = middle;
        else
            high = middle;
    }
    if (real_ms <= times->marks[low].last_ms)
        return times->marks[low].offset;
    return low + 1 < times->count ? times->marks[low + 1].offset : head;
}

void times_free(struct times *times)
{
    if (times)
        free(times->marks);
    free(times);
}
