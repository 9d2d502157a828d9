/* events_internal: how a session's life becomes events. For this room only. */
#ifndef MUXD_PARTS_EVENTS_INTERNAL_H
#define MUXD_PARTS_EVENTS_INTERNAL_H
#include "parts/events/events.h"
#include "session/internal.h"
#include "sys/loop.h"
#include "wire/json.h"

#define EVENTS_SLOT 2 /* the keeper's, for the ring */

struct events { /* of the registry */
    struct events_ring *ring; /* NULL: not made yet, or there was no memory for it */
    uint32_t active;        /* types that someone listens for */
    unsigned count;         /* events_listen not taken back */
    unsigned listeners[EVENT_COUNT_];
    /* events are made until then, with no listener left; CLOCK_MONOTONIC */
    int64_t until_ns[EVENT_COUNT_];
    bool adopted;           /* the ring is a predecessor's */
    bool scanned;           /* the ring was searched for what the predecessor has told */
    uint32_t fresh;                 /* types that have happened since the last run of the watches */
    struct deferred told;           /* runs the watches */
    uint64_t output_epoch;          /* counts how often listening for output has begun */
    /* when no one listens for readiness any more, and the sessions need no look for it */
    struct loop_timer calm;
    struct events_watch *watches;
    unsigned run;
};

struct events_of_session {
    struct session *session;
    uint64_t epoch;     /* of told_to; 0: none */
    uint64_t told_to;   /* the output up to here was told */
    unsigned pieces;
    struct loop_timer pause; /* after a piece; the output that comes meanwhile becomes one piece */
    int waiting;        /* enum waiting_for: what was told since the write `mark` */
    unsigned mark;      /* session->prompt.marks then */
    bool lost;          /* the loss was told, and the reader has not read since */
    bool scanned;       /* the ring was searched for what the predecessor has told of it */
};

struct events *events_of(const struct registry *registry);
struct events_of_session *events_of_session(struct session *session); /* made when there is none */

/* events_tell.c: what the part tells of a session's life. */
void events_began(struct session *session);      /* created and begin; once */
void events_ended(struct session *session);      /* end; once */
void events_forget(struct session *session, bool told);
/* at the end of a turn, before the session's waits are evaluated */
void events_look(struct session *session, uint64_t seen_head);
void events_input(struct session *session, const struct input *input);
void events_resized(struct session *session, const struct part_resize *resize);
void events_renamed(struct session *session, const char *old_name);
void events_killed(struct session *session, const char *by, int signo);

/* events_output.c: what is told of a session's output: at the end of a turn in which some came;
 * the rest of it, before its end is told; what waits for the end of the pause, before anything
 * else is told of the session. */
void events_output_look(struct session *session, uint64_t seen_head);
void events_output_rest(struct session *session);
void events_output_pending(struct session *session);
void events_free(struct session *session);

/* events.c: begins an object with number, type, time and session, to which the caller adds; then
 * publishes it, and frees the object. */
struct json *events_object(struct registry *registry, enum event_type type,
                           struct session *session);
void events_publish(struct registry *registry, enum event_type type, struct session *session,
                    uint64_t from, uint64_t to, struct json *object);
#endif
