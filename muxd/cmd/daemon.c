/* daemon: what a client asks of the daemon itself: hello, cancel, status, config, reload, stop,
 * upgrade. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/path.h"
#include "cmd/describe.h"
#include "cmd/gate.h"
#include "cmd/gate_default.h"
#include "cmd/sandboxing.h"
#include "parts/audit/audit.h"
#include "parts/events/events.h"
#include "parts/keyboard/keyboard.h"
#include "sys/tty_state.h"
#include "wire/schema.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const capabilities[] = {
    "exec",    "write",   "poll",  "kill",  "list",     "readers", "since",
    "until",   "ready",   "quiet", "keys",  "base64",   "streams", "cancel",
    "fail_on", "match", "upgrade", "oneshot", "patch", "tools", "keyboard", "secret",  "terminal"};

/* By which policy calls of this client are judged. */
static void add_policy(struct cmd_context *ctx, struct request *request, struct json *into)
{
    struct err err;
    const char *name;
    struct buf text = BUF_INIT;
    const struct config_policy *policy = gate_policy(ctx, request, &name, &err);
    if (err.code == 0 && !gate_default_is_worth_telling(policy))
        return;
    if (err.code < 0)
        buf_append_text(&text, err.text);
    else
        gate_default_words(ctx, name, policy, &text);
    json_add_buf(into, "policy", &text);
}

void cmd_HELLO(struct cmd_context *ctx, struct request *request)
{
    bool asks = schema_bool(&tools[TOOL_HELLO], request_params(request), "policy", false);
    if (asks && gate_default_waits(ctx, request, cmd_HELLO))
        return;
    struct json *result = json_object_new();
    json_add_text(result, "name", "muxd");
    json_add_text(result, "version", MUXD_VERSION);
    json_add_int(result, "protocol", MSG_PROTOCOL);
    json_add_int(result, "pid", getpid());
    json_add_text(result, "socket", ctx->socket_path);
    json_add_int(result, "requests_per_connection", ctx->config->limits.requests_per_connection);
    json_add_int(result, "max_request", (int64_t)ctx->config->limits.max_request_bytes);
    struct json *list = json_add_array(result, "capabilities");
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        json_add_text(list, NULL, capabilities[i]);
    if (asks)
        add_policy(ctx, request, result);
    request_reply(request, result);
}

void cmd_CANCEL(struct cmd_context *ctx, struct request *request)
{
    struct msg_id id;
    struct json *result = json_object_new();
    (void)ctx;
    bool known = msg_id_from_json(&id, json_get(request_params(request), "id")) &&
                 peer_cancel(request_peer(request), &id);
    json_add_bool(result, "cancelled", known);
    request_reply(request, result);
}

static void add_limit(void *arg, const struct config_item *item)
{
    json_add_text(arg, item->key, item->value);
}

/* The sessions whose keyboard a person holds, so that agents wait. */
static bool daemon_add_held(void *arg, struct session *session)
{
    struct keyboard_holder state;
    keyboard_holder_get(session, &state);
    if (state.kind != HOLDER_PERSON)
        return true;
    struct json *one = json_add_object(arg, session_name(session));
    json_add_int(one, "session_id", (int64_t)session_number(session));
    json_add_text(one, "owner", keyboard_holder_word(state.kind));
    describe_owner(one, &state);
    return true;
}

/* Where a config would be looked for first. */
static void add_missing_config(struct json *result)
{
    char *own = path_own_config();
    json_add_text(result, "config_missing", own);
    free(own);
}

void cmd_STATUS(struct cmd_context *ctx, struct request *request)
{
    struct registry_stats stats;
    struct json *result = json_object_new();
    registry_stats(ctx->registry, &stats);
    json_add_text(result, "version", MUXD_VERSION);
    json_add_int(result, "protocol", MSG_PROTOCOL);
    json_add_int(result, "pid", getpid());
    json_add_text(result, "socket", ctx->socket_path);
    json_add_text(result, "state", ctx->state_dir);
    json_add_text(result, "log", ctx->log_path);
    json_add_text(result, "config", ctx->config->path);
    if (!ctx->config->path)
        add_missing_config(result);
    json_add_text(result, "readiness", tty_state_selftest(NULL));
    sandboxing_status(ctx, result);
    audit_status(ctx->registry, result);
    gate_default_status(ctx, result);
    json_add_int(result, "live", stats.live);
    json_add_int(result, "ended", stats.ended);
    json_add_int(result, "next_number", (int64_t)stats.next_number);
    json_add_int(result, "journal_bytes", (int64_t)stats.journal_bytes);
    json_add_int(result, "waits", stats.waits);
    json_add_int(result, "listeners", events_count(ctx->registry));
    json_add_int(result, "process_passes", stats.passes);
    registry_each(ctx->registry, true, daemon_add_held, json_add_object(result, "keyboards"));
    ctx->ops->status(ctx->server, result);
    config_each(ctx->config, "limits", add_limit, json_add_object(result, "limits"));
    request_reply(request, result);
}

static void add_item(void *arg, const struct config_item *item)
{
    struct json *one = json_add_object(arg, NULL);
    json_add_text(one, "section", item->section);
    if (item->name)
        json_add_text(one, "name", item->name);
    json_add_text(one, "key", item->key);
    json_add_text(one, "value", item->value);
    if (item->line > 0)
        json_add_int(one, "line", item->line);
}

void cmd_CONFIG(struct cmd_context *ctx, struct request *request)
{
    struct err err;
    const char *section = schema_str(&tools[TOOL_CONFIG], request_params(request), "section", NULL);
    if (section && config_check_section(section, &err) < 0) {
        request_fail(request, &err);
        return;
    }
    struct json *result = json_object_new();
    struct buf text = BUF_INIT;
    json_add_text(result, "path", ctx->config->path);
    config_each(ctx->config, section, add_item, json_add_array(result, "values"));
    config_print(&text, ctx->config, section);
    json_add_buf(result, "text", &text);
    request_reply(request, result);
}

void cmd_RELOAD(struct cmd_context *ctx, struct request *request)
{
    struct err err;
    struct json *result = json_object_new();
    if (ctx->ops->reload(ctx->server, result, &err) < 0) {
        json_free(result);
        request_fail(request, &err);
        return;
    }
    json_add_text(result, "path", ctx->config->path);
    request_reply(request, result);
}

void cmd_STOP(struct cmd_context *ctx, struct request *request)
{
    struct err err;
    struct session *own = registry_of_process(ctx->registry, peer_pid(request_peer(request)));
    if (own && !schema_bool(&tools[TOOL_STOP], request_params(request), "self", false)) {
        err_set(&err, ERR_SELF,
                "'%s': you are running inside this session, which the stop would end; use --self "
                "to do it all the same",
                session_name(own));
        request_fail(request, &err);
        return;
    }
    ctx->ops->stop(ctx->server, request);
}

void cmd_UPGRADE(struct cmd_context *ctx, struct request *request)
{
    ctx->ops->upgrade(ctx->server, request);
}

void cmd_META(struct cmd_context *ctx, struct request *request)
{
    (void)ctx;
    BUG("'%s' is no method", request_method(request));
}
