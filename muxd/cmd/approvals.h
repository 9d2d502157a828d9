/* approvals: calls that wait for a person's yes, and the yeses that hold for a session. Kept by the
 * worker alone: a call that is parked when it dies is sent again by its client and asks again. */
#ifndef MUXD_CMD_APPROVALS_H
#define MUXD_CMD_APPROVALS_H
#include "base/list.h"
#include "cmd/cmd.h"

struct tool;
#define APPROVAL_ID_CHARS 5

/* By what a yes for the session is found again (CODEX.md 15.7). Borrowed. */
struct approval_key {
    char *const *canonical;
    char *const *env;
    const char *cwd;
    bool tty;
    const char *permissions, *sandbox;
};
struct approval_question {
    const struct tool *tool;
    void (*again)(struct cmd_context *ctx, struct request *request);
    char *const *argv, *const *env;
    const char *cwd, *shown, *reason, *policy, *permissions, *sandbox;
    bool tty;
    bool elicits; /* the client may ask its person, and pass the answer on */
    const struct json *record; /* what goes on record of the call; copied */
    char **canonical, **prefix; /* become the question's; prefix NULL: none to offer */
    int64_t timeout_ms;
};
struct approval {
    struct list link;
    struct cmd_context *ctx;
    struct request *request; /* parked */
    const struct tool *tool;
    void (*again)(struct cmd_context *ctx, struct request *request);
    char id[APPROVAL_ID_CHARS + 1];
    /* all owned; shown: argv in words */
    char **argv, **env, **canonical, **prefix;
    char *cwd, *shown, *reason, *policy, *permissions, *sandbox, *client;
    char *added;   /* variables that the call itself adds to the environment; NULL: none */
    bool tty;
    bool elicits, elicited; /* its client may answer; has */
    bool taken; /* a yes let it begin, or what it let begin says by itself that it did not */
    struct json *record; /* owned; what goes on record of the call */
    uid_t approver_uid;
    pid_t approver_pid; /* who has answered; 0: nobody */
    char *scope;   /* owned: what "this session" is */
    uint64_t from_session; /* 0: none */
    uid_t uid;
    pid_t pid;
    int64_t asked_ms; /* since 1970 */
    int64_t timeout_ms;
    struct loop_timer timer;
};
enum approval_span { APPROVAL_ONCE, APPROVAL_SESSION };

/* A new question; the request goes on as it is until approvals_park. ERR_LIMIT: too many wait, or
 * it is more than a person can read; ERR_AUDIT. Nobody is asked then. */
int approvals_ask(struct cmd_context *ctx, struct request *request,
                  const struct approval_question *question, struct err *err);
void approvals_park(struct cmd_context *ctx, struct request *request);
/* A person has said yes to this call, which is being handled again, or to such calls before. */
bool approvals_has_yes(struct cmd_context *ctx, struct request *request, char *const *argv,
                       const struct approval_key *key);
/* The one by whose yes this request is being handled again; NULL: none. */
const struct approval *approvals_granted(const struct cmd_context *ctx,
                                         const struct request *request);
/* The same; its yes has the effect from here on that goes on record. */
const struct approval *approvals_take(struct cmd_context *ctx, const struct request *request);
struct approval *approvals_find(struct cmd_context *ctx, const char *id); /* NULL: none */
/* oldest first */
void approvals_each(struct cmd_context *ctx, void (*fn)(void *arg, const struct approval *approval),
                    void *arg);
/* This request comes from the client that waits, which may ask its person itself. */
bool approvals_is_elicited(const struct approval *approval, const struct request *request);
/* Each ends the question. A yes runs the call; a no fails it. */
void approvals_grant(struct approval *approval, enum approval_span span);
/* Takes the yes by which this request is handled right now, for a handler that puts it off; empty:
 * there is none. approvals_go_on handles it again by it; approvals_drop: it never will be. */
struct approval_grant {
    struct approval *approval; /* owned */
    char *key;
};
void approvals_hold(struct cmd_context *ctx, const struct request *request,
                    struct approval_grant *grant);
void approvals_go_on(struct cmd_context *ctx, struct request *request,
                     struct approval_grant *grant);
void approvals_drop(struct approval_grant *grant);
void approvals_deny(struct approval *approval, const char *because); /* because may be NULL */
/* Adds id, command, cwd, reason … to an object. */
void approvals_describe(const struct approval *approval, struct json *into);
/* Nothing that waits will run any more: the daemon is being stopped. */
void approvals_stop(struct cmd_context *ctx);
void approvals_free(struct cmd_context *ctx); /* no call is parked any more */
#endif
