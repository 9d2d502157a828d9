/* secret: owns the connections that bring a person's secret. The request says what it is for;
 * the secret follows as a frame, so that it is never part of any JSON and lies only in the
 * buffer that is wiped right after. */
#include "base/bug.h"
#include "base/mem.h"
#include "cmd/describe.h"
#include "cmd/meta.h"
#include "cmd/people.h"
#include "parts/keyboard/secret.h"
#include "peer/stream.h"
#include "wire/schema.h"
#include <stdio.h>
#include <stdlib.h>

struct secret_call {
    struct cmd_context *ctx;
    struct peer *peer;
    uint64_t number;
    bool stage, blind, finished;
    int64_t expire_ms;
    struct author author;
    char client[40];
};

static int give(struct secret_call *call, const char *data, size_t size, struct err *err)
{
    struct session *session = registry_by_number(call->ctx->registry, call->number);
    if (!session || !session_is_live(session))
        return err_set(err, ERR_ENDED, "session %llu has ended; start a new one",
                       (unsigned long long)call->number);
    session_touch(session);
    return call->stage ? secret_stage(session, &call->author, data, size, call->expire_ms, err)
                       : secret_type(session, &call->author, data, size, call->blind, err);
}

static void cmd_secret_on_frame(void *arg, const struct attach_frame *frame)
{
    struct secret_call *call = arg;
    struct err err = {0};
    struct buf text = BUF_INIT;
    if (call->finished || frame->type != ATTACH_INPUT)
        return;
    struct json *end = json_object_new();
    if (give(call, frame->data, frame->size, &err) < 0) {
        json_add_text(end, "code", err_name(err.code));
        json_add_text(end, "error", err.text);
    } else {
        json_add_bool(end, call->stage ? "staged" : "typed", true);
        json_add_int(end, "bytes", (int64_t)frame->size);
    }
    json_print(&text, end);
    stream_send(call->peer, ATTACH_END, text.data, text.len);
    json_free(end);
    buf_fini(&text);
    call->finished = true;
    peer_finish(call->peer);
}

static void on_drained(void *arg)
{
    (void)arg;
}

static void cmd_secret_on_gone(void *arg)
{
    free(arg);
}

static const struct stream_handlers handlers = {
    .frame = cmd_secret_on_frame, .drained = on_drained, .gone = cmd_secret_on_gone, .wipe = true};

/* For people only, and for scripts that may. Anybody may have a staged one wiped. */
static int cmd_secret_check(struct cmd_context *ctx, struct request *request,
                            struct session *session, struct err *err)
{
    const struct json *params = request_params(request);
    const struct tool *tool = &tools[TOOL_TYPE_SECRET];
    bool forget = schema_bool(tool, params, "forget", false);
    if (!meta_bool(request, "verb")) /* neither `ue call` nor MCP passes this on */
        return err_set(err, ERR_DENIED,
                       "'type_secret' is for people, not for agents; a person runs `ue secret`");
    if (!forget && people_check(ctx, request, "secret", CONFIG_SCRIPTS_SECRET, err) < 0)
        return err->code;
    if (!session_is_live(session))
        return err_set(err, ERR_ENDED, "'%s' has ended; start a new one", session_name(session));
    if (!session_is_tty(session))
        return err_set(err, ERR_NOT_AVAILABLE,
                       "'%s' has no terminal that could hide a secret; use ue write",
                       session_name(session));
    bool any = forget || schema_bool(tool, params, "stage", false) ||
               schema_bool(tool, params, "blind", false);
    return any ? 0 : secret_check(session, err);
}

static void cmd_secret_forget(struct request *request, struct session *session)
{
    struct json *result = json_object_new();
    json_add_bool(result, "forgotten", secret_forget(session));
    request_reply(request, result);
}

static bool cmd_secret_begin(struct cmd_context *ctx, struct request *request,
                             struct session *session)
{
    BUG_UNLESS(session_is_live(session) && session_is_tty(session));
    const struct json *params = request_params(request);
    const struct tool *tool = &tools[TOOL_TYPE_SECRET];
    const char *client = meta_str(request, "client");
    struct secret_call *call = xcalloc(1, sizeof *call);
    *call = (struct secret_call){.ctx = ctx,
                                 .peer = request_peer(request),
                                 .number = session_number(session),
                                 .stage = schema_bool(tool, params, "stage", false),
                                 .blind = schema_bool(tool, params, "blind", false),
                                 .expire_ms = schema_int(tool, params, "expire_ms", 300000),
                                 .author = meta_author(ctx, request, INPUT_BY_PERSON)};
    snprintf(call->client, sizeof call->client, "%s", client ? client : "");
    call->author.client = call->client;
    call->author.call_id = NULL;
    if (stream_begin(request, &handlers, call))
        return true;
    free(call);
    return false;
}

void cmd_TYPE_SECRET(struct cmd_context *ctx, struct request *request)
{
    struct err err = {0};
    struct session *session = meta_session(ctx, json_get(request_params(request), "session_id"),
                                           &err);
    if (!session || cmd_secret_check(ctx, request, session, &err) < 0) {
        request_fail(request, &err);
    } else if (schema_bool(&tools[TOOL_TYPE_SECRET], request_params(request), "forget", false)) {
        cmd_secret_forget(request, session);
    } else if (!cmd_secret_begin(ctx, request, session)) {
        err_set(&err, ERR_INVALID_REQUEST,
                "'type_secret' needs a connection of its own; wait for the answers that are due on "
                "this one");
        request_fail(request, &err);
    } else {
        request_reply(request, describe_session(session));
    }
}
