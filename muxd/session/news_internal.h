/* news_internal: how a session's life becomes events. For this room only. */
#ifndef MUXD_SESSION_NEWS_INTERNAL_H
#define MUXD_SESSION_NEWS_INTERNAL_H
#include "session/news.h"
#include "sys/loop.h"
#include "wire/json.h"

/* Bits of journal_header.flags. */
enum { NEWS_TOLD_BEGIN = 1, NEWS_TOLD_END = 2 };

struct news { /* of the registry */
    struct news_ring *ring; /* NULL: there is no memory for one now */
    uint32_t active;        /* types that somebody listens for */
    unsigned count;         /* of news_listen not taken back */
    unsigned listeners[EVENT_COUNT_];
    int64_t until_ns[EVENT_COUNT_]; /* listened for up to then all the same; CLOCK_MONOTONIC */
    bool anew;              /* there was no ring to take over */
    uint32_t fresh;                 /* types that happened since the watches were run */
    struct deferred told;           /* the watches */
    uint64_t output_epoch;          /* counts how often somebody began to listen for output */
    struct loop_timer calm; /* nobody listens for readiness any more: the sessions need not be looked at */
    struct news_watch *watches;
    unsigned run;
};

struct news_of_session { /* embedded in struct session */
    uint64_t epoch;     /* of told_to; 0: none */
    uint64_t told_to;   /* output up to here was told */
    unsigned pieces;
    struct loop_timer pause; /* after a piece: the next ones become one */
    int waiting;        /* enum waiting_for that was told since the last write */
    bool lost;          /* the loss was told; nobody has read since */
};

void news_init(struct registry *registry);
void news_fini(struct registry *registry);
void news_adopt(struct registry *registry, int fds[]);
void news_hold(struct registry *registry);     /* the keeper, or a new one, gets the ring */
void news_scan(struct registry *registry, struct session *only); /* after a hand-over, before news_recover; only NULL: for all */
void news_recover(struct session *session);    /* what the predecessor had not told of it */
bool news_wants(const struct registry *registry, enum event_type type);

/* news_tell.c */
void news_session_init(struct session *session);
void news_session_fini(struct session *session);
void news_began(struct session *session);      /* created and begin; once */
void news_ended(struct session *session);      /* end; once */
void news_removed(struct session *session);
void news_look(struct session *session, uint64_t seen_head); /* at the end of a turn, before its waits are looked at */
bool news_wants_ready(const struct session *session);
void news_was_ready(struct session *session);
void news_resized(struct session *session, int rows, int cols);
void news_renamed(struct session *session, const char *old_name);
/* What begin and end say of the call, for the journal: an object in one line, in facts. */
void news_facts(const struct session_spec *spec, struct buf *facts);
/* news.c: number, type, time, session; then the caller's members; then it is published, and the object freed. */
struct json *news_object(struct registry *registry, enum event_type type, struct session *session);
void news_publish(struct registry *registry, enum event_type type, struct session *session, uint64_t from, uint64_t to,
                  struct json *object);
#endif
