/* sandboxing_explain: owns what the daemon says of sandboxes: the line of `ue status`, and
 * explain_sandbox, which waits until the machine's back-ends were tried. */
#include "base/mem.h"
#include "cmd/bounds.h"
#include "cmd/gate.h"
#include "cmd/hidden.h"
#include "cmd/meta.h"
#include "cmd/sandboxing_subject.h"
#include "session/sandbox.h"
#include "wire/schema.h"
#include <stdlib.h>

/* --- what there is --- */

static void tell_bwrap(const struct confine_able *able, struct buf *text)
{
    if (!able->bwrap)
        buf_append_text(text, "bubblewrap is not installed");
    else if (!able->tried)
        buf_printf(text, "bubblewrap (%s, not tried yet)", able->bwrap);
    else if (able->bwrap_why)
        buf_append_text(text, able->bwrap_why);
    else
        buf_printf(text, "bubblewrap (%s)", able->bwrap);
}

void sandboxing_status(struct cmd_context *ctx, struct json *into)
{
    const struct confine_able *able = sandbox_able(ctx->registry);
    struct buf text = BUF_INIT;
    if (!able->helper)
        buf_append_text(&text, able->helper_why);
    else
        tell_bwrap(able, &text);
    if (able->landlock_abi > 0)
        buf_printf(&text, "; Landlock ABI %d%s", able->landlock_abi,
                   able->landlock_abi < CONFINE_LANDLOCK_MIN ? " (6 is needed)" : "");
    else
        buf_append_text(&text, "; no Landlock");
    json_add_buf(into, "sandboxes", &text);
}

/* --- explain_sandbox --- */

struct explaining {
    struct cmd_context *ctx;
    struct request *request; /* NULL: cancelled */
};

static void add_argv_of(const struct strv *argv, struct json *into, struct buf *text)
{
    struct json *list = json_add_array(into, "argv");
    for (size_t i = 0; i < argv->count; i++)
        json_add_text(list, NULL, argv->items[i]);
    char *shown = strv_quoted(argv->items);
    buf_printf(text, "%-10s %s\n", "runs", shown);
    free(shown);
}

/* Of whatever starts for this client, in a sandbox or not; of a policy that is named the line about
 * that has them. What a session or hook of the config has, its section says. */
static int explain_limits(struct explaining *call, const struct sandboxing_subject *subject,
                          struct json *into, struct buf *text, struct err *err)
{
    const char *name;
    struct buf words = BUF_INIT;
    bool named = subject->what.len > 0;
    if (subject->section.cwd)
        return 0;
    const struct config_policy *policy = named ? subject->policy
                                               : gate_policy(call->ctx, call->request, &name, err);
    if (!named && err->code < 0)
        return err->code;
    bounds_tell(call->ctx->config, policy, "", into, &words);
    if (words.len > 0 && !named)
        buf_printf(text, "%-10s %s\n", "limits", words.data);
    buf_fini(&words);
    return 0;
}

static int explain_plan(struct explaining *call, const struct confine_plan *plan,
                        const struct sandboxing_subject *subject, struct json *into,
                        struct err *err)
{
    const struct confine_able *able = sandbox_able(call->ctx->registry);
    const char *cmd = json_str(json_get(request_params(call->request), "cmd"), NULL);
    const char *const command[] = {"sh", "-c", cmd ? cmd : "COMMAND", NULL};
    enum confine_backend backend;
    struct strv argv = {0};
    struct buf text = BUF_INIT, why = BUF_INIT;
    int code = confine_choose(plan, able, &backend, &why, err);
    if (!code)
        code = confine_argv(plan, backend, able, command, &argv, err);
    if (!code) {
        json_add_text(into, "mode", confine_mode_word(plan->mode));
        json_add_bool(into, "network", plan->network);
        json_add_text(into, "backend", confine_backend_word(backend));
        buf_append(&text, subject->what.data, subject->what.len);
        buf_printf(&text, "%-10s %s: %s\n", "by", confine_backend_word(backend), why.data);
        json_add_buf(into, "why", &why);
        confine_explain(plan, backend, &text);
        if (backend == CONFINE_BY_BUBBLEWRAP && able->landlock_abi < CONFINE_LANDLOCK_PIPES)
            buf_printf(&text, "%-10s named pipes outside: this kernel has no Landlock that could "
                              "keep them from being written\n", "open");
        code = explain_limits(call, subject, into, &text, err);
        add_argv_of(&argv, into, &text);
        json_add_buf(into, "text", &text);
    }
    buf_fini(&text);
    buf_fini(&why);
    strv_fini(&argv);
    return code;
}

/* As a session with that wish would have it. */
static int explain_wish(struct explaining *call, const struct sandboxing_subject *subject,
                        struct json *into, struct err *err)
{
    struct confine_plan plan;
    const char *workspace = subject->wish->workspace;
    char **env = meta_env(call->ctx, call->request, META_ENV_CALLER, NULL, err);
    if (!env)
        return err->code;
    struct confine_place place = sandbox_place(call->ctx->registry,
                                               workspace ? workspace : subject->cwd, env);
    place.begin = subject->cwd;
    int code = confine_plan_make(&plan, subject->wish, &place, err);
    if (!code) {
        code = explain_plan(call, &plan, subject, into, err);
        confine_plan_fini(&plan);
    }
    strv_free(env);
    return code;
}

static int explain(struct explaining *call, struct json *into, struct err *err)
{
    struct sandboxing_subject subject;
    int code = sandboxing_subject(&subject, call->ctx, call->request, err);
    if (!code && subject.wish) {
        code = explain_wish(call, &subject, into, err);
    } else if (!code) {
        struct buf text = BUF_INIT;
        buf_append(&text, subject.what.data, subject.what.len);
        buf_append_text(&text, "mode       full-access: no sandbox\n");
        json_add_text(into, "mode", "full-access");
        code = explain_limits(call, &subject, into, &text, err);
        json_add_buf(into, "text", &text);
        buf_fini(&text);
    }
    sandboxing_subject_fini(&subject);
    return code;
}

/* True: it is asked again once the files are found. */
static bool explain_searches(struct explaining *call)
{
    struct sandboxing_subject subject;
    struct err unused; /* it is told when it is explained */
    bool waits = sandboxing_subject(&subject, call->ctx, call->request, &unused) == 0 &&
                 subject.wish &&
                 hidden_search(call->ctx, call->request, subject.wish->unreadable,
                               cmd_EXPLAIN_SANDBOX);
    sandboxing_subject_fini(&subject);
    return waits;
}

static void explain_on_tried(void *arg, bool closing)
{
    struct explaining *call = arg;
    struct err err = {0};
    if (call->request && !closing) {
        request_on_cancel(call->request, NULL, NULL);
        struct json *told = explain_searches(call) ? NULL : json_object_new();
        if (!told) {
            ;
        } else if (explain(call, told, &err) == 0) {
            request_reply(call->request, told);
        } else {
            json_free(told);
            request_fail(call->request, &err);
        }
    }
    free(call);
}

static void explain_on_cancel(void *arg)
{
    struct explaining *call = arg;
    call->request = NULL;
}

void cmd_EXPLAIN_SANDBOX(struct cmd_context *ctx, struct request *request)
{
    struct explaining *call = xcalloc(1, sizeof *call);
    *call = (struct explaining){.ctx = ctx, .request = request};
    request_on_cancel(request, explain_on_cancel, call);
    if (!sandbox_when_tried(ctx->registry, explain_on_tried, call))
        explain_on_tried(call, false);
}
