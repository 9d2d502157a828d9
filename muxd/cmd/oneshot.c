/* oneshot: shell_command and shell: a command that is run to its end, or to its timeout, and
 * answered as a whole (CODEX.md 13). It is a session like others while it runs and afterwards, so
 * that nothing of its output is lost and people see what goes on. */
#include "cmd/oneshot.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/strv.h"
#include "cmd/command.h"
#include "cmd/delivery.h"
#include "cmd/describe.h"
#include "cmd/failure.h"
#include "cmd/meta.h"
#include "cmd/patching.h"
#include "parts/reap/reap.h"
#include "wire/schema.h"
#include "wire/text.h"
#include <stdlib.h>
#include <string.h>

#define LINGER_MS 2000               /* after the exit: for what programs left behind still write */
#define TIMEOUT_MAX_MS INT64_C(31536000000) /* a year: more is as good as none */
/* the session's own limit of lifetime holds when no worker is there to look at the clock */
#define BACKSTOP_MS 5000
#define KILLER_TIMEOUT (KILLER_LIMIT + SESSION_LIFETIME)

struct shot {
    struct cmd_context *ctx;
    /* NULL: cancelled, or its client has gone: the timeout holds all the same */
    struct request *request;
    const struct tool *tool;
    uint64_t number;
    struct wait *wait;
    int64_t begun_ns, timeout_ms, elapsed_ms;
    bool starting, fired, timed_out;
    struct wait_result result; /* when fired */
};

static void oneshot_on_cancel(void *arg)
{
    struct shot *shot = arg;
    shot->request = NULL;
}

static void oneshot_fail(struct shot *shot, const struct err *err)
{
    if (shot->wait)
        wait_cancel(shot->wait);
    if (shot->request)
        failure_reply(shot->request, shot->tool, err);
    free(shot);
}

/* How it went, in one number: its own status, or 124. */
static int exit_code_of(struct shot *shot, struct session *session)
{
    int exit_code = -1, signo;
    bool ended = session_has_exit(session, &exit_code, &signo);
    shot->timed_out |= ended &&
                       atomic_load(&session_journal(session)->header->killed_by) == KILLER_TIMEOUT;
    if (shot->timed_out && shot->elapsed_ms == 0) /* a predecessor saw to it */
        shot->elapsed_ms = shot->timeout_ms;
    return shot->timed_out ? 124 : exit_code;
}

static void oneshot_add_output(struct shot *shot, struct json *answer, const struct buf *body,
                               uint64_t to, int exit_code, int64_t wall_ns)
{
    const struct json *params = request_params(shot->request);
    const struct config *cfg = shot->ctx->config;
    bool given = schema_has(params, "max_output_tokens");
    int64_t tokens = given ? schema_int(shot->tool, params, "max_output_tokens", 0)
                           : cfg->defaults.max_output_tokens;
    struct buf content = BUF_INIT, output = BUF_INIT, clamped = BUF_INIT;
    int64_t max_line = schema_int(shot->tool, params, "max_line", 0);
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
    /* of both streams: all of it, by read_output */
    struct json *range = json_add_object(answer, "truncated");
    json_add_int(range, "from", 0);
    json_add_int(range, "to", (int64_t)to);
}

static struct json *oneshot_build(struct shot *shot, struct session *session, uint64_t *to)
{
    struct json *answer = json_object_new();
    struct buf body = BUF_INIT;
    int64_t wall_ns = clock_mono_ns() - shot->begun_ns;
    int exit_code = exit_code_of(shot, session);
    *to = journal_head(session_journal(session));
    if (shot->timed_out)
        buf_printf(&body, "command timed out after %lld milliseconds\n",
                   (long long)shot->elapsed_ms);
    uint64_t omitted = oneshot_collect(session_journal(session), *to, &body);
    oneshot_add_output(shot, answer, &body, *to, exit_code, wall_ns);
    json_add_double(answer, "wall_time_seconds", (double)(wall_ns / 100000) / 10000);
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
    buf_fini(&body);
    return answer;
}

static void oneshot_finish(struct shot *shot, struct session *session)
{
    if (shot->request) {
        struct delivery delivery = {.ctx = shot->ctx, .number = shot->number, .ended = true};
        struct json *answer = oneshot_build(shot, session, &delivery.to);
        request_on_cancel(shot->request, NULL, NULL);
        delivery_begin(shot->request, &delivery);
        request_reply(shot->request, answer);
    }
    free(shot);
}

static void fail_gone(struct shot *shot)
{
    struct err err;
    err_set(&err, ERR_NO_SUCH_SESSION, "session %llu was removed while this call waited for it",
            (unsigned long long)shot->number);
    oneshot_fail(shot, &err);
}

static void oneshot_on_killed(void *arg, const struct reap_result *result)
{
    struct shot *shot = arg;
    struct session *session = registry_by_number(shot->ctx->registry, result->number);
    if (session)
        oneshot_finish(shot, session);
    else
        fail_gone(shot);
}

static void step(struct shot *shot)
{
    struct session *session = registry_by_number(shot->ctx->registry, shot->number);
    if (!session || shot->result.reason == WAIT_STOPPING) {
        fail_gone(shot);
    } else if (shot->result.reason == WAIT_DEADLINE && session_is_live(session)) {
        shot->timed_out = true;
        shot->elapsed_ms = (clock_mono_ns() - shot->begun_ns) / 1000000;
        reap_kill_hard(session, KILLER_TIMEOUT, oneshot_on_killed, shot);
    } else {
        oneshot_finish(shot, session);
    }
}

static void oneshot_on_wait(void *arg, const struct wait_result *result)
{
    struct shot *shot = arg;
    shot->wait = NULL;
    shot->result = *result;
    shot->fired = shot->starting;
    if (!shot->starting)
        step(shot);
}

static void oneshot_on_spawned(void *arg, uint64_t number, const struct err *err)
{
    struct shot *shot = arg;
    (void)number;
    shot->starting = false;
    if (err->code < 0)
        oneshot_fail(shot, err);
    else if (shot->fired)
        step(shot);
    else if (!shot->wait)
        free(shot);
}

static int oneshot_command_of(struct shot *shot, struct command *command, char *const *env,
                              struct err *err)
{
    const struct config *cfg = shot->ctx->config;
    const struct json *params = request_params(shot->request), *given = json_get(params, "command");
    if (shot->tool == &tools[TOOL_SHELL])
        return command_from_words(command, cfg, given, err);
    return command_from_text(command, cfg, schema_str(shot->tool, params, "shell", NULL),
                             schema_bool(shot->tool, params, "login", cfg->defaults.login),
                             json_str(given, NULL), env, err);
}

/* The session of a retry, as far as it has come. */
static struct session *find_begun(struct shot *shot)
{
    uint64_t hash = meta_request_hash(shot->request);
    struct session *session = hash ? registry_by_request(shot->ctx->registry, hash) : NULL;
    if (session)
        shot->begun_ns -= (clock_boot_ms() - session_journal(session)->header->created_boot_ms) *
                          1000000;
    return session;
}

static int oneshot_start(struct shot *shot, struct session **session, struct err *err)
{
    const struct json *params = request_params(shot->request);
    struct command command = {0};
    char *cwd = meta_cwd(shot->request, schema_str(shot->tool, params, "workdir", NULL));
    char **env = meta_env(shot->ctx, shot->request, META_ENV_CALLER, json_get(params, "env"), err);
    int result = env ? oneshot_command_of(shot, &command, env, err) : err->code;
    if (result == 0) {
        struct session_spec spec = {.name = schema_str(shot->tool, params, "name", NULL),
                                    .default_name = command.name,
                                    .cmd = command.shown,
                                    .argv = command.argv,
                                    .env = env,
                                    .cwd = cwd,
                                    .umask = meta_umask(shot->request),
                                    .record = shot->ctx->config->defaults.record,
                                    .request_hash = meta_request_hash(shot->request)};
        command_limits(&spec, &shot->ctx->config->limits);
        meta_source(shot->request, shot->tool, &spec);
        if (spec.limits[SESSION_LIFETIME] == 0 ||
            spec.limits[SESSION_LIFETIME] > shot->timeout_ms + BACKSTOP_MS)
            spec.limits[SESSION_LIFETIME] = shot->timeout_ms + BACKSTOP_MS;
        shot->starting = true;
        result = registry_create(shot->ctx->registry, &spec, oneshot_on_spawned, shot, session,
                                 err);
    }
    command_fini(&command);
    strv_free(env);
    free(cwd);
    return result;
}

static void oneshot_run(struct cmd_context *ctx, struct request *request, const struct tool *tool)
{
    struct err err = {0};
    const struct json *params = request_params(request);
    if (patching_takes(ctx, request, tool, json_get(params, "command"),
                       schema_str(tool, params, "workdir", NULL)))
        return;
    struct shot *shot = xcalloc(1, sizeof *shot);
    *shot = (struct shot){
        .ctx = ctx, .request = request, .tool = tool, .begun_ns = clock_mono_ns()};
    int64_t timeout_ms = schema_int(tool, params, "timeout_ms", 0);
    shot->timeout_ms = timeout_ms < TIMEOUT_MAX_MS ? timeout_ms : TIMEOUT_MAX_MS;
    struct session *session = find_begun(shot);
    if (!session && oneshot_start(shot, &session, &err) < 0) {
        oneshot_fail(shot, &err);
        return;
    }
    shot->number = session_number(session);
    request_on_cancel(request, oneshot_on_cancel, shot);
    struct wait_spec spec = {.quiet_ms = -1,
                             .linger_ms = LINGER_MS,
                             .deadline_ns = shot->begun_ns + shot->timeout_ms * 1000000};
    shot->wait = session_wait(session, &spec, oneshot_on_wait, shot, &err);
    /* too many waits: the limit of lifetime ends it, its output stays to be read */
    if (!shot->wait) {
        request_on_cancel(request, NULL, NULL);
        failure_reply(request, tool, &err);
        shot->request = NULL;
        if (!shot->starting)
            free(shot);
    }
}

void cmd_SHELL_COMMAND(struct cmd_context *ctx, struct request *request)
{
    oneshot_run(ctx, request, &tools[TOOL_SHELL_COMMAND]);
}

void cmd_SHELL(struct cmd_context *ctx, struct request *request)
{
    oneshot_run(ctx, request, &tools[TOOL_SHELL]);
}
