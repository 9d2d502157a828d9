/* sandboxing_subject: owns which sandbox explain_sandbox is about. */
#include "cmd/sandboxing_subject.h"
#include "cmd/gate_default.h"
#include "cmd/hidden.h"
#include "base/mem.h"
#include "cmd/meta.h"
#include "guard/policy.h"
#include "wire/schema.h"
#include <stdlib.h>
#include <string.h>

/* As for a call of a client that works in this directory. */
static int subject_of_policy(struct sandboxing_subject *subject, struct cmd_context *ctx,
                             struct request *request, const char *name, struct err *err)
{
    const struct tool *tool = &tools[TOOL_EXPLAIN_SANDBOX];
    bool models = strcmp(name, GATE_MODELS) == 0;
    const struct config_policy *policy = config_policy_find(ctx->config, name);
    if (!policy && !models)
        return err_set(err, ERR_ARGUMENTS, "there is no [policy%s%s] in the config; add it, or "
                                           "name another profile", *name ? " " : "", name);
    if (models) {
        gate_default_conclude(ctx);
        policy = gate_default(ctx, policy);
    }
    subject->policy = policy;
    buf_printf(&subject->what, "%-10s ", "policy");
    gate_default_words(ctx, name, policy, &subject->what);
    buf_append_byte(&subject->what, '\n');
    int code = sandboxing_decide(&subject->sandboxing, policy, request, tool, subject->cwd, err);
    hidden_give(ctx, request, &subject->sandboxing);
    if (!code && subject->sandboxing.confined)
        subject->wish = &subject->sandboxing.wish;
    return code;
}

static int subject_of_section(struct sandboxing_subject *subject)
{
    free(subject->cwd);
    subject->cwd = xstrdup(subject->section.cwd);
    if (wish_confines(&subject->section))
        subject->wish = &subject->section.confine;
    return 0;
}

static int subject_of_hook(struct sandboxing_subject *subject, struct cmd_context *ctx,
                           const char *name, struct err *err)
{
    for (size_t i = 0; i < ctx->config->nhooks; i++)
        if (strcmp(ctx->config->hooks[i].name, name) == 0) {
            wish_of_hook(&subject->section, &ctx->config->hooks[i]);
            return subject_of_section(subject);
        }
    return err_set(err, ERR_ARGUMENTS, "there is no [hook %s] in the config; `ue config` lists "
                                       "those that there are", name);
}

static int subject_of_session(struct sandboxing_subject *subject, struct cmd_context *ctx,
                              const char *name, struct err *err)
{
    const struct config_session *session = config_session_find(ctx->config, name);
    if (!session)
        return err_set(err, ERR_ARGUMENTS, "there is no [session %s] in the config; `ue config` "
                                           "lists those that there are", name);
    wish_of_session(&subject->section, session);
    return subject_of_section(subject);
}

int sandboxing_subject(struct sandboxing_subject *subject, struct cmd_context *ctx,
                       struct request *request, struct err *err)
{
    const struct tool *tool = &tools[TOOL_EXPLAIN_SANDBOX];
    const struct json *params = request_params(request);
    const char *profile = schema_str(tool, params, "profile", NULL),
               *hook = schema_str(tool, params, "hook", NULL),
               *session = schema_str(tool, params, "session", NULL);
    *subject = (struct sandboxing_subject){.what = BUF_INIT};
    subject->cwd = meta_cwd(request, schema_str(tool, params, "workdir", NULL), err);
    if (!subject->cwd)
        return err->code;
    if (!!profile + !!hook + !!session + schema_has(params, "sandbox") > 1)
        return err_set(err, ERR_ARGUMENTS, "`profile`, `hook`, `session` and `sandbox` exclude "
                                           "each other; give one of them");
    if (profile)
        return subject_of_policy(subject, ctx, request, profile, err);
    if (hook)
        return subject_of_hook(subject, ctx, hook, err);
    if (session)
        return subject_of_session(subject, ctx, session, err);
    int code = sandboxing_read(&subject->sandboxing, tool, params, subject->cwd, err);
    hidden_give(ctx, request, &subject->sandboxing);
    if (!code && subject->sandboxing.confined)
        subject->wish = &subject->sandboxing.wish;
    return code;
}

void sandboxing_subject_fini(struct sandboxing_subject *subject)
{
    sandboxing_fini(&subject->sandboxing);
    wish_fini(&subject->section);
    buf_fini(&subject->what);
    free(subject->cwd);
}
