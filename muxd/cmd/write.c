/* write: write_stdin and read_output: input into a session, output out of it. */
#include "base/mem.h"
#include "base/strv.h"
#include "cmd/op.h"
#include "term/keys.h"
#include "term/modes.h"
#include "wire/base64.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct session *find(struct op *op, struct err *err)
{
    const struct json *id = json_get(request_params(op->request), "session_id");
    int64_t number;
    char word[32];
    if (json_int(id, &number)) {
        snprintf(word, sizeof word, "%" PRId64, number);
        return registry_find(op->ctx->registry, word, err);
    }
    return registry_find(op->ctx->registry, json_str(id, NULL), err);
}

/* A described session that starts on demand begins when somebody uses its name. */
static struct session *find_or_start(struct op *op, struct err *err)
{
    const char *name = json_get_str(request_params(op->request), "session_id", NULL);
    struct session *session = find(op, err);
    bool on_demand;
    if ((session && session_is_live(session)) || !name || !registry_is_described(op->ctx->registry, name, &on_demand) || !on_demand)
        return session;
    char **env = meta_env(op->ctx, op->request, META_ENV_PEOPLE, NULL, err);
    if (!env)
        return NULL;
    op_starting(op);
    err->code = 0;
    if (registry_start_described(op->ctx->registry, name, env, op_spawned, op, &session, err) < 0) {
        op_not_starting(op);
        session = NULL;
    }
    strv_free(env);
    return session;
}

static bool brings_input(const struct op *op)
{
    const struct json *params = request_params(op->request);
    size_t chars = 0, encoded = 0;
    schema_str(op->tool, params, "chars", &chars);
    schema_str(op->tool, params, "chars_base64", &encoded);
    return chars > 0 || encoded > 0 || json_first(json_get(params, "keys")) || schema_bool(op->tool, params, "eof", false);
}

/* All that is to be typed, in order: chars, then keys. */
static int gather(struct op *op, struct session *session, struct buf *input, struct err *err)
{
    const struct json *params = request_params(op->request);
    const struct keys_modes modes = {.application_cursor = modes_has(session_modes(session), MODE_APPLICATION_CURSOR)};
    size_t len;
    const char *chars = schema_str(op->tool, params, "chars", &len), *encoded = schema_str(op->tool, params, "chars_base64", NULL);
    if (chars && encoded && len > 0)
        return err_set(err, ERR_ARGUMENTS, "failed to parse function arguments: `chars` and `chars_base64` exclude each other");
    if (encoded && !base64_decode(input, encoded, strlen(encoded)))
        return err_set(err, ERR_ARGUMENTS, "failed to parse function arguments: `chars_base64` is no valid base64");
    if (chars)
        buf_append(input, chars, len);
    for (const struct json *it = json_first(json_get(params, "keys")); it; it = json_next(it)) {
        const char *key = json_str(it, NULL);
        if (!session_is_tty(session) && strcmp(key, "Enter") == 0) { /* what ends a line where no terminal translates */
            buf_append_byte(input, '\n');
            continue;
        }
        if (!session_is_tty(session) && strcmp(key, "C-c") != 0)
            return err_set(err, ERR_STDIN_CLOSED, "'%s': a pipe session has no keys but Enter and C-c; start it with tty", key);
        if (keys_append_modes(input, key, &modes, err) < 0)
            return err->code;
    }
    return 0;
}

static int type(struct op *op, struct session *session, const struct buf *input, struct err *err)
{
    bool eof = schema_bool(op->tool, request_params(op->request), "eof", false);
    uint64_t hash = meta_request_hash(op->request), end;
    int result = 0;
    if (hash && journal_request_done(session_journal(session), hash, &end))
        return 0; /* a retry: it was typed before the worker died */
    if (input->len == 1 && input->data[0] == 3 && !session_is_tty(session))
        result = session_interrupt(session, err);
    else if (input->len > 0)
        result = session_type(session, input->data, input->len, hash, false, err);
    if (result == 0 && eof)
        result = session_close_stdin(session, err);
    return result;
}

void cmd_WRITE_STDIN(struct cmd_context *ctx, struct request *request)
{
    struct err err = {0};
    struct wait_spec spec;
    struct buf input = BUF_INIT;
    struct op *op = op_new(ctx, request, &tools[TOOL_WRITE_STDIN]);
    if (!op)
        return;
    struct session *session = find_or_start(op, &err);
    if (!session)
        goto fail;
    /* A model that writes to an ended session learns how it ended; a verb's caller would take that for a success. */
    if (brings_input(op) && !session_is_live(session) && meta_bool(request, "verb")) {
        err_set(&err, ERR_ENDED, "'%s' (session %" PRIu64 ") has ended; `ue poll` shows how, `ue exec` starts a new one",
                session_name(session), session_number(session));
        goto fail;
    }
    if (session_is_live(session) && gather(op, session, &input, &err) < 0)
        goto fail;
    bool typed = brings_input(op);
    op_set_from(op, session);
    if (op_wait_spec(op, session, typed, session_is_tty(session), &spec, &err) < 0)
        goto fail;
    /* The wait comes first, so that nothing can be missed. */
    if (op_park(op, session, &spec, &err) < 0 || (typed && session_is_live(session) && type(op, session, &input, &err) < 0))
        goto fail;
    session_touch(session);
    buf_fini(&input);
    return;
fail:
    buf_fini(&input);
    op_fail(op, &err);
}

void cmd_READ_OUTPUT(struct cmd_context *ctx, struct request *request)
{
    struct err err = {0};
    struct wait_spec spec;
    struct op *op = op_new(ctx, request, &tools[TOOL_READ_OUTPUT]);
    if (!op)
        return;
    struct session *session = find(op, &err);
    if (session) {
        op_set_from(op, session);
        session_touch(session);
    }
    if (!session || op_wait_spec(op, session, false, session_is_tty(session), &spec, &err) < 0 || op_park(op, session, &spec, &err) < 0)
        op_fail(op, &err);
}
