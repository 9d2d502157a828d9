/* gate_default: owns what the trial of sandboxes has shown for calls of `ue mcp`, and the requests
 * that wait for it. What it has shown holds until the config is read again: no call is less
 * confined than one before it because something failed meanwhile. */
#include "cmd/gate_default.h"
#include "base/bug.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/bounds.h"
#include "cmd/gate_policy.h"
#include "session/sandbox.h"
#include <stdlib.h>
#include <string.h>

#define BUILT_IN "[policy " GATE_MODELS "]\napproval = on-request\nsandbox = workspace-write\n"

struct gate_default {
    struct config *built_in; /* has one policy */
    struct config_policy confined; /* the config's own, with the default filled in; borrows */
    enum { MODELS_UNKNOWN, MODELS_CONFINED, MODELS_FREE } state;
    char *why; /* owned; of MODELS_FREE */
};

struct waiting_for_trial {
    struct cmd_context *ctx;
    struct request *request; /* NULL: cancelled */
    void (*again)(struct cmd_context *ctx, struct request *request);
};

static struct gate_default *gate_default_of(struct cmd_context *ctx)
{
    struct err err;
    if (ctx->models)
        return ctx->models;
    ctx->models = xcalloc(1, sizeof *ctx->models);
    ctx->models->built_in = config_parse("the built-in policy", BUILT_IN, strlen(BUILT_IN), &err);
    BUG_UNLESS(ctx->models->built_in);
    return ctx->models;
}

/* The config leaves it to the machine. */
static bool is_default(const struct config_policy *policy)
{
    return !policy || policy->sandbox == CONFIG_POLICY_SANDBOX_DEFAULT;
}

const struct config_policy *gate_default(struct cmd_context *ctx,
                                         const struct config_policy *policy)
{
    struct gate_default *models = gate_default_of(ctx);
    if (!is_default(policy) || models->state == MODELS_FREE)
        return policy;
    if (!policy)
        return config_policy_find(models->built_in, GATE_MODELS);
    models->confined = *policy;
    models->confined.sandbox = CONFIG_POLICY_SANDBOX_WORKSPACE_WRITE;
    return &models->confined;
}

/* --- the trial --- */

static void conclude_free(struct gate_default *models, const char *why)
{
    models->state = MODELS_FREE;
    models->why = xstrdup(why);
    log_warn("calls of ue mcp are not confined, as no sandbox can be had here: %s", why);
}

/* After the trial, or where there is nothing to try. */
void gate_default_conclude(struct cmd_context *ctx)
{
    struct gate_default *models = gate_default_of(ctx);
    const struct confine_able *able = sandbox_able(ctx->registry);
    if (models->state != MODELS_UNKNOWN)
        return;
    if (!able->helper)
        conclude_free(models, able->helper_why);
    else if (!able->bwrap)
        conclude_free(models, "bubblewrap is not installed");
    else if (able->tried && able->bwrap_why && !able->unsure)
        conclude_free(models, able->bwrap_why);
    else if (able->tried && !able->bwrap_why)
        models->state = MODELS_CONFINED;
}

static void on_trial(void *arg, bool closing)
{
    struct waiting_for_trial *waiting = arg;
    struct cmd_context *ctx = waiting->ctx;
    struct request *request = waiting->request;
    struct err err;
    if (request && !closing) {
        request_on_cancel(request, NULL, NULL);
        gate_default_conclude(ctx);
        if (gate_default_of(ctx)->state != MODELS_UNKNOWN) {
            waiting->again(ctx, request);
        } else {
            err_set(&err, ERR_NOT_AVAILABLE,
                    "whether a sandbox can be had here is not known (%s), and nothing runs before; "
                    "try again, or set [policy " GATE_MODELS "] sandbox in the config",
                    sandbox_able(ctx->registry)->bwrap_why);
            request_fail(request, &err);
        }
    }
    free(waiting);
}

static void on_trial_cancel(void *arg)
{
    struct waiting_for_trial *waiting = arg;
    waiting->request = NULL;
}

bool gate_default_waits(struct cmd_context *ctx, struct request *request,
                        void (*again)(struct cmd_context *ctx, struct request *request))
{
    const struct config_policy *own = config_policy_find(ctx->config, GATE_MODELS);
    if (!is_default(own) || gate_default_of(ctx)->state != MODELS_UNKNOWN ||
        !gate_policy_is_default(ctx, request))
        return false;
    struct waiting_for_trial *waiting = xcalloc(1, sizeof *waiting);
    *waiting = (struct waiting_for_trial){.ctx = ctx, .request = request, .again = again};
    request_on_cancel(request, on_trial_cancel, waiting);
    if (sandbox_when_tried(ctx->registry, on_trial, waiting))
        return true;
    request_on_cancel(request, NULL, NULL);
    gate_default_conclude(ctx);
    if (gate_default_of(ctx)->state != MODELS_UNKNOWN) {
        free(waiting);
        return false;
    }
    on_trial(waiting, false); /* it could not even begin */
    return true;
}

void gate_default_reloaded(struct cmd_context *ctx)
{
    struct gate_default *models = gate_default_of(ctx);
    if (models->state != MODELS_FREE)
        return;
    models->state = MODELS_UNKNOWN;
    free(models->why);
    models->why = NULL;
}

void gate_default_free(struct cmd_context *ctx)
{
    struct gate_default *models = ctx->models;
    if (!models)
        return;
    config_free(models->built_in);
    free(models->why);
    free(models);
    ctx->models = NULL;
}

/* --- what people are told --- */

bool gate_default_is_worth_telling(const struct config_policy *policy)
{
    return !policy || policy->sandbox != CONFIG_POLICY_SANDBOX_FULL_ACCESS;
}

void gate_default_words(struct cmd_context *ctx, const char *name,
                        const struct config_policy *policy, struct buf *out)
{
    static const char *const approvals[] = {
#define WORD(ident, word) word,
        CONFIG_WORDS_APPROVAL(WORD)
#undef WORD
    };
    bool models = name && strcmp(name, GATE_MODELS) == 0,
         built_in = models && !config_policy_find(ctx->config, GATE_MODELS);
    const char *why = gate_default_of(ctx)->why;
    if (!policy) {
        buf_append_text(out, "not confined, and nobody is asked");
    } else {
        buf_printf(out, "%s (%s), approval %s", confine_mode_word(policy_sandbox(policy)),
                   policy_sandbox(policy) == CONFINE_FULL_ACCESS ? "not confined"
                   : policy->network                             ? "with a network"
                                                                 : "no network",
                   approvals[policy->approval]);
        bounds_tell(ctx->config, policy, ", limits: ", NULL, out);
    }
    if (models && why && is_default(policy))
        buf_printf(out, ", as before, because no sandbox can be had here: %s", why);
    else if (!models && policy && is_default(policy))
        buf_printf(out, "; [policy%s%s] sets no sandbox", *policy->name ? " " : "", policy->name);
    else if (built_in)
        buf_append_text(out, ", by default; [policy " GATE_MODELS "] sandbox = full-access in the "
                             "config lifts it");
}

void gate_default_status(struct cmd_context *ctx, struct json *into)
{
    struct buf text = BUF_INIT;
    const struct config_policy *own = config_policy_find(ctx->config, GATE_MODELS);
    gate_default_words(ctx, GATE_MODELS, gate_default(ctx, own), &text);
    if (is_default(own) && gate_default_of(ctx)->state == MODELS_UNKNOWN)
        buf_append_text(&text, "; whether that can be had here is tried at the first call");
    json_add_buf(into, "mcp", &text);
}
