/* command_begin: owns the beginning of run_command and integrate_session: who may, where, for how
 * long. */
#include "base/clock.h"
#include "base/mem.h"
#include "cmd/running.h"
#include "cmd/gate_default.h"
#include "cmd/meta.h"
#include "cmd/op.h"
#include "cmd/reach.h"
#include "cmd/typed_before.h"
#include "session/nonce.h"
#include <inttypes.h>
#include <string.h>

#define YIELD_MIN_MS 250
#define YIELD_MAX_MS 300000

static int running_begin_deadline(struct running *running, struct err *err)
{
    const struct cmd_context *ctx = running->base.ctx;
    const struct json *params = request_params(running->base.request);
    bool verb = meta_bool(running->base.request, "verb"),
         given = schema_has(params, "yield_time_ms");
    int64_t yield_ms = schema_int(running->base.tool, params, "yield_time_ms", 10000);
    if (!verb)
        yield_ms = yield_ms < YIELD_MIN_MS   ? YIELD_MIN_MS
                   : yield_ms > YIELD_MAX_MS ? YIELD_MAX_MS
                                             : yield_ms;
    else if (given && op_check_wait(ctx, yield_ms, err) < 0)
        return err->code;
    bool endless = verb && (!given || meta_bool(running->base.request, "no_deadline"));
    running->deadline_ns = endless ? INT64_MAX
                                   : running->base.begun_ns + yield_ms * RUNNING_NS_PER_MS;
    return 0;
}

static int check_as(const struct running *running, struct err *err)
{
    const char *as = running->integrates
                         ? schema_str(running->base.tool, request_params(running->base.request),
                                      "as", NULL)
                         : NULL;
    if (!as || adapter_of(as))
        return 0;
    struct buf names = BUF_INIT;
    adapter_names(&names);
    err_set(err, ERR_ARGUMENTS, "'%s': can't be integrated; known are %s", as, names.data);
    buf_fini(&names);
    return err->code;
}

static int running_begin_check(struct running *running, struct session *session, struct err *err)
{
    const struct author author = meta_author(running->base.ctx, running->base.request,
                                             INPUT_BY_AGENT);
    if (!session_is_live(session))
        return err_set(err, ERR_ENDED,
                       "'%s' (session %" PRIu64
                       ") has ended; `ue poll` shows how, `ue exec` starts a new one",
                       session_name(session), session_number(session));
    if (reach_check(running->base.ctx, running->base.request, session, err) < 0)
        return err->code;
    if (!session_is_tty(session))
        return err_set(err, ERR_NOT_AVAILABLE,
                       "'%s' has no terminal, and so no prompt; start it with -t (tty)",
                       session_name(session));
    if (check_as(running, err) < 0)
        return err->code;
    return keyboard_check(session, &author, err);
}

/* The id of the first command that can be what was typed there: the last prompt before it is the
 * one that it was typed at. A command that had begun by then is another one: what was typed is for
 * the program that it runs, 0, or, where it had ended, for the prompt that comes next. */
static uint64_t id_typed_at(struct session *session, uint64_t output_at)
{
    struct commands_where where;
    commands_place(session, &where);
    uint64_t id = where.input_from <= output_at ? where.input_from : 0;
    for (size_t i = commands_count(session); i-- > 0;) {
        uint64_t other = commands_at(session, i)->id;
        if (other <= output_at && other > id)
            id = other;
    }
    const struct ran_command *command = commands_by_id(session, id);
    if (!command || command->from > output_at)
        return id;
    return !command->runs && command->to <= output_at ? id + 1 : 0;
}

/* The request was sent again after a restart of the worker, and the command had been typed. */
static bool was_typed(struct running *running, struct session *session)
{
    uint64_t hash = meta_request_hash(running->base.request), typed_at;
    if (!typed_before(session, hash, &typed_at))
        return false;
    running->step = RUNNING_COMMAND;
    running->typed_at = typed_at;
    running->first_id = id_typed_at(session, typed_at);
    running->marked = running->first_id > 0;
    return true;
}

static int running_start(struct running *running, struct session *session, struct err *err)
{
    commands_catch_up(session);
    if (!running->integrates && was_typed(running, session))
        return running_wait(running, session, INT64_MAX, err);
    struct commands_where where;
    running->base.number = session_number(session);
    if (running_resume(running, session))
        return running_wait_answer(running, session, err);
    if (!running->integrates && !session_is_held(session) &&
        commands_place(session, &where) == COMMANDS_PROMPT && where.group > 0 &&
        where.group == commands_foreground(session))
        return running_at_prompt(running, session, err);
    int64_t patience_ms = RUNNING_PATIENCE_MS + running->base.ctx->config->defaults.raw_quiet_ms,
            until_ns = session_is_held(session) ? INT64_MAX
                                                : clock_mono_ns() + patience_ms * RUNNING_NS_PER_MS;
    return running_wait(running, session, until_ns, err);
}

/* Who has read all that was printed before goes on behind this call; nobody else misses anything.
 */
static int note_reader(struct running *running, struct session *session, struct err *err)
{
    struct journal *journal = session_journal(session);
    const char *name = meta_str(running->base.request, "reader");
    size_t size = name ? strlen(name) : 0;
    if (size > JOURNAL_READER_NAME_MAX)
        return err_set(err, ERR_ARGUMENTS, "'%s': a reader's name has at most %d bytes", name,
                       JOURNAL_READER_NAME_MAX);
    if (size > 0)
        memcpy(running->reader, name, size);
    const struct journal_reader *reader = journal_reader(
        journal, running->reader, (unsigned)running->base.ctx->config->limits.readers);
    running->has_read = atomic_load(&reader->cursor) == journal_head(journal);
    return 0;
}

static void running_call(struct cmd_context *ctx, struct request *request, const struct tool *tool)
{
    struct err err = {0};
    struct running *running = xcalloc(1, sizeof *running);
    running->integrates = tool == &tools[TOOL_INTEGRATE_SESSION];
    buf_init(&running->prompt, 0);
    inflight_begin(&running->base, &running_kind, ctx, request, tool);
    struct session *session = meta_session(ctx, json_get(request_params(request), "session_id"),
                                           &err);
    if (session) {
        session_touch(session);
        inflight_follow(&running->base, session, false);
        note_reader(running, session, &err);
    }
    if (!session || err.code < 0 || running_begin_deadline(running, &err) < 0 ||
        running_begin_check(running, session, &err) < 0 ||
        running_start(running, session, &err) < 0)
        inflight_fail(&running->base, &err);
}

void cmd_RUN_COMMAND(struct cmd_context *ctx, struct request *request)
{
    if (!gate_default_waits(ctx, request, cmd_RUN_COMMAND))
        running_call(ctx, request, &tools[TOOL_RUN_COMMAND]);
}

void cmd_INTEGRATE_SESSION(struct cmd_context *ctx, struct request *request)
{
    if (!gate_default_waits(ctx, request, cmd_INTEGRATE_SESSION))
        running_call(ctx, request, &tools[TOOL_INTEGRATE_SESSION]);
}
