/* calls: owns the calls of a client that have no answer yet. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/lib/c/client.h"
#include "client/rpc/call.h"
#include "client/rpc/release.h"
#include <stdlib.h>
#include <string.h>

static size_t calls_find(const struct ue_client *client, int64_t number)
{
    size_t at = 0;
    while (at < client->count && client->calls[at]->number != number)
        at++;
    return at;
}

static void calls_ignore(void *arg, struct msg_answer *answer)
{
    (void)arg;
    msg_answer_fini(answer);
}

/* Takes answer, and the call out of the list; then calls back. */
static void calls_settle(struct ue_client *client, size_t at, struct msg_answer *answer)
{
    BUG_UNLESS(at < client->count);
    struct client_call *call = client->calls[at];
    memmove(client->calls + at, client->calls + at + 1,
            (--client->count - at) * sizeof *client->calls);
    client->sent -= at < client->sent;
    client->bytes -= call->line.len;
    client_answer_fn *fn = call->fn;
    void *arg = call->arg;
    buf_fini(&call->line);
    free(call);
    client->called_back += fn != calls_ignore;
    fn(arg, answer);
}

static void calls_settle_failed(struct ue_client *client, size_t at, const struct err *err)
{
    struct msg_answer failed = {.err = *err};
    BUG_UNLESS(err->code < 0);
    calls_settle(client, at, &failed);
}

/* What the daemon would only refuse, with all that follows it in the line. */
static bool calls_is_too_large(const struct ue_client *client, const struct client_call *call,
                               struct err *err)
{
    if (client->max_request <= 0 || (int64_t)call->line.len <= client->max_request)
        return false;
    err_set(err, ERR_TOO_LARGE,
            "the request has %zu bytes, the daemon takes %lld ([limits] max_request); send it in "
            "pieces",
            call->line.len, (long long)client->max_request);
    return true;
}

void calls_send(struct ue_client *client)
{
    struct err err;
    BUG_UNLESS(client->sent <= client->count);
    while (client->sent < client->count && client->sent < client->window) {
        struct client_call *call = client->calls[client->sent];
        if (calls_is_too_large(client, call, &err)) {
            calls_settle_failed(client, client->sent, &err);
            continue;
        }
        client->sent++;
        call->handed = true;
        buf_append(&client->out, call->line.data, call->line.len);
    }
    reach_flush(client);
}

static int depth_of(const struct json *value)
{
    int deepest = 0;
    for (const struct json *it = json_first(value); it; it = json_next(it)) {
        int depth = depth_of(it);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

/* What no daemon would read, and what a client can't read again before it sends it again. */
static int calls_check(const char *method, const struct tool *tool, const struct json *params,
                       struct err *err)
{
    if (depth_of(params) >= JSON_DEPTH_MAX)
        return err_set(err, ERR_ARGUMENTS, "the arguments are nested deeper than %d",
                       JSON_DEPTH_MAX - 2);
    if (tool == &tools[TOOL_ATTACH] || tool == &tools[TOOL_TYPE_SECRET])
        return err_set(err, ERR_NOT_AVAILABLE,
                       "'%s': makes a stream of frames of its connection; run ue for it", method);
    return 0;
}

int64_t calls_add(struct ue_client *client, const char *method, struct json *params,
                  client_answer_fn *fn, void *arg, struct err *err)
{
    const struct tool *tool = tool_by_name(method);
    int result = calls_check(method, tool, params, err);
    if (result == 0 &&
        (client->count >= CLIENT_CALLS_MAX || client->bytes >= CLIENT_CALLS_BYTES_MAX))
        result = err_set(err, ERR_LIMIT,
                         "%zu calls of this client have no answer yet; wait for some of them",
                         client->count);
    if (result == 0 && client->closing)
        result = err_set(err, ERR_CANCELLED, "the client is being closed");
    if (result == 0)
        result = reach_open(client, err);
    if (result < 0) {
        json_free(params);
        return result;
    }
    struct client_call *call = xcalloc(1, sizeof *call);
    *call = (struct client_call){.number = client->conn.next_id++,
                                 .line = BUF_INIT,
                                 .begun_ms = clock_mono_ms(),
                                 .fn = fn,
                                 .arg = arg};
    call->repeats = tool && call_may_repeat(tool, params);
    meta_add(client, tool, params);
    msg_request(&call->line, call->number, method, params);
    json_free(params);
    if (calls_is_too_large(client, call, err)) {
        buf_fini(&call->line);
        free(call);
        return ERR_TOO_LARGE;
    }
    if (calls_asked(client) == 0)
        client->heard_ms = call->begun_ms;
    client->calls = xreallocarray(client->calls, client->count + 1, sizeof *client->calls);
    client->calls[client->count++] = call;
    client->bytes += call->line.len;
    int64_t number = call->number;
    calls_send(client);
    return number;
}

/* When the tables of this library allow what was refused, both are not of one release. */
static void calls_look_at_refusal(const struct ue_client *client, const struct client_call *call,
                                  struct err *refusal)
{
    struct err unused;
    if (refusal->code != ERR_ARGUMENTS && refusal->code != ERR_NO_SUCH_METHOD)
        return;
    struct json *request = json_parse(call->line.data, call->line.len, &unused);
    const char *method = json_get_str(request, "method", NULL);
    if (method && release_is_other(method, json_get(request, "params"), refusal))
        release_say("libue", client->version, refusal);
    json_free(request);
}

static void calls_notice(struct ue_client *client, const struct msg_answer *note)
{
    struct buf text = BUF_INIT;
    if (client->on_notice && note->data && json_print(&text, note->data)) {
        client->called_back++;
        client->on_notice(client->notice_arg, note->method, text.data);
    }
    buf_fini(&text);
}

void calls_answered(struct ue_client *client, struct msg_answer *answer)
{
    if (answer->method) {
        calls_notice(client, answer);
        msg_answer_fini(answer);
        return;
    }
    size_t at = answer->id.kind == MSG_ID_NUMBER ? calls_find(client, answer->id.number)
                                                 : client->count;
    /* of a request that could not be read; the daemon does not say which */
    if (answer->id.kind == MSG_ID_NONE && answer->err.code < 0 && client->sent == 1)
        at = 0;
    if (answer->id.kind == MSG_ID_NONE && answer->err.code < 0 && client->sent != 1) {
        struct err err = answer->err;
        msg_answer_fini(answer);
        reach_give_up(client, &err);
        return;
    }
    if (at == client->count || at >= client->sent) { /* of a cancel, or of nobody */
        msg_answer_fini(answer);
        return;
    }
    if (client->calls[at]->fn != subscribe_on_answer)
        connection_heard(&client->conn);
    if (answer->err.code < 0)
        calls_look_at_refusal(client, client->calls[at], &answer->err);
    calls_settle(client, at, answer);
    calls_send(client);
}

bool calls_fail(struct ue_client *client, int64_t number, const struct err *err)
{
    size_t at = calls_find(client, number);
    if (at == client->count)
        return false;
    calls_settle_failed(client, at, err);
    return true;
}

/* Only those that there are now: who is called back may begin anew. */
void calls_fail_all(struct ue_client *client, const struct err *err)
{
    int64_t last = client->conn.next_id;
    while (client->count > 0 && client->calls[0]->number < last)
        calls_settle_failed(client, 0, err);
}

static void calls_post_cancel(struct ue_client *client, struct client_call *call)
{
    struct json *params = json_object_new();
    json_add_int(params, "id", call->number);
    msg_request(&client->out, client->conn.next_id++, "cancel", params);
    json_free(params);
    call->cancelled = true;
    reach_flush(client);
}

int calls_cancel(struct ue_client *client, int64_t number, struct err *err)
{
    size_t at = calls_find(client, number);
    if (at == client->count)
        return err_set(err, ERR_ARGUMENTS, "%lld: no call of that number waits for an answer",
                       (long long)number);
    if (at < client->sent) {
        if (!client->calls[at]->cancelled)
            calls_post_cancel(client, client->calls[at]);
        return 0;
    }
    struct err cancelled;
    err_set(&cancelled, ERR_CANCELLED, "cancelled while no daemon had it");
    calls_settle_failed(client, at, &cancelled);
    return 0;
}

void calls_forget(struct ue_client *client, int64_t number)
{
    struct err unused;
    size_t at = calls_find(client, number);
    if (at == client->count)
        return;
    client->calls[at]->fn = calls_ignore;
    calls_cancel(client, number, &unused);
}

void calls_lost(struct ue_client *client)
{
    struct err once, cancelled;
    int64_t last = client->conn.next_id;
    err_set(&once, ERR_NO_DAEMON,
            "'%s': the daemon went away before it answered; look whether it was done",
            client->conn.path);
    err_set(&cancelled, ERR_CANCELLED, "cancelled; the daemon went away before it answered");
    for (size_t at = 0; at < client->count && client->calls[at]->number < last;) {
        struct client_call *call = client->calls[at];
        if (call->handed && (call->cancelled || !call->repeats)) {
            calls_settle_failed(client, at, call->cancelled ? &cancelled : &once);
            at = 0; /* who was called back may have changed the list */
            continue;
        }
        at++;
    }
    for (size_t at = 0; at < client->count; at++) {
        struct client_call *call = client->calls[at];
        if (!call->handed)
            continue;
        client->bytes -= call->line.len;
        call_again(&call->line, call->begun_ms);
        client->bytes += call->line.len;
        call->handed = false;
    }
}

size_t calls_asked(const struct ue_client *client)
{
    size_t asked = 0;
    for (size_t at = 0; at < client->count; at++)
        asked += client->calls[at]->fn != subscribe_on_answer;
    return asked;
}
