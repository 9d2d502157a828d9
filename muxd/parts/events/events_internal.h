/* events_internal: how a session's life becomes events. For this room only. */
#ifndef MUXD_PARTS_EVENTS_INTERNAL_H
#define MUXD_PARTS_EVENTS_INTERNAL_H
#include "parts/events/events.h"
#include "session/internal.h"
#include "sys/loop.h"
#include "wire/json.h"

#define EVENTS_SLOT 2 /* the keeper's, for the ring */

struct events { /* of the registry */
    struct news_ring *ring; /* NULL: there is no memory for one now */
    uint32_t active;        /* types that somebody listens for */
    unsigned count;         /* of events_listen not taken back */
    unsigned listeners[EVENT_COUNT_];
    int64_t until_ns[EVENT_COUNT_]; /* listened for up to then all the same; CLOCK_MONOTONIC */
    bool adopted;           /* the ring is a predecessor's */
    bool scanned;           /* it was searched for what that has told of the sessions */
    uint32_t fresh;                 /* types that happened since the watches were run */
    struct deferred told;           /* the watches */
    uint64_t output_epoch;          /* counts how often somebody began to listen for output */
    /* nobody listens for readiness any more: the sessions need not be looked at */
    struct loop_timer calm;
    struct events_watch *watches;
    unsigned run;
};

struct events_of_session {
    struct session *session;
    uint64_t epoch;     /* of told_to; 0: none */
    uint64_t told_to;   /* output up to here was told */
    unsigned pieces;
    struct loop_timer pause; /* after a piece: the next ones become one */
    int waiting;        /* enum waiting_for that was told since the last write, */
    unsigned mark;      /* which was that of session->prompt.marks */
    bool lost;          /* the loss was told; nobody has read since */
    bool scanned;       /* the ring was searched for what a predecessor has told of it */
};

struct events *events_of(const struct registry *registry);
struct events_of_session *events_of_session(struct session *session); /* made when there is none */

/* events_tell.c: the part's events. */
void events_began(struct session *session);      /* created and begin; once */
void events_ended(struct session *session);      /* end; once */
void events_forget(struct session *session, bool told);
/* at the end of a turn, before its waits are looked at */
void events_look(struct session *session, uint64_t seen_head);
void events_input(struct session *session, const struct input *input);
void events_resized(struct session *session, const struct part_resize *resize);
void events_renamed(struct session *session, const char *old_name);
void events_killed(struct session *session, const char *by, int signo);

/* events_output.c: what is told of a session's output. At the end of a turn in which it came; the
 * rest of it, before its end is told; what waits for the pause to end, before anything else is told
 * of the session. */
void events_output_look(struct session *session, uint64_t seen_head);
void events_output_rest(struct session *session);
void events_output_pending(struct session *session);
void events_free(struct session *session);

/* events.c: number, type, time, session; then the caller's members; then it is published, and the
 * object freed. */
struct json *events_object(struct registry *registry, enum event_type type,
                           struct session *session);
void events_publish(struct registry *registry, enum event_type type, struct session *session,
                    uint64_t from, uint64_t to, struct json *object);
#endif
