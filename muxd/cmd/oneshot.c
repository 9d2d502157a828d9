/* oneshot: shell_command and shell: a command that runs to its end, or to its timeout, and is
 * answered as a whole (CODEX.md 13). It is a session like others, during its run and afterwards,
 * so that its output is not lost and people see what goes on. */
#include "cmd/oneshot.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/strv.h"
#include "cmd/command.h"
#include "cmd/delivery.h"
#include "cmd/denied.h"
#include "cmd/describe.h"
#include "cmd/failure.h"
#include "cmd/failure_words.h"
#include "cmd/gate.h"
#include "cmd/gate_default.h"
#include "cmd/hidden.h"
#include "cmd/inflight.h"
#include "cmd/meta.h"
#include "cmd/patching.h"
#include "cmd/retry.h"
#include "parts/reap/reap.h"
#include "wire/schema.h"
#include "wire/text.h"
#include <stdlib.h>
#include <string.h>

#define LINGER_MS 2000 /* after the exit: for output of programs that it left behind */
#define TIMEOUT_MAX_MS INT64_C(31536000000) /* a year */
/* The session's limit of lifetime ends the command when no worker is there to see the timeout. */
#define BACKSTOP_MS 5000
#define KILLER_TIMEOUT (KILLER_LIMIT + SESSION_LIFETIME)

struct shot {
    struct inflight base; /* outlives its request: the timeout holds all the same */
    int64_t timeout_ms, elapsed_ms;
    bool timed_out;
};

static struct shot *shot_of(struct inflight *call)
{
    return LIST_OWNER(call, struct shot, base);
}

static void shot_free(struct inflight *call)
{
    free(shot_of(call));
}

/* The exit status of the command, or 124 for a timeout. */
static int exit_code_of(struct shot *shot, struct session *session)
{
    int exit_code = -1, signo;
    bool ended = session_has_exit(session, &exit_code, &signo);
    shot->timed_out |= ended &&
                       atomic_load(&session_journal(session)->header->killed_by) == KILLER_TIMEOUT;
    if (shot->timed_out && shot->elapsed_ms == 0) /* the timeout came while a predecessor ran */
        shot->elapsed_ms = shot->timeout_ms;
    return shot->timed_out ? 124 : exit_code;
}

static void oneshot_add_output(struct shot *shot, struct json *answer, const struct buf *body,
                               uint64_t to, int exit_code, int64_t wall_ns)
{
    const struct json *params = request_params(shot->base.request);
    const struct config *cfg = shot->base.ctx->config;
    bool given = schema_has(params, "max_output_tokens");
    int64_t tokens = given ? schema_int(shot->base.tool, params, "max_output_tokens", 0)
                           : cfg->defaults.max_output_tokens;
    struct buf content = BUF_INIT, output = BUF_INIT, clamped = BUF_INIT;
    int64_t max_line = schema_int(shot->base.tool, params, "max_line", 0);
    size_t cut = 0;
    struct text_oneshot text = {.exit_code = exit_code,
                                .wall_ns = wall_ns,
                                .output = body->data ? body->data : "",
                                .tokens = true};
    text.output_len = body->len;
    if (max_line > 0) {
        cut = text_clamp_lines(&clamped, text.output, text.output_len, (size_t)max_line);
        text.output = clamped.data ? clamped.data : "";
        text.output_len = clamped.len;
    }
    text.budget_bytes = text_token_budget((
        uint64_t)(tokens < cfg->limits.max_output_tokens ? tokens : cfg->limits.max_output_tokens));
    text_oneshot(&content, &text);
    json_add_buf(answer, "content", &content);
    text_truncate_middle(&output, text.output, text.output_len,
                         given ? text.budget_bytes : SIZE_MAX, true);
    json_add_buf(answer, "output", &output);
    buf_fini(&clamped);
    if (cut == 0 && text.output_len <= text.budget_bytes)
        return;
    /* read_output has all of both streams */
    struct json *range = json_add_object(answer, "truncated");
    json_add_int(range, "from", 0);
    json_add_int(range, "to", (int64_t)to);
}

static struct json *oneshot_build(struct shot *shot, struct session *session, uint64_t *to)
{
    struct json *answer = json_object_new();
    struct buf body = BUF_INIT;
    int64_t wall_ns = clock_mono_ns() - shot->base.begun_ns;
    int exit_code = exit_code_of(shot, session);
    *to = journal_head(session_journal(session));
    if (shot->timed_out)
        buf_printf(&body, "command timed out after %lld milliseconds\n",
                   (long long)shot->elapsed_ms);
    uint64_t omitted = oneshot_collect(session_journal(session), *to, &body);
    oneshot_add_output(shot, answer, &body, *to, exit_code, wall_ns);
    json_add_double(answer, "wall_time_seconds", text_wall_seconds(wall_ns));
    json_add_int(answer, "number", (int64_t)session_number(session));
    json_add_text(answer, "name", session_name(session));
    describe_end(answer, session);
    json_free(json_detach(answer, "exit_code"));
    if (exit_code >= 0)
        json_add_int(answer, "exit_code", exit_code);
    json_add_bool(answer, "success", exit_code == 0);
    json_add_bool(answer, "timed_out", shot->timed_out);
    json_add_text(answer, "reason",
                  shot->timed_out ? wait_reason_word(WAIT_DEADLINE) : wait_reason_word(WAIT_EXIT));
    json_add_int(answer, "from", 0);
    json_add_int(answer, "to", (int64_t)*to);
    json_add_int(answer, "omitted_bytes", (int64_t)omitted);
    json_add_int(answer, "original_token_count", (int64_t)text_tokens(*to));
    denied_tell(shot->base.ctx, shot->base.request, session, answer);
    buf_fini(&body);
    return answer;
}

static void oneshot_answer(struct shot *shot, struct session *session)
{
    struct inflight *call = &shot->base;
    if (!shot->timed_out && retry_takes(call, session))
        return;
    struct delivery delivery = {.ctx = call->ctx, .number = call->number, .ended = true};
    if (call->request)
        inflight_reply(call, oneshot_build(shot, session, &delivery.to), &delivery);
    else
        inflight_let_go(call);
}

static void oneshot_fail_removed(struct shot *shot)
{
    struct err err;
    failure_removed(&err, shot->base.number);
    inflight_fail(&shot->base, &err);
}

static void oneshot_on_killed(void *arg, const struct reap_result *result)
{
    struct shot *shot = arg;
    struct session *session = registry_by_number(shot->base.ctx->registry, result->number);
    BUG_UNLESS(shot->timed_out && result->number == shot->base.number);
    if (session)
        oneshot_answer(shot, session);
    else
        oneshot_fail_removed(shot);
}

static void oneshot_finish(struct inflight *call)
{
    struct shot *shot = shot_of(call);
    struct session *session = registry_by_number(call->ctx->registry, call->number);
    if (!session || call->result.reason == WAIT_STOPPING) {
        oneshot_fail_removed(shot);
    } else if (call->result.reason == WAIT_DEADLINE && session_is_live(session)) {
        shot->timed_out = true;
        shot->elapsed_ms = (clock_mono_ns() - call->begun_ns) / 1000000;
        reap_kill_hard(session, KILLER_TIMEOUT, oneshot_on_killed, shot);
    } else {
        oneshot_answer(shot, session);
    }
}

static int oneshot_command_of(struct shot *shot, struct command *command, char *const *env,
                              struct err *err)
{
    const struct config *cfg = shot->base.ctx->config;
    const struct json *params = request_params(shot->base.request),
                      *given = json_get(params, "command");
    if (shot->base.tool == &tools[TOOL_SHELL])
        return command_from_words(command, cfg, given, err);
    return command_from_call(command, cfg, shot->base.request, shot->base.tool,
                             json_str(given, NULL), env, err);
}

/* The session that this request, sent again after a restart of the worker, had started; begun_ns
 * goes back to its start. */
static struct session *find_begun(struct shot *shot)
{
    uint64_t hash = meta_request_hash(shot->base.request);
    struct session *session = hash ? registry_by_request(shot->base.ctx->registry, hash) : NULL;
    if (session)
        inflight_began_with(&shot->base, session);
    return session;
}

typedef void oneshot_handler_fn(struct cmd_context *ctx, struct request *request);

static oneshot_handler_fn *oneshot_handler(const struct tool *tool)
{
    return tool == &tools[TOOL_SHELL] ? cmd_SHELL : cmd_SHELL_COMMAND;
}

static int oneshot_start(struct shot *shot, struct session **session, struct err *err)
{
    const struct json *params = request_params(shot->base.request);
    struct command command = {0};
    char *cwd = meta_cwd(shot->base.request, schema_str(shot->base.tool, params, "workdir", NULL),
                         err);
    char **env = cwd ? meta_env(shot->base.ctx, shot->base.request, META_ENV_CALLER,
                                json_get(params, "env"), err)
                     : NULL;
    int result = env ? oneshot_command_of(shot, &command, env, err) : err->code;
    const struct tool *tool = shot->base.tool;
    struct gate gate = {shot->base.ctx, shot->base.request, tool, oneshot_handler(tool),
                        command.argv, env, cwd, false, {.confined = false}, NULL, NULL, false,
                        {.memory_bytes = 0}};
    if (result == 0) {
        result = gate_command(&gate, err);
        shot->base.command = failure_words_joined(command.argv);
    }
    if (result == 0) {
        struct session_spec spec = {.name = schema_str(shot->base.tool, params, "name", NULL),
                                    .default_name = command.name,
                                    .cmd = command.shown,
                                    .argv = command.argv,
                                    .env = env,
                                    .cwd = cwd,
                                    .umask = meta_umask(shot->base.request),
                                    .record = shot->base.ctx->config->defaults.record,
                                    .sandbox = gate.sandboxing.confined ? &gate.sandboxing.wish
                                                                        : NULL,
                                    .policy = gate.policy,
                                    .on_record = gate.record,
                                    .judged = gate.judged,
                                    .kept_bytes = ONESHOT_KEPT,
                                    .request_hash = meta_request_hash(shot->base.request)};
        command_limits(&spec, &gate.limits);
        meta_source(shot->base.request, shot->base.tool, &spec);
        if (spec.limits[SESSION_LIFETIME] == 0 ||
            spec.limits[SESSION_LIFETIME] > shot->timeout_ms + BACKSTOP_MS)
            spec.limits[SESSION_LIFETIME] = shot->timeout_ms + BACKSTOP_MS;
        inflight_starting(&shot->base);
        result = registry_create(shot->base.ctx->registry, &spec, inflight_spawned, &shot->base,
                                 session, err);
        if (result < 0)
            inflight_not_starting(&shot->base);
    }
    sandboxing_fini(&gate.sandboxing);
    gate_end(&gate, result, err);
    command_fini(&command);
    strv_free(env);
    free(cwd);
    return result;
}

static void oneshot_run(struct cmd_context *ctx, struct request *request, const struct tool *tool)
{
    static const struct inflight_kind kind = {
        .finish = oneshot_finish, .free = shot_free, .outlives_request = true};
    struct err err = {0};
    const struct json *params = request_params(request);
    if (gate_default_waits(ctx, request, oneshot_handler(tool)) ||
        gate_refuses_arguments(ctx, request, tool) ||
        hidden_waits(ctx, request, tool, oneshot_handler(tool)) ||
        patching_takes(ctx, request, tool, json_get(params, "command"),
                       schema_str(tool, params, "workdir", NULL)))
        return;
    struct shot *shot = xcalloc(1, sizeof *shot);
    inflight_begin(&shot->base, &kind, ctx, request, tool);
    int64_t timeout_ms = schema_int(tool, params, "timeout_ms", 0);
    shot->timeout_ms = timeout_ms < TIMEOUT_MAX_MS ? timeout_ms : TIMEOUT_MAX_MS;
    struct session *session = find_begun(shot);
    /* the time of a command counts from its own beginning */
    int64_t from_ns = session ? shot->base.begun_ns : clock_mono_ns();
    int result = session ? 0 : oneshot_start(shot, &session, &err);
    if (result < 0) {
        inflight_fail(&shot->base, &err);
        return;
    }
    if (result == GATE_ASKED) { /* it begins anew: the timeout counts from the yes */
        gate_park(ctx, inflight_give_back(&shot->base));
        return;
    }
    struct wait_spec spec = {.quiet_ms = -1,
                             .linger_ms = LINGER_MS,
                             .deadline_ns = from_ns + shot->timeout_ms * 1000000};
    /* too many waits: the session's limit of lifetime ends it, its output can still be read */
    if (inflight_wait(&shot->base, session, &spec, &err) < 0)
        inflight_fail(&shot->base, &err);
}

void cmd_SHELL_COMMAND(struct cmd_context *ctx, struct request *request)
{
    oneshot_run(ctx, request, &tools[TOOL_SHELL_COMMAND]);
}

void cmd_SHELL(struct cmd_context *ctx, struct request *request)
{
    oneshot_run(ctx, request, &tools[TOOL_SHELL]);
}
