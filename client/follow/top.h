/* top: the state of `ue top`, and its drawing. */
#ifndef MUXD_CLIENT_TOP_H
#define MUXD_CLIENT_TOP_H
#include "client/rpc/ue.h"
#include "wire/json.h"
#include "wire/msg.h"

#define TOP_SAMPLES 10 /* seconds of output shown */

struct top_rate {
    int64_t number;               /* of the session */
    int64_t seen;                 /* bytes that it had printed at the last tick */
    int64_t samples[TOP_SAMPLES]; /* bytes in each second, the newest last */
    bool used;                    /* the session is in the newest list */
};
struct top {
    struct ue *ue;
    struct msg_answer list; /* the newest answer */
    struct top_rate *rates; /* owned */
    size_t rate_count;
    bool all;
    int64_t selected;       /* number of the session; 0: none */
    size_t first;           /* row in the first line of the screen */
    bool asks_kill;
    char status[512];       /* shown at the bottom, in as many rows as it needs */
    char typed[64];         /* the beginning of a key whose rest was not read yet */
    size_t typed_size;
    int64_t list_id, events_id, kill_id, events_next; /* requests in flight; 0: none */
    int64_t tick_ms;        /* clock_mono_ms of the next second */
};

/* top_draw.c */
void top_rates_tick(struct top *top); /* once a second: counts what was printed since */
void top_rates_look(struct top *top); /* after a new list: adds and drops sessions */
size_t top_row_of(const struct top *top, int64_t number); /* SIZE_MAX: it is not in the list */
int64_t top_number_at(const struct top *top, size_t row); /* 0: there is no such row */
size_t top_rows(const struct top *top);
void top_draw(struct top *top, struct buf *out); /* appends the whole screen */
#endif
