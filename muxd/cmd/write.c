/* write: write_stdin and read_output: input into a session, output out of it. */
#include "base/strv.h"
#include "cmd/gate_default.h"
#include "cmd/meta.h"
#include "cmd/op.h"
#include "cmd/reach.h"
#include "cmd/typing.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A declared session with start = demand starts when a request names it. */
static struct session *find_or_start(struct op *op, struct err *err)
{
    const char *name = json_get_str(request_params(op->base.request), "session_id", NULL);
    struct session *session = meta_session(
        op->base.ctx, json_get(request_params(op->base.request), "session_id"), err);
    bool on_demand;
    if ((session && session_is_live(session)) || !name ||
        !registry_is_declared(op->base.ctx->registry, name, &on_demand) || !on_demand)
        return session;
    char **env = meta_env(op->base.ctx, op->base.request, META_ENV_PEOPLE, NULL, err);
    if (!env)
        return NULL;
    inflight_starting(&op->base);
    err->code = 0;
    if (registry_start_declared(op->base.ctx->registry, name, env, inflight_spawned, &op->base,
                                &session, err) < 0) {
        inflight_not_starting(&op->base);
        session = NULL;
    }
    strv_free(env);
    return session;
}

static bool brings_input(const struct op *op)
{
    const struct json *params = request_params(op->base.request);
    size_t chars = 0, encoded = 0;
    schema_str(op->base.tool, params, "chars", &chars);
    schema_str(op->base.tool, params, "chars_base64", &encoded);
    return chars > 0 || encoded > 0 || json_first(json_get(params, "keys")) ||
           schema_bool(op->base.tool, params, "eof", false) ||
           schema_bool(op->base.tool, params, "submit", false);
}

/* True for C-c and nothing else: sent to a session that has ended it has nothing to interrupt,
 * which is a success. */
static bool only_interrupts(const struct op *op)
{
    const struct json *params = request_params(op->base.request), *keys = json_get(params, "keys");
    size_t chars = 0, encoded = 0;
    const char *text = schema_str(op->base.tool, params, "chars", &chars);
    schema_str(op->base.tool, params, "chars_base64", &encoded);
    for (const struct json *it = json_first(keys); it; it = json_next(it))
        if (strcmp(json_str(it, NULL), "C-c") != 0)
            return false;
    bool by_text = chars > 0 && strspn(text, "\003") == chars;
    return encoded == 0 && (by_text || (chars == 0 && json_first(keys)));
}

/* Who follows the session has all output before the place from which it asks, and may have it from
 * a worker that died before it noted so: the program, which waits for its readers, must not wait
 * for that. */
static void note_place(const struct op *op, struct session *session)
{
    bool since = schema_has(request_params(op->base.request), "since"),
         read = op->base.tool == &tools[TOOL_READ_OUTPUT];
    uint64_t follower = inflight_follows(&op->base, session);
    if (op->has_to || !(since || read) || !follower)
        return;
    session_follower_at(session, follower, op->from, false);
    struct journal *journal = session_journal(session);
    struct journal_reader *reader = journal_reader(journal, op->reader,
                                                   (unsigned)op->base.ctx->config->limits.readers);
    if (since && (!op->peek || !read) && op->from > atomic_load(&reader->cursor))
        journal_reader_move(journal, reader, op->from);
    session_touch(session);
}

void cmd_WRITE_STDIN(struct cmd_context *ctx, struct request *request)
{
    struct err err = {0};
    struct wait_spec spec;
    if (gate_default_waits(ctx, request, cmd_WRITE_STDIN))
        return;
    struct op *op = op_new(ctx, request, &tools[TOOL_WRITE_STDIN]);
    if (!op)
        return;
    struct session *session = find_or_start(op, &err);
    if (!session)
        goto fail;
    /* A model that writes to an ended session is told how it ended. The caller of a verb would
     * take that for a success, and gets an error. */
    op->idle_interrupt = only_interrupts(op) && !session_is_live(session);
    if (brings_input(op) && !session_is_live(session) && meta_bool(request, "verb") &&
        !op->idle_interrupt) {
        err_set(&err, ERR_ENDED,
                "'%s' (session %" PRIu64
                ") has ended; `ue poll` shows how, `ue exec` starts a new one",
                session_name(session), session_number(session));
        goto fail;
    }
    bool typed = brings_input(op);
    if (typed && session_is_live(session) && !only_interrupts(op) &&
        reach_check(ctx, request, session, &err) < 0)
        goto fail;
    inflight_follow(&op->base, session, false);
    if (op_set_from(op, session, &err) < 0 ||
        op_wait_spec(op, session, typed, session_is_tty(session), &spec, &err) < 0)
        goto fail;
    note_place(op, session);
    if ((typed && session_is_live(session) ? typing_begin(op, session, &spec, &err)
                                           : inflight_wait(&op->base, session, &spec, &err)) < 0)
        goto fail;
    session_touch(session);
    return;
fail:
    op_fail(op, &err);
}

void cmd_READ_OUTPUT(struct cmd_context *ctx, struct request *request)
{
    struct err err = {0};
    struct wait_spec spec;
    struct op *op = op_new(ctx, request, &tools[TOOL_READ_OUTPUT]);
    if (!op)
        return;
    struct session *session = meta_session(ctx, json_get(request_params(request), "session_id"),
                                           &err);
    if (session) {
        session_touch(session);
        inflight_follow(&op->base, session, false);
    }
    if (!session || op_set_from(op, session, &err) < 0 ||
        op_wait_spec(op, session, false, session_is_tty(session), &spec, &err) < 0) {
        op_fail(op, &err);
        return;
    }
    note_place(op, session);
    if (inflight_wait(&op->base, session, &spec, &err) < 0)
        op_fail(op, &err);
}
