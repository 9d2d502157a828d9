/* denied: owns how an answer tells of a sandbox's refusal, and how to ask for more. */
#include "cmd/denied.h"
#include "base/path.h"
#include "cmd/gate_policy.h"
#include "confine/denial.h"
#include "session/sandbox.h"
#include <stdlib.h>
#include <string.h>

static void denied_read_paths(const struct json *list, const char *cwd, struct strv *out)
{
    for (const struct json *it = json_first(list); it; it = json_next(it))
        if (json_str(it, NULL))
            strv_add_owned(out, path_join(cwd, json_str(it, NULL)));
}

/* Patterns are not looked for again: whether a path matches can be asked of the path. */
static void denied_take_patterns(struct strv *unreadable, struct strv *patterns)
{
    struct strv plain = {0};
    for (size_t i = 0; i < unreadable->count; i++) {
        const char *const one[] = {unreadable->items[i], NULL};
        char *real = confine_has_pattern(one) ? confine_pattern_real(one[0]) : NULL;
        if (real)
            strv_add_owned(patterns, real);
        else if (!confine_has_pattern(one))
            strv_add(&plain, one[0]);
    }
    strv_fini(unreadable);
    *unreadable = plain;
}

/* Where the journal keeps nothing of it, what is usual counts. */
static void denied_read_env(struct session *session, struct strv *out)
{
    struct json *kept = session_sandbox_env(session);
    for (size_t i = 0; confine_env[i]; i++) {
        const char *value = json_get_str(kept, confine_env[i], NULL);
        if (value)
            strv_env_set(out, confine_env[i], value);
    }
    json_free(kept);
}

/* The plan that the session runs by, made anew from what its journal keeps. */
static bool denied_plan(struct cmd_context *ctx, struct session *session, struct confine_plan *plan,
                        struct strv *patterns)
{
    struct json *facts = session_sandbox_facts(session);
    const char *word = json_get_str(facts, "mode", NULL),
               *workspace = json_get_str(facts, "workspace", NULL),
               *cwd = journal_cwd(session_journal(session));
    struct confine_wish wish = {.no_temp = false};
    struct strv roots = {0}, unreadable = {0}, env = {0};
    struct err unused;
    bool temp = true, made = false;
    json_get_bool(facts, "network", &wish.network);
    json_get_bool(facts, "temp", &temp);
    denied_read_paths(json_get(facts, "writable_roots"), cwd, &roots);
    denied_read_paths(json_get(facts, "unreadable"), cwd, &unreadable);
    denied_take_patterns(&unreadable, patterns);
    denied_read_env(session, &env);
    wish.no_temp = !temp;
    wish.roots = (const char *const *)roots.items;
    wish.unreadable = (const char *const *)unreadable.items;
    struct confine_place place = sandbox_place(ctx->registry, workspace ? workspace : cwd,
                                               env.items);
    if (word && confine_mode_by_word(word, &wish.mode) && wish.mode != CONFINE_FULL_ACCESS)
        made = confine_plan_make(plan, &wish, &place, &unused) == 0;
    strv_fini(&roots);
    strv_fini(&unreadable);
    strv_fini(&env);
    json_free(facts);
    return made;
}

/* The end of the output, however much of it was read. */
static void denied_output(struct session *session, struct buf *out)
{
    struct journal *journal = session_journal(session);
    uint64_t head = journal_head(journal), at = head > DENIAL_OUTPUT ? head - DENIAL_OUTPUT : 0;
    size_t size;
    const char *view;
    while (at < head && (view = journal_view(journal, &at, &size)) && size > 0) {
        buf_append(out, view, size);
        at += size;
    }
}

static bool denied_find(struct cmd_context *ctx, struct session *session, struct denial *denial,
                        struct confine_plan *plan)
{
    struct denial_case of = {.plan = plan};
    struct buf output = BUF_INIT;
    struct strv patterns = {0};
    if (!session_sandbox(session) || session_is_live(session) ||
        atomic_load(&session_journal(session)->header->killed_by) != KILLER_NONE ||
        !session_has_exit(session, &of.exit_code, &of.signo) ||
        (of.exit_code == 0 && of.signo == 0) || !denied_plan(ctx, session, plan, &patterns)) {
        strv_fini(&patterns);
        return false;
    }
    denied_output(session, &output);
    of.command = journal_cmd(session_journal(session));
    of.output = output.data ? output.data : "";
    of.size = output.len;
    of.hidden = (const char *const *)patterns.items;
    denial_find(denial, &of);
    buf_fini(&output);
    strv_fini(&patterns);
    if (denial->operation == DENIAL_NONE)
        confine_plan_fini(plan);
    return denial->operation != DENIAL_NONE;
}

bool denied_is(struct cmd_context *ctx, struct session *session)
{
    struct confine_plan plan;
    struct denial denial;
    if (!denied_find(ctx, session, &denial, &plan))
        return false;
    bool avoidable = !denial.vain;
    denial_fini(&denial);
    confine_plan_fini(&plan);
    return avoidable;
}

/* The part of a sandbox's limits that was in the way, as additional_permissions names it; false: it
 * is none that can be asked for by itself. */
static bool denied_part(const struct denial *denial, struct buf *out)
{
    bool by_path = denial->operation == DENIAL_WRITE && denial->evidence == DENIAL_BY_PATH &&
                   denial->subject && !denial->kept;
    if (denial->operation == DENIAL_NETWORK)
        return buf_append_text(out, "{\"network\": {\"enabled\": true}}");
    if (!by_path)
        return false;
    char *dir = path_dirname(denial->subject);
    buf_append_text(out, "{\"file_system\": {\"write\": [");
    json_print_str(out, dir, strlen(dir));
    buf_append_text(out, "]}}");
    free(dir);
    return true;
}

/* True: the policy lets a call ask for just what was refused. */
static bool denied_add_part(const struct config_policy *policy, const struct denial *denial,
                            struct buf *text)
{
    struct buf part = BUF_INIT;
    bool found = policy_lets_add(policy) && denied_part(denial, &part);
    if (found)
        buf_printf(text,
                   "; to run it with no more than that, call again with sandbox_permissions "
                   "\"with_additional_permissions\", additional_permissions %s and a justification",
                   part.data);
    buf_fini(&part);
    return found;
}

/* True: the policy lets a call ask. */
static bool denied_add_way(struct cmd_context *ctx, struct request *request,
                           const struct denial *denial, struct buf *text)
{
    struct err unused;
    const char *name;
    const struct config_policy *policy = gate_policy(ctx, request, &name, &unused);
    if (denial->vain || !policy_is_on(policy))
        return false;
    bool part = denied_add_part(policy, denial, text);
    if (policy_lets_escalate(policy))
        buf_append_text(text, "; to run it without the sandbox, call again with "
                              "sandbox_permissions \"require_escalated\" and a justification");
    else if (!policy_asks(policy))
        buf_append_text(text, "; nobody can be asked to let it run without the sandbox: do it in "
                              "another way");
    return part || policy_lets_escalate(policy);
}

static void denied_add_content(struct json *answer, const char *note)
{
    struct json *old = json_detach(answer, "content");
    size_t size;
    const char *content = json_str(old, &size);
    struct buf text = BUF_INIT;
    if (content) {
        buf_append(&text, content, size);
        buf_printf(&text, "%s(%s)\n", size > 0 && content[size - 1] != '\n' ? "\n" : "", note);
        json_add_buf(answer, "content", &text);
    }
    buf_fini(&text);
    json_free(old);
}

void denied_tell(struct cmd_context *ctx, struct request *request, struct session *session,
                 struct json *answer)
{
    struct confine_plan plan;
    struct denial denial;
    struct buf note = BUF_INIT;
    if (!denied_find(ctx, session, &denial, &plan))
        return;
    denial_words(&denial, &plan, &note);
    bool asks = denied_add_way(ctx, request, &denial, &note);
    struct json *facts = json_add_object(json_add_object(answer, "_meta"), "denial");
    json_add_text(facts, "sandbox", confine_mode_word(plan.mode));
    json_add_text(facts, "operation", denial_operation_word(denial.operation));
    json_add_text(facts, "evidence", denial_evidence_word(denial.evidence));
    if (denial.subject && denial.evidence == DENIAL_BY_PATH)
        json_add_text(facts, "path", denial.subject);
    json_add_bool(facts, "can_ask", asks);
    json_add_text(facts, "text", note.data);
    denied_add_content(answer, note.data);
    denial_fini(&denial);
    confine_plan_fini(&plan);
    buf_fini(&note);
}
