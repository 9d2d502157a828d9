/* client: what stands behind ue.h. A client has one connection, and calls on it in the order in
 * which they were made: as many as the daemon takes are sent, the others wait. A call has one
 * answer, whatever becomes of the connection, and is freed before its callback runs. */
#ifndef MUXD_CLIENT_LIB_CLIENT_H
#define MUXD_CLIENT_LIB_CLIENT_H
#include "base/buf.h"
#include "client/lib/c/ue.h"
#include "client/rpc/connect.h"
#include "wire/msg.h"
#include "wire/tool.h"

#define CLIENT_CALLS_MAX 4096               /* calls without an answer, of one client */
#define CLIENT_CALLS_BYTES_MAX (256u << 20) /* what they are made of */

/* What became of a call: answer->err.code is 0 or an error. Takes answer. */
typedef void client_answer_fn(void *arg, struct msg_answer *answer);

struct client_call {
    int64_t number; /* id on the wire */
    struct buf line;
    int64_t begun_ms;
    bool repeats; /* may be sent again when the connection is lost */
    bool handed;  /* the daemon may have read it */
    bool cancelled;
    client_answer_fn *fn;
    void *arg;
};

struct subscription {
    int64_t number;      /* of its first call */
    int64_t call;        /* in flight; 0: none */
    struct json *params; /* of the next one */
    bool telling, over;  /* over while telling: to be freed behind it */
    struct ue_client *client;
    ue_event_fn *fn;
    void *arg;
};

struct ue_client {
    struct connection conn;
    struct buf out; /* not sent yet */
    struct client_call **calls;
    size_t count, sent; /* the first `sent` are with the daemon, or on their way */
    size_t bytes;
    size_t window; /* most calls that the daemon takes of a connection; 0: hello is under way */
    int64_t hello; /* its id; 0: it is answered */
    int64_t max_request;
    char version[64]; /* of the daemon */
    int64_t heard_ms; /* clock_mono_ms of the last byte, or of the oldest call after a pause */
    int64_t lost_ms;  /* 0: connected, or nobody has asked; else since when it is gone */
    int64_t retry_ms; /* when to try again */
    bool reopened;    /* the loss was counted (connection_reopen) */
    struct subscription **subscriptions;
    size_t subscribed;
    unsigned called_back;            /* how many callbacks were made; wraps */
    int epoll_fd, timer_fd, watched; /* ue_fd; watched: the socket that is in it */
    bool watched_out;
    char *config, *program, *name, *profile, *reader; /* owned */
    bool as_tools, closing;
    int64_t answer_ms;
    void (*on_notice)(void *arg, const char *name, const char *json);
    void *notice_arg;
};

/* reach.c: the connection. */
/* Connects when it isn't, and asks hello. may_start: as the options say. 0 or an error. */
int reach_open(struct ue_client *client, struct err *err);
void reach_flush(struct ue_client *client); /* sends what the kernel takes */
/* Waits until something can be done, at most until deadline_ms (clock_mono_ms), and does it. */
void reach_turn(struct ue_client *client, int64_t deadline_ms);
/* Without waiting: reads, connects again when it is time, gives up when it is time. */
void reach_work(struct ue_client *client);
/* When reach_work has to be called at the latest; INT64_MAX: when something comes. */
int64_t reach_due_ms(const struct ue_client *client);
void reach_close(struct ue_client *client);
/* The daemon can't be understood, or has ended for good: all calls end with err. */
void reach_give_up(struct ue_client *client, const struct err *err);

/* calls.c: what is in flight. Each of these may call back, and whoever is called may make calls. */
/* Takes params, adds `_meta` and sends. The number, or an error. */
int64_t calls_add(struct ue_client *client, const char *method, struct json *params,
                  client_answer_fn *fn, void *arg, struct err *err);
void calls_send(struct ue_client *client); /* up to the window */
/* Takes answer, which is one to a call or a notification. */
void calls_answered(struct ue_client *client, struct msg_answer *answer);
/* Ends a call with err. False: no such call. */
bool calls_fail(struct ue_client *client, int64_t number, const struct err *err);
/* Nobody wants its answer any more, and the daemon need not go on. */
void calls_forget(struct ue_client *client, int64_t number);
void calls_fail_all(struct ue_client *client, const struct err *err);
int calls_cancel(struct ue_client *client, int64_t number, struct err *err);
/* The connection is gone: calls that may be sent again wait for the next one, others end. */
void calls_lost(struct ue_client *client);
size_t calls_asked(const struct ue_client *client); /* in flight, but for subscriptions */

/* meta.c. tool: NULL: a method that this library does not know. */
void meta_add(const struct ue_client *client, const struct tool *tool, struct json *params);

/* subscribe.c */
client_answer_fn subscribe_on_answer; /* marks the calls of subscriptions */
bool subscribe_cancel(struct ue_client *client, int64_t number); /* false: no such one */

/* foreign.c. What ue_fd waits for, after anything has changed. */
void foreign_watch(struct ue_client *client);

/* arguments.c. An argument struct as JSON; NULL: err. */
struct json *arguments_make(const struct tool *tool, const void *args, size_t size,
                            struct err *err);
/* answer.c. Takes answer, which is no error. Never NULL. */
struct ue_answer *answer_make(struct msg_answer *answer);
/* error.c. err as the caller's; returns its code there. error may be NULL. */
int error_tell(struct ue_error *error, const struct err *err);
/* The same of an answer that is one. */
int error_of_answer(struct ue_error *error, const struct msg_answer *answer);
#endif
