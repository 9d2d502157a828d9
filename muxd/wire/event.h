/* event: the rows of events.def as data. */
#ifndef MUXD_WIRE_EVENT_H
#define MUXD_WIRE_EVENT_H
#include <stdbool.h>
#include <stdint.h>

enum event_type {
#define EVENT(ident, ...) EVENT_##ident,
#include "wire/events.def"
#undef EVENT
    EVENT_COUNT_
};

struct event_row {
    const char *name;
    bool kept; /* numbered and kept also while no client listens; the others would cost too much */
    const char *help;
};

#define EVENT_BIT(type) (UINT32_C(1) << (type))
#define EVENT_ALL (EVENT_BIT(EVENT_COUNT_) - 1)

extern const struct event_row event_rows[EVENT_COUNT_];
int event_by_name(const char *name);         /* -1: no event of that name */
const char *event_nearest(const char *name); /* the nearest name; NULL: none is near */
#endif
