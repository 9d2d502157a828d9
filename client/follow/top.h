/* top: what `ue top` knows and shows. */
#ifndef MUXD_CLIENT_TOP_H
#define MUXD_CLIENT_TOP_H
#include "client/rpc/ue.h"
#include "wire/json.h"
#include "wire/msg.h"

#define TOP_SAMPLES 10 /* seconds of output shown */

struct top_rate {
    int64_t number, seen; /* bytes ever printed, at the last second */
    int64_t samples[TOP_SAMPLES]; /* the newest last */
    bool used;            /* in the newest list */
};
struct top {
    struct ue *ue;
    struct msg_answer list; /* the newest answer */
    struct top_rate *rates; /* owned */
    size_t rate_count;
    bool all;
    int64_t selected;       /* number of the session; 0: none */
    size_t first;           /* row at the top of the screen */
    bool asks_kill;
    char status[160];
    char typed[64];         /* keys that are not complete yet */
    size_t typed_size;
    int64_t list_id, events_id, kill_id, events_next; /* requests in flight; 0: none */
    int64_t tick_ms;        /* clock_mono_ms of the next second */
};

/* top_draw.c */
void top_rates_tick(struct top *top); /* a second has passed: counts what was printed */
/* there is a new list: sessions that are gone are forgotten */
void top_rates_look(struct top *top);
size_t top_row_of(const struct top *top, int64_t number); /* SIZE_MAX: it is not there */
int64_t top_number_at(const struct top *top, size_t row); /* 0: there is no such row */
size_t top_rows(const struct top *top);
void top_draw(struct top *top, struct buf *out); /* the whole screen */
#endif
