/* follow: several sessions' output over a few connections: one long wait for each session, no
 * polling, and no reader's place is moved. */
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
    int64_t at;        /* the next byte wanted, */
    int64_t since_ms;  /* or, while not 0, the time */
    int64_t id;        /* of the request that waits; 0: none */
    size_t channel;
    bool ended;        /* and all of its output is here */
    struct lines lines;
    int64_t rest_ms;   /* clock_mono_ms when a line without its end is told; 0: there is none */
    struct follow *owner;
};

struct follow_channel { /* a connection with as many waits as it may have */
    struct connection *conn;
    struct connection own;
    size_t count;
};

struct follow {
    struct ue *ue;
    struct followed **sessions; /* owned, and each of them */
    size_t count, live;
    struct follow_channel **channels; /* owned */
    size_t channel_count;
    bool joins;          /* new sessions are followed, too */
    int64_t events_id;   /* of the wait for them; 0: none */
    int64_t events_next; /* number of the next event; -1: from now on */
    int64_t since_ms;
    /* the owner's */
    void (*line)(void *arg, struct followed *session, const char *text, size_t size);
    /* it has ended: its state is in result */
    void (*end)(void *arg, struct followed *session, const struct json *result);
    bool colors;
    void *arg;
};

/* Names, or all live ones when there are none. 0 or an error. */
int follow_begin(struct follow *follow, struct err *err);
/* Until all have ended (or for ever, when new ones may come), or ^C: ERR_CANCELLED. */
int follow_run(struct follow *follow, struct err *err);
void follow_fini(struct follow *follow);
#endif
