/* patch_ask: owns the question about a patch. What is shown is the whole patch, and what a yes is
 * found by. */
#include "cmd/patch_ask.h"
#include "base/log.h"
#include "base/strv.h"
#include "cmd/approvals.h"
#include "cmd/failure_words.h"
#include "cmd/gate.h"
#include "cmd/patch_recorded.h"
#include "patch/apply.h"
#include <stdlib.h>

#define PERMISSIONS "patch_without_sandbox"
#define SANDBOX "full-access"

static char *const no_env[] = {NULL};

static char **words_of_patch(const struct patch_ask *ask)
{
    struct strv words = {0};
    strv_add(&words, "apply_patch");
    strv_add(&words, ask->text);
    return strv_take(&words);
}

bool patch_ask_has_yes(const struct patch_ask *ask)
{
    char **words = words_of_patch(ask);
    const struct approval_key key = {words, no_env, ask->cwd, false, PERMISSIONS, SANDBOX};
    bool yes = approvals_has_yes(ask->ctx, ask->request, words, &key);
    strv_free(words);
    return yes;
}

/* What it writes that it may not; of a sandbox that lets it write nothing, all. */
static void patch_ask_reason(const struct patch_plan *plan, enum confine_mode mode,
                             struct buf *reason)
{
    const char *between = ":";
    buf_printf(reason, "the patch writes what %s does not allow", confine_mode_word(mode));
    for (size_t i = 0; i < patch_plan_count(plan); i++) {
        struct patch_file file = patch_plan_file(plan, i);
        if (!file.outside && mode != CONFINE_READ_ONLY)
            continue;
        buf_printf(reason, "%s %s", between, file.target ? file.target : file.source);
        between = ",";
    }
}

static struct json *patch_ask_record(const struct patch_ask *ask)
{
    struct json *record = ask->recorded ? json_copy(ask->recorded) : json_object_new();
    patch_recorded_add_files(record, ask->plan);
    return record;
}

static void (*patch_ask_handler(const struct tool *tool))(struct cmd_context *, struct request *)
{
    return tool == &tools[TOOL_EXEC_COMMAND]    ? cmd_EXEC_COMMAND
           : tool == &tools[TOOL_SHELL_COMMAND] ? cmd_SHELL_COMMAND
           : tool == &tools[TOOL_SHELL]         ? cmd_SHELL
                                                : cmd_APPLY_PATCH;
}

bool patch_ask_parks(const struct patch_ask *ask)
{
    struct err err;
    const char *name;
    const struct config_policy *policy = gate_policy(ask->ctx, ask->request, &name, &err);
    struct buf reason = BUF_INIT;
    if (err.code < 0 || !(policy_lets_escalate(policy) || policy_retries(policy)))
        return false;
    char **words = words_of_patch(ask), *shown = failure_words_joined(words);
    struct json *record = patch_ask_record(ask);
    patch_ask_reason(ask->plan, policy_sandbox(policy), &reason);
    int code = approvals_ask(ask->ctx, ask->request,
                             &(struct approval_question){.tool = &tools[TOOL_APPLY_PATCH],
                                                         .again = patch_ask_handler(ask->tool),
                                                         .argv = words,
                                                         .env = no_env,
                                                         .cwd = ask->cwd,
                                                         .elicits = gate_elicits(ask->ctx,
                                                                                 ask->request,
                                                                                 policy),
                                                         .shown = shown,
                                                         .reason = reason.data,
                                                         .policy = policy->name,
                                                         .sandbox = SANDBOX,
                                                         .permissions = PERMISSIONS,
                                                         .record = record,
                                                         .canonical = words_of_patch(ask),
                                                         .timeout_ms = policy->ask_timeout_ms},
                             &err);
    if (code == 0)
        gate_park(ask->ctx, ask->request);
    else
        log_info("nobody is asked about a patch: %s", err.text);
    json_free(record);
    strv_free(words);
    free(shown);
    buf_fini(&reason);
    return code == 0;
}
