/* record: record_session: begins, tells of, and ends the recording of a session. */
#include "cmd/record.h"
#include "base/bug.h"
#include "base/mem.h"
#include "cmd/attachment.h"
#include "cmd/meta.h"
#include "parts/record/recorder.h"
#include "wire/schema.h"
#include <stdlib.h>
#include <string.h>

struct recording { /* a request that waits for the disk */
    struct cmd_context *ctx;
    struct request *request; /* NULL: cancelled; the recording goes on */
    uint64_t number;
    bool stop, was_on; /* was_on: the session is recorded already */
};

static void cmd_record_on_cancel(void *arg)
{
    struct recording *recording = arg;
    recording->request = NULL;
}

static void reply(struct recording *recording, const struct recorder_facts *facts)
{
    struct json *result = json_object_new();
    struct session *session = registry_by_number(recording->ctx->registry, recording->number);
    json_add_int(result, "session_id", (int64_t)recording->number);
    if (session)
        json_add_text(result, "name", session_name(session));
    json_add_bool(result, "recorded", !recording->stop);
    record_describe(result, facts);
    request_reply(recording->request, result);
}

static void record_tell(struct attachment *attachment, struct session *session, bool input)
{
    char *text = xasprintf("%s: is being recorded%s", session_name(session),
                           input ? ", with what is typed" : "");
    attachment_notice(attachment, text);
    free(text);
}

void record_tell_comer(struct attachment *attachment, struct session *session)
{
    struct recorder_facts facts;
    if (!recorder_is_on(session, &facts))
        return;
    record_tell(attachment, session, facts.input);
    free(facts.path);
}

static void record_tell_all(const struct recording *recording, bool input)
{
    struct session *session = registry_by_number(recording->ctx->registry, recording->number);
    struct attachment *at = session ? recording->ctx->attachments : NULL;
    for (; at; at = at->next)
        if (at->number == recording->number)
            record_tell(at, session, input);
}

static void cmd_record_on_done(void *arg, const struct err *err, const struct recorder_facts *facts)
{
    struct recording *recording = arg;
    BUG_UNLESS(err->code || facts);
    if (!err->code && !recording->stop && !recording->was_on)
        record_tell_all(recording, facts->input);
    if (recording->request) {
        request_on_cancel(recording->request, NULL, NULL);
        if (err->code)
            request_fail(recording->request, err);
        else
            reply(recording, facts);
    }
    free(recording);
}

void record_describe(struct json *into, const struct recorder_facts *facts)
{
    json_add_text(into, "path", facts->path);
    json_add_int(into, "format", facts->format);
    json_add_bool(into, "input", facts->input);
    json_add_int(into, "part", facts->part);
    json_add_int(into, "bytes", (int64_t)facts->bytes);
}

static int cmd_record_begin(struct recording *recording, struct session *session,
                            const struct json *params, struct err *err)
{
    const struct tool *tool = &tools[TOOL_RECORD_SESSION];
    struct recorder_spec spec = {.path = schema_str(tool, params, "path", NULL),
                                 .format = (int)schema_int(tool, params, "format", 0),
                                 .input = schema_bool(tool, params, "input", false)};
    if (recording->stop && (spec.path || spec.format || spec.input))
        return err_set(err, ERR_ARGUMENTS,
                       "failed to parse function arguments: `stop` stands alone");
    if (spec.path && spec.path[0] != '/')
        return err_set(err, ERR_ARGUMENTS,
                       "failed to parse function arguments: `path`: '%.80s' is not absolute",
                       spec.path);
    return recording->stop ? recorder_stop(session, cmd_record_on_done, recording, err)
                           : recorder_start(session, &spec, cmd_record_on_done, recording, err);
}

void cmd_RECORD_SESSION(struct cmd_context *ctx, struct request *request)
{
    const struct json *params = request_params(request);
    struct err err = {0};
    struct session *session = meta_session(ctx, json_get(params, "session_id"), &err);
    if (!session) {
        request_fail(request, &err);
        return;
    }
    struct recording *recording = xcalloc(1, sizeof *recording);
    *recording = (struct recording){
        .ctx = ctx,
        .request = request,
        .number = session_number(session),
        .was_on = recorder_is_on(session, NULL),
        .stop = schema_bool(&tools[TOOL_RECORD_SESSION], params, "stop", false)};
    if (cmd_record_begin(recording, session, params, &err) < 0) {
        free(recording);
        request_fail(request, &err);
        return;
    }
    request_on_cancel(request, cmd_record_on_cancel, recording);
}
