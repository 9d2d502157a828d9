/* op: owns a parked request from its arguments to its answer. */
#include "cmd/op.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cmd/answer.h"
#include "cmd/delivery.h"
#include "cmd/failure.h"
#include "cmd/meta.h"
#include "cmd/retry.h"
#include "cmd/typing.h"
#include "parts/events/events.h"
#include "wire/text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CODEX_YIELD_MIN_MS 250
#define CODEX_YIELD_MAX_MS 30000
#define CODEX_POLL_MIN_MS 5000
#define READ_YIELD_MAX_MS 300000
#define VERB_WAIT_MS 30000 /* a verb's default when it waits for something */

static struct op *op_of(struct inflight *call)
{
    return LIST_OWNER(call, struct op, base);
}

static void op_drop(struct inflight *call)
{
    typing_free(op_of(call)->typing);
    op_of(call)->typing = NULL;
}

static void op_free(struct inflight *call)
{
    patterns_fini(&op_of(call)->patterns);
    free(op_of(call));
}

static void op_finish(struct inflight *call);

static const struct inflight_kind op_kind = {.finish = op_finish, .drop = op_drop, .free = op_free};

struct op *op_new(struct cmd_context *ctx, struct request *request, const struct tool *tool)
{
    const struct json *params = request_params(request);
    struct op *op = xcalloc(1, sizeof *op);
    struct err err = {0};
    inflight_begin(&op->base, &op_kind, ctx, request, tool);
    const char *reader = meta_str(request, "reader");
    op->peek = tool_arg_by_name(tool, "peek") && schema_bool(tool, params, "peek", false);
    op->base64 = strcmp(schema_str(tool, params, "encoding", NULL), "base64") == 0;
    op->text = schema_bool(tool, params, "text", false);
    op->marks = schema_bool(tool, params, "marks", false);
    op->streams = schema_bool(tool, params, "streams", false);
    op->tokens_given = schema_has(params, "max_output_tokens");
    op->max_tokens = op->tokens_given ? schema_int(tool, params, "max_output_tokens", 0)
                                      : ctx->config->defaults.max_output_tokens;
    op->max_bytes = schema_int(tool, params, "max_bytes", 1 << 20);
    op->max_line = schema_int(tool, params, "max_line", 0);
    op->has_to = tool_arg_by_name(tool, "to") && schema_has(params, "to");
    op->to = op->has_to ? (uint64_t)schema_int(tool, params, "to", 0) : 0;
    op->peek |= op->has_to;
    if (op->max_tokens > ctx->config->limits.max_output_tokens)
        op->max_tokens = ctx->config->limits.max_output_tokens;
    if (op->text && op->base64)
        err_set(&err, ERR_ARGUMENTS,
                "failed to parse function arguments: `text` and `encoding` base64 exclude each "
                "other; give one of them");
    else if (reader && strlen(reader) > JOURNAL_READER_NAME_MAX)
        err_set(&err, ERR_ARGUMENTS, "'%s': a reader's name has at most %d bytes", reader,
                JOURNAL_READER_NAME_MAX);
    else if (reader)
        memcpy(op->reader, reader, strlen(reader) + 1);
    if (!err.code)
        patterns_init(&op->patterns, tool, params, &err);
    if (err.code) {
        op_fail(op, &err);
        return NULL;
    }
    return op;
}

void op_fail(struct op *op, const struct err *err)
{
    inflight_fail(&op->base, err);
}

/* An empty answer would look like output that was silent. */
static int op_check_range(const struct op *op, struct session *session, struct err *err)
{
    uint64_t end = journal_head(session_journal(session));
    if (op->from > end)
        return err_set(err, ERR_ARGUMENTS,
                       "'since %" PRIu64 "': the output of '%s' ends at %" PRIu64
                       "; give an offset from 0 to %" PRIu64,
                       op->from, session_name(session), end, end);
    if (op->has_to && op->to < op->from)
        return err_set(err, ERR_ARGUMENTS,
                       "'to %" PRIu64 "': lies before where reading begins, %" PRIu64
                       "; give two offsets from 0 to %" PRIu64 ", the lower one as since",
                       op->to, op->from, end);
    return 0;
}

int op_set_from(struct op *op, struct session *session, struct err *err)
{
    BUG_UNLESS(op->base.request && !op->base.wait);
    const struct json *params = request_params(op->base.request);
    int64_t since;
    if (tool_arg_by_name(op->base.tool, "since") && json_get_int(params, "since", &since)) {
        op->from = (uint64_t)since;
    } else if (tool_arg_by_name(op->base.tool, "since_ms") &&
               json_get_int(params, "since_ms", &since)) {
        op->from = session_offset_at(session, since);
    } else {
        unsigned limit = (unsigned)op->base.ctx->config->limits.readers;
        journal_reader_replaces(session_journal(session), op->reader, limit, op->replaced);
        const struct journal_reader *reader = journal_reader(session_journal(session), op->reader,
                                                             limit);
        op->from = atomic_load_explicit(&reader->cursor, memory_order_relaxed);
    }
    return op_check_range(op, session, err);
}

static int64_t clamp(int64_t value, int64_t min, int64_t max)
{
    return value < min ? min : value > max ? max : value;
}

int op_check_wait(const struct cmd_context *ctx, int64_t yield_ms, struct err *err)
{
    long long max_ms = ctx->config->limits.max_wait_ms;
    if (yield_ms <= max_ms)
        return 0;
    return err_set(err, ERR_ARGUMENTS,
                   "'-y %lld': longer than [limits] max_wait (%lld ms) allows; give less or `inf`, "
                   "or raise it",
                   (long long)yield_ms, max_ms);
}

/* How long to wait when nothing happens: a verb's value holds as it is, a tool's within the
 * bounds that models know. */
static int op_yield_ms(const struct op *op, const struct json *params, bool typed, bool waits,
                       bool waits_exit, int64_t *out, struct err *err)
{
    const struct config *cfg = op->base.ctx->config;
    bool verb = meta_bool(op->base.request, "verb"), given = schema_has(params, "yield_time_ms");
    bool exec = op->base.tool == &tools[TOOL_EXEC_COMMAND],
         read = op->base.tool == &tools[TOOL_READ_OUTPUT];
    int64_t yield = given  ? schema_int(op->base.tool, params, "yield_time_ms", 0)
                    : exec ? cfg->defaults.yield_exec_ms
                    : read ? 250
                           : cfg->defaults.yield_write_ms;
    if (verb) {
        bool endless = meta_bool(op->base.request, "no_deadline") || (!given && waits_exit);
        if (!given && !exec && waits)
            yield = VERB_WAIT_MS;
        *out = endless ? INT64_MAX : given ? yield : clamp(yield, 0, cfg->limits.max_wait_ms);
        return endless ? 0 : op_check_wait(op->base.ctx, *out, err);
    }
    if (read)
        *out = clamp(yield, 0, READ_YIELD_MAX_MS);
    else if (exec || typed)
        *out = clamp(yield, CODEX_YIELD_MIN_MS, CODEX_YIELD_MAX_MS);
    else
        *out = clamp(yield, CODEX_POLL_MIN_MS, cfg->tools.max_poll_yield_ms);
    return 0;
}

int op_wait_spec(struct op *op, struct session *session, bool typed, bool is_tty,
                 struct wait_spec *spec, struct err *err)
{
    BUG_UNLESS(op->base.request && !op->base.wait);
    const struct json *params = request_params(op->base.request);
    bool waits_exit = schema_bool(op->base.tool, params, "exit", false);
    int64_t quiet_ms = schema_int(op->base.tool, params, "quiet_ms", -1);
    bool ready_given = schema_has(params, "ready"),
         ready_asked = schema_bool(op->base.tool, params, "ready", false);
    bool aims = patterns_have_aim(&op->patterns), fails = patterns_have_failures(&op->patterns);
    bool asked = aims || ready_asked || quiet_ms >= 0 || waits_exit;
    bool exec = op->base.tool == &tools[TOOL_EXEC_COMMAND];
    if (ready_asked && !is_tty)
        return err_set(err, ERR_ARGUMENTS,
                       "failed to parse function arguments: `ready` needs a PTY: on pipes the "
                       "kernel can't tell who waits; use tty, until or quiet_ms");
    op->polls = !typed && !op->has_to &&
                (op->base.tool == &tools[TOOL_WRITE_STDIN] ||
                 op->base.tool == &tools[TOOL_READ_OUTPUT]);
    *spec = (struct wait_spec){
        .sought = op->patterns.sought, .quiet_ms = quiet_ms, .from = op->from};
    spec->ready = ready_asked ||
                  (!ready_given && !asked && is_tty && op->base.ctx->config->defaults.ready);
    spec->settle = !typed && !exec && !asked && !fails;
    /* an incomplete character is nothing new */
    if (spec->settle && session && answer_end(session, op->from) == op->from)
        spec->from = journal_head(session_journal(session));
    if (op->has_to) { /* an answer at once, with what is there */
        *spec = (struct wait_spec){
            .quiet_ms = -1, .from = op->from, .deadline_ns = clock_mono_ns()};
        return 0;
    }
    if (typed || exec) /* output from before the write does not count */
        spec->from = session ? journal_head(session_journal(session)) : 0;
    int64_t yield;
    bool waits = asked || fails || (typed && spec->ready);
    if (op_yield_ms(op, params, typed, waits, waits_exit, &yield, err) < 0)
        return err->code;
    spec->deadline_ns = yield == INT64_MAX ? INT64_MAX : op->base.begun_ns + yield * 1000000;
    return 0;
}

/* A poll is an interaction, too (CODEX.md 12). */
static void op_tell_poll(const struct op *op, struct session *session)
{
    if (!op->polls || op->base.tool != &tools[TOOL_WRITE_STDIN] || !session_is_live(session))
        return;
    const struct author author = meta_author(op->base.ctx, op->base.request, INPUT_BY_AGENT);
    events_typed(session, &author, "", 0, false);
}

static void op_on_room(void *arg)
{
    op_finish(arg);
}

/* About how large the answer gets. */
static size_t op_need(const struct op *op, struct session *session)
{
    uint64_t head = journal_head(session_journal(session)),
             end = op->has_to && op->to < head ? op->to : head;
    size_t most = op->base64 ? (size_t)op->max_bytes : ANSWER_COLLECTED_MAX,
           bytes = end <= op->from         ? 0
                   : end - op->from < most ? (size_t)(end - op->from)
                                           : most,
           budget = text_token_budget((uint64_t)op->max_tokens),
           cut = bytes < budget ? bytes : budget;
    if (op->base64)
        return bytes + bytes / 3;
    return cut + (op->tokens_given ? cut : bytes); /* `content` and `output` */
}

static void op_finish(struct inflight *call)
{
    struct op *op = op_of(call);
    const struct wait_result *result = &call->result;
    BUG_UNLESS(call->request && !call->wait && !call->starting);
    struct session *session = registry_by_number(call->ctx->registry, call->number);
    if (session && result->reason == WAIT_EXIT && retry_takes(call, session))
        return;
    size_t need = session ? op_need(op, session) : 0;
    if (!request_take_room(call->request, need)) {
        request_when_room(call->request, need, op_on_room, call);
        return;
    }
    struct err err;
    if (result->reason == WAIT_COSTLY) {
        patterns_costly(&op->patterns, result->costly, &err);
        op_fail(op, &err);
        return;
    }
    if (!session || result->reason == WAIT_STOPPING) {
        failure_removed(&err, call->number);
        op_fail(op, &err);
        return;
    }
    struct delivery delivery = {.ctx = call->ctx,
                                .number = call->number,
                                .peek = op->peek,
                                .follower = inflight_follows(call, session),
                                .ended = !session_is_live(session)};
    memcpy(delivery.reader, op->reader, sizeof delivery.reader);
    struct json *answer = answer_build(op, session, result, &delivery.to);
    /* who takes long output in pieces comes again for the rest, and for the status */
    delivery.ended &= delivery.to >= journal_head(session_journal(session));
    op_tell_poll(op, session);
    inflight_reply(call, answer, &delivery);
}
