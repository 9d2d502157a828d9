/* inflight: the life that every call about one session has while its request is in flight: the
 * spawn that it may have asked for, its wait, its one answer. op.c and oneshot.c build on it. */
#ifndef MUXD_CMD_INFLIGHT_H
#define MUXD_CMD_INFLIGHT_H
#include "base/list.h"
#include "cmd/cmd.h"

struct delivery;
struct inflight;
struct tool;

struct inflight_kind {
    /* The wait has fired and the session has started: sends the answer. */
    void (*finish)(struct inflight *call);
    void (*drop)(struct inflight *call); /* the call is over: what else it waits for; may be NULL */
    void (*free)(struct inflight *call); /* the call is over, and so is its spawn */
    bool outlives_request;               /* a cancelled request does not end the call */
};

struct inflight { /* the first member of its owner */
    const struct inflight_kind *kind;
    struct cmd_context *ctx;
    struct request *request; /* NULL once answered or cancelled */
    const struct tool *tool;
    char *command;           /* owned: the argument vector that it runs, for a failure; or NULL */
    uint64_t number;           /* of the session */
    struct wait *wait;         /* NULL: none, or it has fired */
    struct wait_result result; /* of the wait that has fired */
    int64_t begun_ns;
    unsigned holds; /* the call, and the spawn that is under way: freed at 0 */
    bool over;      /* the call has given up its hold */
    /* the spawn is under way: the answer waits for it, however short the wait is */
    bool starting, fired;
};

/* Begins now. The request can be cancelled from here on. */
void inflight_begin(struct inflight *call, const struct inflight_kind *kind,
                    struct cmd_context *ctx, struct request *request, const struct tool *tool);
/* The call goes on that has started the session, before the worker died: it began with it, or when
 * it was first sent if that is earlier. Under a policy the wait for a person is not the call's. */
void inflight_began_with(struct inflight *call, struct session *session);
/* Registers the wait; kind->finish follows when it fires. 0 or an error for inflight_fail. */
int inflight_wait(struct inflight *call, struct session *session, const struct wait_spec *spec,
                  struct err *err);
/* Who calls, as for session_follow. */
uint64_t inflight_follower(const struct inflight *call, bool waits);
/* If the call asks to `follow` the session, or comes from the process that it awaits, the
 * connection follows it, and no other any more. waits: its program waits for who calls. */
void inflight_follow(struct inflight *call, struct session *session, bool waits);
/* As whom the connection follows it; 0: it does not. */
uint64_t inflight_follows(const struct inflight *call, const struct session *session);
/* As if a wait had fired now for this reason. */
void inflight_end(struct inflight *call, struct session *session, enum wait_reason reason);

/* A spawn on behalf of the call is about to be asked for; it was refused at once; its outcome
 * (spawned_fn). The answer waits for the outcome. */
void inflight_starting(struct inflight *call);
void inflight_not_starting(struct inflight *call);
void inflight_spawned(void *call, uint64_t number, const struct err *err);

/* Ends the call before it has begun anything, without an answer: the request is the caller's
 * again. */
struct request *inflight_give_back(struct inflight *call);

/* Each ends the call, which may be freed: the answer, whose delivery moves the reader; a failure;
 * nothing, for a call whose request is answered or cancelled. */
void inflight_reply(struct inflight *call, struct json *answer, const struct delivery *delivery);
void inflight_fail(struct inflight *call, const struct err *err);
void inflight_let_go(struct inflight *call);
#endif
