/* patch_confine: owns the way from a policy's sandbox to the places where a patch may write. */
#include "cmd/patch_confine.h"
#include "base/strv.h"
#include "cmd/gate.h"
#include "cmd/hidden.h"
#include "cmd/meta.h"
#include "session/sandbox.h"

static int patch_confine_plan(struct patch_confined *confined, const struct patch_ask *ask,
                              struct err *err)
{
    struct sandboxing sandboxing = {.confined = false};
    const char *name;
    const struct config_policy *policy = gate_policy(ask->ctx, ask->request, &name, err);
    char **env = err->code ? NULL : meta_env(ask->ctx, ask->request, META_ENV_CALLER, NULL, err);
    int code = env ? sandboxing_decide(&sandboxing, policy, ask->request, ask->tool, ask->cwd, err)
                   : err->code;
    hidden_give(ask->ctx, ask->request, &sandboxing);
    if (!code && sandboxing.by_policy) {
        struct confine_place place = sandbox_place(ask->ctx->registry, sandboxing.workspace, env);
        code = confine_plan_make(&confined->plan, &sandboxing.wish, &place, err);
    }
    sandboxing_fini(&sandboxing);
    strv_free(env);
    return code;
}

int patch_confine(struct patch_confined *confined, const struct patch_ask *ask,
                  struct patch_options *options, struct err *err)
{
    struct confine_plan *plan = &confined->plan;
    const struct strv *const lists[] = {&plan->kept, &plan->made, &plan->hidden_dirs,
                                        &plan->hidden_files};
    int code = patch_confine_plan(confined, ask, err);
    if (code || !plan->cwd || patch_ask_has_yes(ask))
        return code;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t j = 0; j < lists[i]->count; j++)
            strv_add(&confined->kept, lists[i]->items[j]);
    options->read_only = plan->mode == CONFINE_READ_ONLY;
    options->beneath = options->read_only ? NULL : (const char *const *)plan->roots.items;
    options->kept = (const char *const *)confined->kept.items;
    return 0;
}

void patch_confined_fini(struct patch_confined *confined)
{
    confine_plan_fini(&confined->plan);
    strv_fini(&confined->kept);
}
