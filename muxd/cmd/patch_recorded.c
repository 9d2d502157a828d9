/* patch_recorded: owns the records of patches. */
#include "cmd/patch_recorded.h"
#include "base/bug.h"
#include "base/mem.h"
#include "cmd/gate.h"
#include "cmd/recorded.h"
#include "parts/audit/audit.h"
#include "patch/apply.h"
#include <stdlib.h>

void patch_recorded_init(struct patch_recorded *recorded, struct cmd_context *ctx,
                         struct request *request, const struct tool *tool, const char *cwd,
                         bool roots)
{
    const char *name;
    struct err unused;
    const struct config_policy *policy = gate_policy(ctx, request, &name, &unused);
    enum confine_mode mode = policy_sandbox(policy);
    bool is_on = policy_is_on(policy) || mode != CONFINE_FULL_ACCESS;
    *recorded = (struct patch_recorded){.ctx = ctx};
    if (!audit_wants(ctx->registry, is_on || roots))
        return;
    const struct approval *granted = approvals_take(ctx, request);
    recorded->granted = granted != NULL;
    recorded->facts = recorded_asker(ctx, request, tool, is_on ? name : NULL);
    json_add_text(json_add_object(recorded->facts, "sandbox"), "mode",
                  confine_mode_word(granted ? CONFINE_FULL_ACCESS : mode));
    json_add_text(recorded->facts, "cwd", cwd);
    recorded->by = json_object_new();
    if (granted || is_on)
        json_add_text(recorded->by, "by", granted ? "person" : "policy");
    recorded_add_grant(recorded->by, granted);
}

/* It is decided. */
static void patch_recorded_add_by(struct patch_recorded *recorded, struct json *facts)
{
    for (const struct json *it = json_first(recorded->by); it; it = json_next(it))
        json_add(facts, json_key(it), json_copy(it));
}

/* It did not come to a begin. */
static void patch_recorded_failed(struct patch_recorded *recorded)
{
    struct err unused; /* the log has it */
    patch_recorded_add_by(recorded, recorded->facts);
    json_add_text(recorded->facts, "reason", "it did not begin, and its caller was told why");
    audit_write(recorded->ctx->registry, "failed", NULL, recorded->facts, &unused);
}

void patch_recorded_fini(struct patch_recorded *recorded)
{
    if (recorded->granted && recorded->facts && !recorded->id)
        patch_recorded_failed(recorded);
    json_free(recorded->facts);
    json_free(recorded->by);
    free(recorded->id);
}

void patch_recorded_add_files(struct json *into, const struct patch_plan *plan)
{
    static const char *const words[] = {
        [PATCH_ADD] = "add", [PATCH_DELETE] = "delete", [PATCH_UPDATE] = "update"};
    struct json *files = json_add_array(into, "files");
    for (size_t i = 0; i < patch_plan_count(plan); i++) {
        struct patch_file file = patch_plan_file(plan, i);
        BUG_UNLESS((size_t)file.kind < sizeof words / sizeof *words);
        struct json *one = json_add_object(files, NULL);
        json_add_text(one, "path", file.path);
        json_add_text(one, "kind", words[file.kind]);
        if (file.moved)
            json_add_text(one, "from", file.source);
    }
}

static int write_part(struct patch_recorded *recorded, const char *what, const char *part,
                      const struct json *facts, struct err *err)
{
    char *id = xasprintf("%s.%s", recorded->id, part);
    int code = audit_write(recorded->ctx->registry, what, id, facts, err);
    free(id);
    return code;
}

int patch_recorded_begin(struct patch_recorded *recorded, const struct patch_plan *plan,
                         struct err *err)
{
    char id[AUDIT_ID_MAX];
    if (!recorded->facts)
        return 0;
    audit_new_id(recorded->ctx->registry, id);
    recorded->id = xstrdup(id);
    patch_recorded_add_by(recorded, recorded->facts);
    patch_recorded_add_files(recorded->facts, plan);
    return write_part(recorded, "allowed", "begin", recorded->facts, err);
}

void patch_recorded_refused(struct patch_recorded *recorded, const struct patch_plan *plan,
                            const char *reason)
{
    struct json *facts = recorded->facts;
    if (!facts)
        return;
    recorded->facts = NULL;
    if (recorded->granted)
        patch_recorded_add_by(recorded, facts);
    if (plan)
        patch_recorded_add_files(facts, plan);
    recorded_refused(recorded->ctx, facts, reason);
}

void patch_recorded_end(struct patch_recorded *recorded, int exit_code)
{
    struct err unused; /* the log has it */
    if (!recorded->id)
        return;
    struct json *facts = json_object_new();
    const struct json *call_id = json_get(recorded->facts, "call_id");
    if (call_id)
        json_add(facts, "call_id", json_copy(call_id));
    json_add_text(facts, "ended", "exited");
    json_add_int(facts, "exit_code", exit_code);
    write_part(recorded, "ended", "end", facts, &unused);
    json_free(facts);
}
