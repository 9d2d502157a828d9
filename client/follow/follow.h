/* follow: reads the output of several sessions over a few connections, by one long wait for each
 * session. It doesn't poll and moves no reader. */
#ifndef MUXD_CLIENT_FOLLOW_H
#define MUXD_CLIENT_FOLLOW_H
#include "client/print/lines.h"
#include "client/rpc/ue.h"
#include "wire/json.h"
#include "wire/msg.h"

struct follow;
struct followed {
    int64_t number;
    char name[80];
    int64_t at;        /* offset of the next byte to read */
    int64_t since_ms;  /* unless 0: the time to read from, in place of at */
    int64_t id;        /* of the request in flight; 0: none */
    size_t channel;    /* index */
    bool ended;        /* it has ended, and all of its output was read */
    struct lines lines;
    int64_t rest_ms;   /* clock_mono_ms when a line without an end is shown; 0: there is none */
    struct follow *owner;
};

struct follow_channel { /* a connection, and the waits on it */
    struct connection *conn; /* ue's own for the first channel, else &own */
    struct connection own;
    size_t count;            /* sessions */
};

struct follow {
    struct ue *ue;
    struct followed **sessions; /* owned, and each of them */
    size_t count, live;
    struct follow_channel **channels; /* owned */
    size_t channel_count;
    bool joins;          /* also follows sessions that start later */
    int64_t events_id;   /* of the wait for these; 0: none */
    int64_t events_next; /* number of the next event; -1: from now on */
    /* set by the owner before follow_begin */
    int64_t since_ms;    /* begin at that time; 0: at the end of the output */
    void (*line)(void *arg, struct followed *session, const char *text, size_t size);
    /* a session has ended; result: the last answer, NULL when it was removed */
    void (*end)(void *arg, struct followed *session, const struct json *result);
    bool colors;
    void *arg;
};

/* Follows the sessions of the command line; without operands all live ones, and those that start
 * later. 0 or an error. */
int follow_begin(struct follow *follow, struct err *err);
/* Runs until all have ended (never with joins), or ^C: ERR_CANCELLED. */
int follow_run(struct follow *follow, struct err *err);
void follow_fini(struct follow *follow);
#endif
