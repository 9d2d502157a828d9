/* gate: whether a command may start, and in which sandbox: the rules of the config, the policy of
 * whoever asks, and a person's yes. */
#ifndef MUXD_CMD_GATE_H
#define MUXD_CMD_GATE_H
#include "cmd/gate_policy.h"
#include "cmd/sandboxing.h"
#include "guard/policy.h"
#include "wire/tool.h"

/* Answers the request and returns true when it asks for what its policy does not let it ask for
 * (CODEX.md 15.6). To be asked first. */
bool gate_refuses_arguments(struct cmd_context *ctx, struct request *request,
                            const struct tool *tool);

/* A call that is about to start a command. */
struct gate {
    struct cmd_context *ctx;
    struct request *request;
    const struct tool *tool;
    void (*again)(struct cmd_context *ctx, struct request *request); /* its handler */
    char *const *argv; /* as it would be executed, at least one word */
    char *const *env;
    const char *cwd;
    bool tty;
    /* out, zeroed before: how it is confined; the caller owes sandboxing_fini in any case */
    struct sandboxing sandboxing;
    const char *policy; /* out: the name of the policy that holds; NULL: none says anything */
    /* Out, for the session's spec: what goes on record of it (gate_end frees it; NULL: nothing),
     * and whether a policy, a rule or a person has judged it. */
    struct json *record;
    bool judged;
    struct config_limits limits; /* out: those of its session */
};
#define GATE_ASKED 1
/* 0: it may start. ERR_DENIED: refused. GATE_ASKED: a person is to be asked: the caller lets go of
 * the request and gives it to gate_park; `again` is called with it once there is a yes. */
int gate_command(struct gate *gate, struct err *err);
/* The command was started or parked (result >= 0), or why it was not. A refusal after the judgement
 * goes on record, too. */
void gate_end(struct gate *gate, int result, const struct err *err);
void gate_park(struct cmd_context *ctx, struct request *request);
/* Whether its client may ask the person: the config says so, the client can, and it is no program
 * of a session, which could answer itself. */
bool gate_elicits(struct cmd_context *ctx, struct request *request,
                  const struct config_policy *policy);
#endif
