/* event: events.def as a table, and the search in it. */
#include "wire/event.h"
#include "base/value.h"
#include <string.h>

_Static_assert(EVENT_COUNT_ < 32, "a set of them is a uint32_t");

const struct event_row event_rows[EVENT_COUNT_] = {
#define EVENT(ident, ...) [EVENT_##ident] = {__VA_ARGS__},
#include "wire/events.def"
#undef EVENT
};

int event_by_name(const char *name)
{
    for (int i = 0; i < EVENT_COUNT_; i++)
        if (strcmp(event_rows[i].name, name) == 0)
            return i;
    return -1;
}

const char *event_nearest(const char *name)
{
    const char *names[EVENT_COUNT_];
    for (int i = 0; i < EVENT_COUNT_; i++)
        names[i] = event_rows[i].name;
    return value_nearest(name, names, EVENT_COUNT_);
}
