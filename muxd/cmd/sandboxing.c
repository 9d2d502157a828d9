/* sandboxing: owns how a call is confined: what its policy says, and its own arguments. */
#include "cmd/sandboxing.h"
#include "base/path.h"
#include "cmd/meta.h"
#include "guard/policy.h"
#include "wire/schema.h"
#include <stdlib.h>
#include <string.h>

static void read_paths(const struct json *list, const char *cwd, struct strv *out)
{
    for (const struct json *it = json_first(list); it; it = json_next(it))
        strv_add_owned(out, path_join(cwd, json_str(it, NULL)));
}

static const char *given_word(const struct tool *tool, const struct json *params)
{
    return tool_arg_by_name(tool, "sandbox") ? schema_str(tool, params, "sandbox", NULL) : NULL;
}

bool sandboxing_wanted(const struct tool *tool, const struct json *params)
{
    const char *word = given_word(tool, params);
    enum confine_mode mode;
    return word && (!confine_mode_by_word(word, &mode) || mode != CONFINE_FULL_ACCESS);
}

int sandboxing_read(struct sandboxing *sandboxing, const struct tool *tool,
                    const struct json *params, const char *cwd, struct err *err)
{
    static const char *const others[] = {"writable_roots", "unreadable"};
    const char *word = given_word(tool, params);
    struct confine_wish *wish = &sandboxing->wish;
    if (!word || !confine_mode_by_word(word, &wish->mode))
        return 0;
    sandboxing->confined = wish->mode != CONFINE_FULL_ACCESS;
    for (size_t i = 0; !sandboxing->confined && i < sizeof others / sizeof *others; i++)
        if (schema_has(params, others[i]))
            return err_set(err, ERR_ARGUMENTS,
                           "failed to parse function arguments: `%s` has no effect with `sandbox` "
                           "full-access; leave it out, or use workspace-write",
                           others[i]);
    wish->network = schema_bool(tool, params, "network", false);
    wish->no_temp = !schema_bool(tool, params, "temp", true);
    read_paths(json_get(params, "writable_roots"), cwd, &sandboxing->roots);
    read_paths(json_get(params, "unreadable"), cwd, &sandboxing->unreadable);
    wish->roots = (const char *const *)sandboxing->roots.items;
    wish->unreadable = (const char *const *)sandboxing->unreadable.items;
    return 0;
}

void sandboxing_fini(struct sandboxing *sandboxing)
{
    strv_fini(&sandboxing->roots);
    strv_fini(&sandboxing->unreadable);
    strv_fini(&sandboxing->readable);
    strv_fini(&sandboxing->found);
    free(sandboxing->workspace);
    *sandboxing = (struct sandboxing){.confined = false};
}

/* What the call asks for beyond its policy; NULL: nothing. */
static const char *beyond_policy(const struct sandboxing *asked, const char *word,
                                 const struct config_policy *policy)
{
    if (word && !asked->confined)
        return "sandbox";
    if (word && asked->wish.mode == CONFINE_WORKSPACE_WRITE &&
        policy_sandbox(policy) == CONFINE_READ_ONLY)
        return "sandbox";
    if (asked->roots.count > 0)
        return "writable_roots";
    return asked->wish.network && !policy->network ? "network" : NULL;
}

static int refuse_more(const char *argument, const struct config_policy *policy, struct err *err)
{
    return err_set(err, ERR_DENIED,
                   "`%s` asks for more than [policy%s%s] of the config allows, which is %s; leave "
                   "it out%s",
                   argument, *policy->name ? " " : "", policy->name,
                   confine_mode_word(policy_sandbox(policy)),
                   policy_lets_escalate(policy) ? ", or ask with sandbox_permissions "
                                                  "\"require_escalated\" and a justification"
                                                : "");
}

/* What the policy hides, it hides from narrower sandboxes, too. */
static void hide_for_policy(struct sandboxing *sandboxing, const struct config_policy *policy)
{
    for (size_t i = 0; i < policy->hidden.count; i++) {
        char *path = path_at_home(policy->hidden.items[i]);
        strv_add_owned(&sandboxing->unreadable, path_join(sandboxing->workspace, path));
        free(path);
    }
    sandboxing->wish.unreadable = (const char *const *)sandboxing->unreadable.items;
}

/* All that the policy gives. */
static void take_policy(struct sandboxing *sandboxing, const struct config_policy *policy)
{
    struct confine_wish *wish = &sandboxing->wish;
    bool writes = policy_sandbox(policy) == CONFINE_WORKSPACE_WRITE;
    wish->mode = policy_sandbox(policy);
    wish->network = policy->network;
    for (size_t i = 0; writes && i < policy->writable_roots.count; i++)
        strv_add_owned(&sandboxing->roots, path_at_home(policy->writable_roots.items[i]));
    wish->roots = (const char *const *)sandboxing->roots.items;
}

int sandboxing_decide(struct sandboxing *sandboxing, const struct config_policy *policy,
                      struct request *request, const struct tool *tool, const char *cwd,
                      struct err *err)
{
    const struct json *params = request_params(request);
    const char *word = given_word(tool, params), *more;
    struct confine_wish *wish = &sandboxing->wish;
    int code = sandboxing_read(sandboxing, tool, params, cwd, err);
    if (code || policy_sandbox(policy) == CONFINE_FULL_ACCESS)
        return code;
    if ((more = beyond_policy(sandboxing, word, policy)))
        return refuse_more(more, policy, err);
    sandboxing->confined = sandboxing->by_policy = true;
    wish->no_temp = wish->no_temp || !policy->temp;
    if (!word) /* else what it asks for is less */
        take_policy(sandboxing, policy);
    /* not where the call begins: a model names that */
    sandboxing->workspace = meta_cwd(request, NULL, err);
    wish->workspace = sandboxing->workspace;
    if (!sandboxing->workspace)
        return err->code;
    hide_for_policy(sandboxing, policy);
    return 0;
}

static void words_of_paths(const char *what, const struct strv *paths, struct buf *out)
{
    if (paths->count == 0)
        return;
    char *shown = strv_quoted(paths->items);
    buf_printf(out, ", %s %s", what, shown);
    free(shown);
}

void sandboxing_words(const struct sandboxing *sandboxing, struct buf *out)
{
    bool writes = sandboxing->confined && sandboxing->wish.mode == CONFINE_WORKSPACE_WRITE;
    buf_append_text(out, confine_mode_word(sandboxing->confined ? sandboxing->wish.mode
                                                                : CONFINE_FULL_ACCESS));
    if (writes && sandboxing->workspace)
        buf_printf(out, " of %s", sandboxing->workspace);
    words_of_paths("writable", &sandboxing->roots, out);
    words_of_paths("unreadable", &sandboxing->unreadable, out);
    words_of_paths("but readable", &sandboxing->readable, out);
    if (sandboxing->confined && sandboxing->wish.network)
        buf_append_text(out, ", network");
    if (writes && sandboxing->wish.no_temp)
        buf_append_text(out, ", no temp");
}
