/* reach: owns the comparison of a session's sandbox, as its journal tells it, with the one that a
 * policy sets. What can't be told counts as more. */
#include "cmd/reach.h"
#include "base/strv.h"
#include "cmd/gate_policy.h"
#include "cmd/meta.h"
#include "cmd/sandboxing.h"
#include "session/sandbox.h"
#include "wire/tool.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The directory lies in one that the plan lets write, and in none that stays as it is. */
static bool covers(const struct confine_plan *plan, const char *dir)
{
    const struct strv *const kept[] = {&plan->kept, &plan->made, &plan->hidden_dirs};
    struct err unused;
    char *real = NULL;
    bool inside = false;
    if (confine_real(dir, &real, &unused) != 0)
        return false;
    for (size_t i = 0; i < plan->roots.count; i++)
        inside |= confine_is_below(real, plan->roots.items[i]);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        for (size_t j = 0; j < kept[i]->count; j++)
            inside &= !confine_is_below(real, kept[i]->items[j]);
    free(real);
    return inside;
}

static bool covers_roots(const struct confine_plan *plan, const struct json *facts, const char *cwd)
{
    bool cut = false, all = covers(plan, json_get_str(facts, "workspace", NULL)
                                             ? json_get_str(facts, "workspace", NULL)
                                             : cwd);
    json_get_bool(facts, "roots_cut", &cut);
    const struct json *roots = json_get(facts, "writable_roots");
    for (const struct json *it = json_first(roots); it && all; it = json_next(it))
        all = covers(plan, json_str(it, NULL));
    return all && !cut;
}

/* Each of them was hidden from the session, too. */
static bool hides_all(const struct json *facts, const struct strv *hidden)
{
    const struct json *own = json_get(facts, "unreadable");
    for (size_t i = 0; i < hidden->count; i++) {
        bool found = false;
        for (const struct json *it = json_first(own); it && !found; it = json_next(it))
            found = json_str(it, NULL) && strcmp(json_str(it, NULL), hidden->items[i]) == 0;
        if (!found)
            return false;
    }
    return true;
}

/* What the session may do beyond the plan; NULL: nothing. */
static const char *reach_beyond(const struct confine_plan *plan, bool temp,
                                const struct json *facts, const char *cwd)
{
    const char *word = json_get_str(facts, "mode", NULL);
    enum confine_mode mode;
    bool network = true, own_temp = true;
    json_get_bool(facts, "network", &network);
    json_get_bool(facts, "temp", &own_temp);
    if (!word || !confine_mode_by_word(word, &mode) || mode == CONFINE_FULL_ACCESS)
        return "it is in no sandbox";
    if (network && !plan->network)
        return "it has a network";
    if (mode == CONFINE_READ_ONLY)
        return NULL;
    if (plan->mode == CONFINE_READ_ONLY)
        return "it may write";
    if (own_temp && !temp)
        return "it may write temporary files";
    return covers_roots(plan, facts, cwd) ? NULL : "it may write other directories";
}

/* hidden: what the policy hides, as it names it. */
static int reach_plan(struct cmd_context *ctx, struct request *request,
                      const struct config_policy *policy, struct confine_plan *plan,
                      struct strv *hidden, struct err *err)
{
    struct sandboxing sandboxing = {.confined = false};
    char **env = meta_env(ctx, request, META_ENV_CALLER, NULL, err);
    int code = env ? sandboxing_decide(&sandboxing, policy, request, &tools[TOOL_WRITE_STDIN], "/",
                                       err)
                   : err->code;
    if (!code) {
        struct confine_place place = sandbox_place(ctx->registry, sandboxing.workspace, env);
        strv_add_all(hidden, sandboxing.wish.unreadable);
        sandboxing.wish.unreadable = NULL; /* compared by name, and not looked for */
        code = confine_plan_make(plan, &sandboxing.wish, &place, err);
    }
    sandboxing_fini(&sandboxing);
    strv_free(env);
    return code;
}

int reach_check(struct cmd_context *ctx, struct request *request, struct session *session,
                struct err *err)
{
    const char *name;
    struct confine_plan plan = {.mode = CONFINE_FULL_ACCESS};
    const struct config_policy *policy = gate_policy(ctx, request, &name, err);
    if (err->code < 0 || policy_sandbox(policy) == CONFINE_FULL_ACCESS)
        return err->code;
    struct strv hidden = {0};
    if (reach_plan(ctx, request, policy, &plan, &hidden, err) < 0) {
        strv_fini(&hidden);
        return err->code;
    }
    struct json *facts = session_sandbox_facts(session);
    const char *beyond = reach_beyond(&plan, policy->temp, facts,
                                      journal_cwd(session_journal(session)));
    if (!beyond && !hides_all(facts, &hidden))
        beyond = "it can read what is hidden";
    if (beyond)
        err_set(err, ERR_DENIED,
                "'%s' (session %" PRIu64 ") may do more than this client, which [policy%s%s] "
                "holds to %s: %s; run the command in a session of your own",
                session_name(session), session_number(session), *name ? " " : "", name,
                confine_mode_word(plan.mode), beyond);
    json_free(facts);
    strv_fini(&hidden);
    confine_plan_fini(&plan);
    return err->code;
}
