/* patching: owns a patch request from its text to its answer. A thread reads and writes the
 * files, so that the loop never waits for a disk; until then the request is parked. A patch
 * whose client has gone is applied all the same. */
#include "cmd/patching.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/limit.h"
#include "base/mem.h"
#include "base/strv.h"
#include "cmd/failure.h"
#include "cmd/gate_default.h"
#include "cmd/hidden.h"
#include "cmd/meta.h"
#include "cmd/patch_ask.h"
#include "cmd/patch_confine.h"
#include "cmd/patch_recorded.h"
#include "parts/events/events.h"
#include "patch/apply.h"
#include "patch/intercept.h"
#include "patch/place.h"
#include "wire/schema.h"
#include "wire/text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct patching {
    struct cmd_context *ctx;
    struct request *request; /* NULL: cancelled, or its client has gone */
    const struct tool *tool;
    int64_t begun_ns;
    struct patch_recorded recorded;
    /* Used by the thread until it is done. */
    char *call_id; /* owned; NULL: none */
    char *text, *cwd, **roots; /* owned */
    size_t len;
    struct patch_confined confined;
    char *base; /* owned; the directory that must exist */
    int gone;   /* errno: it doesn't */
    struct patch_options options;
    struct patch_plan *plan;
    struct patch_failure failure;
    int result;
    struct buf success;
};

static void patching_free(struct patching *patching)
{
    patch_plan_free(patching->plan);
    patch_failure_fini(&patching->failure);
    buf_fini(&patching->success);
    patch_recorded_fini(&patching->recorded);
    free(patching->call_id);
    free(patching->text);
    free(patching->cwd);
    free(patching->base);
    strv_free(patching->roots);
    patch_confined_fini(&patching->confined);
    free(patching);
}

static void patching_prepare(void *arg)
{
    struct patching *patching = arg;
    struct stat info;
    patching->gone = stat(patching->base, &info) != 0 ? errno
                     : S_ISDIR(info.st_mode)         ? 0
                                                     : ENOTDIR;
    if (patching->gone)
        return;
    patching->result = patch_prepare(&patching->plan, patching->text, patching->len,
                                     &patching->options, &patching->failure);
}

static void patching_commit(void *arg)
{
    struct patching *patching = arg;
    patching->result = patch_commit(patching->plan, &patching->failure);
    if (patching->result == 0)
        patch_success(patching->plan, &patching->success);
}

/* The one-shot text; exec_command puts its own lines before it (CODEX.md 5.1, third example). */
static void patching_add_content(struct patching *patching, struct json *answer, int exit_code,
                                 const char *text, size_t len)
{
    struct buf oneshot = BUF_INIT, content = BUF_INIT;
    struct text_oneshot shown = {.exit_code = exit_code,
                                 .wall_ns = clock_mono_ns() - patching->begun_ns,
                                 .output = text,
                                 .output_len = len,
                                 .budget_bytes = SIZE_MAX};
    text_oneshot(&oneshot, &shown);
    struct text_answer wrapped = {
        .output = oneshot.data, .output_len = oneshot.len, .max_tokens = UINT64_MAX};
    if (patching->tool == &tools[TOOL_EXEC_COMMAND])
        text_answer(&content, &wrapped);
    else
        buf_append(&content, oneshot.data, oneshot.len);
    json_add_str(answer, "content", content.data, content.len);
    json_add_double(answer, "wall_time_seconds", text_wall_seconds(shown.wall_ns));
    buf_fini(&oneshot);
    buf_fini(&content);
}

/* The words of the program apply_patch, and the cause that it does not name. */
static void add_program(struct json *into, const struct patch_failure *failure)
{
    json_add_text(into, "stderr", failure->program);
    if (failure->cause)
        json_add_text(into, "cause", failure->cause);
}

static struct json *patching_build(struct patching *patching)
{
    struct json *answer = json_object_new();
    bool done = patching->result == 0;
    struct buf text = BUF_INIT;
    if (done)
        buf_append(&text, patching->success.data, patching->success.len);
    else
        buf_printf(&text, "%s\n", patching->failure.reply);
    patching_add_content(patching, answer, done ? 0 : 1, text.data, text.len);
    json_add_str(answer, "output", text.data, text.len);
    json_add_text(answer, "state", "exited");
    json_add_int(answer, "exit_code", done ? 0 : 1);
    json_add_bool(answer, "success", done);
    if (done)
        patch_recorded_add_files(answer, patching->plan);
    else
        add_program(answer, &patching->failure);
    buf_fini(&text);
    return answer;
}

/* One event for each patch that has changed files, or failed while it did. */
static void patching_tell(struct patching *patching)
{
    if (patching->result != 0 && patching->failure.stage != PATCH_STAGE_COMMIT)
        return;
    struct json *facts = json_object_new();
    if (patching->result == 0)
        patch_recorded_add_files(facts, patching->plan);
    events_patched(patching->ctx->registry, patching->call_id, patching->cwd,
                   json_get(facts, "files"), patching->result == 0 ? 0 : 1);
    json_free(facts);
}

/* Before it has written anything. */
static void patching_fail(struct patching *patching, const struct err *err)
{
    if (patching->request) {
        request_on_cancel(patching->request, NULL, NULL);
        failure_reply(patching->request, patching->tool, err);
    }
    patching_free(patching);
}

static void fail_no_thread(struct patching *patching, int status)
{
    struct err err;
    limit_err(&err, ERR_SYSTEM, LIMIT_THREAD, -status,
              "the patch can't be applied: no thread can be started for it");
    patch_recorded_end(&patching->recorded, 1);
    patching_fail(patching, &err);
}

static void done(void *arg)
{
    struct patching *patching = arg;
    struct request *request = patching->request;
    patch_recorded_end(&patching->recorded, patching->result == 0 ? 0 : 1);
    BUG_UNLESS(patching->result == 0 || patching->failure.reply);
    patching_tell(patching);
    if (!request) {
        patching_free(patching);
        return;
    }
    request_on_cancel(request, NULL, NULL);
    if (patching->result == 0 || patching->failure.stage == PATCH_STAGE_COMMIT) {
        request_reply(request, patching_build(patching));
    } else {
        struct err err;
        struct json *data = json_object_new();
        err_set(&err, patching->failure.code, "%s", patching->failure.reply);
        json_add_text(data, "content", patching->failure.reply);
        add_program(data, &patching->failure);
        request_fail_with(request, &err, data);
    }
    patching_free(patching);
}

static void patching_on_cancel(void *arg)
{
    struct patching *patching = arg;
    patching->request = NULL;
}

static struct patch_ask patching_ask(const struct patching *patching)
{
    return (struct patch_ask){.ctx = patching->ctx,
                              .request = patching->request,
                              .tool = patching->tool,
                              .text = patching->text,
                              .cwd = patching->cwd,
                              .plan = patching->plan,
                              .recorded = patching->recorded.facts};
}

/* True: a person is asked, as only the sandbox of its policy is in the way. */
static bool patching_parks(struct patching *patching)
{
    const struct patch_ask ask = patching_ask(patching);
    if (patching->result != ERR_DENIED || !patching->request || !patching->confined.plan.cwd ||
        patching->roots)
        return false;
    request_on_cancel(patching->request, NULL, NULL);
    if (patch_ask_parks(&ask)) {
        patching_free(patching);
        return true;
    }
    request_on_cancel(patching->request, patching_on_cancel, patching);
    return false;
}

/* Nothing is written yet: what goes on record is, first. */
static void prepared(void *arg)
{
    struct patching *patching = arg;
    struct err err;
    if (patching->gone) {
        err_set(&err, ERR_SPAWN, "'%s': %s; choose another directory", patching->base,
                strerror(patching->gone));
        patching_fail(patching, &err);
        return;
    }
    if (patching->result != 0) {
        if (patching_parks(patching))
            return;
        if (patching->result == ERR_DENIED)
            patch_recorded_refused(&patching->recorded, patching->plan, patching->failure.reply);
        done(patching);
        return;
    }
    int status = 0;
    if (patch_recorded_begin(&patching->recorded, patching->plan, &err) < 0)
        patching_fail(patching, &err);
    else if ((status = loop_offload(patching->ctx->loop, patching_commit, done, patching)) != 0)
        fail_no_thread(patching, status);
}

/* "." in [tools] patch_roots stands for the call's working directory. */
static char **roots_of(const struct config *cfg, const char *cwd)
{
    struct strv roots = {0};
    const struct config_words *words = &cfg->tools.patch_roots;
    for (size_t i = 0; i < words->count; i++)
        strv_add_owned(&roots, place_absolute(cwd, words->items[i]));
    return words->count > 0 ? strv_take(&roots) : NULL;
}

static enum patch_endings endings_of(const struct config_tools *cfg)
{
    switch ((enum config_endings)cfg->patch_line_endings) {
    case CONFIG_ENDINGS_CODEX:
    case CONFIG_ENDINGS_LF: return PATCH_ENDINGS_CODEX;
    case CONFIG_ENDINGS_EXACT: return PATCH_ENDINGS_EXACT;
    case CONFIG_ENDINGS_PRESERVE: break;
    }
    return PATCH_ENDINGS_PRESERVE;
}

/* Takes over text and base. workdir is below base, or NULL. The roots are resolved against base,
 * so that a `cd` in the command can't leave them. */
static void patching_begin(struct cmd_context *ctx, struct request *request,
                           const struct tool *tool, char *text, size_t len, char *base,
                           const char *workdir)
{
    struct patching *patching = xcalloc(1, sizeof *patching);
    *patching = (struct patching){.ctx = ctx,
                                  .request = request,
                                  .tool = tool,
                                  .begun_ns = clock_mono_ns(),
                                  .text = text,
                                  .len = len,
                                  .success = BUF_INIT};
    patching->roots = roots_of(ctx->config, base);
    patching->cwd = place_absolute(base, workdir ? workdir : ".");
    patching->base = base;
    patch_recorded_init(&patching->recorded, ctx, request, tool, patching->cwd,
                        patching->roots != NULL);
    patching->options = (struct patch_options){
        .cwd = patching->cwd,
        .roots = (const char *const *)patching->roots,
        .sections = tool == &tools[TOOL_APPLY_PATCH] &&
                    schema_bool(tool, request_params(request), "sections", false),
        .endings = endings_of(&ctx->config->tools),
        .umask_bits = meta_umask(request)};
    const char *call_id = meta_str(request, "call_id");
    patching->call_id = call_id ? xstrdup(call_id) : NULL;
    struct err err = {0};
    request_on_cancel(request, patching_on_cancel, patching);
    const struct patch_ask ask = patching_ask(patching);
    if (patch_confine(&patching->confined, &ask, &patching->options, &err) < 0) {
        if (err.code == ERR_DENIED)
            patch_recorded_refused(&patching->recorded, NULL, err.text);
        patching_fail(patching, &err);
        return;
    }
    int status = loop_offload(ctx->loop, patching_prepare, prepared, patching);
    if (status != 0)
        fail_no_thread(patching, status);
}

static bool is_taken(const struct json *command, struct patch_intercepted *found)
{
    const char *script = json_str(command, NULL);
    if (script)
        return patch_intercept(script, found);
    struct strv argv = {0};
    for (const struct json *it = json_first(command); it; it = json_next(it))
        strv_add(&argv, json_str(it, NULL));
    bool taken = argv.count > 0 && patch_intercept_argv((const char *const *)argv.items, found);
    strv_fini(&argv);
    return taken;
}

/* The directory of the call, the caller's; NULL and err. */
static char *patching_base(struct cmd_context *ctx, struct request *request, const char *workdir,
                           struct err *err)
{
    return config_check_lost(ctx->config, err) == 0 ? meta_cwd(request, workdir, err) : NULL;
}

bool patching_takes(struct cmd_context *ctx, struct request *request, const struct tool *tool,
                    const struct json *command, const char *workdir)
{
    struct patch_intercepted found = {0};
    if (!is_taken(command, &found))
        return false;
    struct err err;
    char *base = NULL;
    if (found.bare)
        err_set(&err, ERR_ARGUMENTS, "%s", PATCH_INTERCEPT_BARE);
    else
        base = patching_base(ctx, request, workdir, &err);
    if (base) {
        patching_begin(ctx, request, tool, found.text, found.len, base, found.workdir);
        found.text = NULL;
    } else {
        failure_reply(request, tool, &err);
    }
    patch_intercepted_fini(&found);
    return true;
}

void cmd_APPLY_PATCH(struct cmd_context *ctx, struct request *request)
{
    const struct tool *tool = &tools[TOOL_APPLY_PATCH];
    const struct json *params = request_params(request);
    size_t len;
    const char *text = schema_str(tool, params, "input", &len);
    struct err err;
    if (gate_default_waits(ctx, request, cmd_APPLY_PATCH) ||
        hidden_waits(ctx, request, tool, cmd_APPLY_PATCH))
        return;
    char *base = patching_base(ctx, request, schema_str(tool, params, "workdir", NULL), &err);
    if (base)
        patching_begin(ctx, request, tool, xmemdup(text, len + 1), len, base, NULL);
    else
        failure_reply(request, tool, &err);
}
