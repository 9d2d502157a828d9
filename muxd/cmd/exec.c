/* exec: exec_command: starts a command, or a declared session, as a session. */
#include "base/strv.h"
#include "cmd/attach_terminal.h"
#include "cmd/command.h"
#include "cmd/failure_words.h"
#include "cmd/gate.h"
#include "cmd/gate_default.h"
#include "cmd/hidden.h"
#include "cmd/meta.h"
#include "cmd/op.h"
#include "cmd/patching.h"
#include "cmd/sandboxing.h"
#include <stdlib.h>
#include <string.h>

static int command_from(struct command *command, struct cmd_context *ctx, struct request *request,
                        char *const *env, struct err *err)
{
    const struct tool *tool = &tools[TOOL_EXEC_COMMAND];
    const struct json *params = request_params(request), *cmd = json_get(params, "cmd");
    const char *text = json_str(cmd, NULL);
    if (text)
        return command_from_call(command, ctx->config, request, tool, text, env, err);
    if (*json_str(json_first(cmd), NULL))
        return command_from_words(command, ctx->config, cmd, err);
    return err_set(err, ERR_ARGUMENTS,
                   "failed to parse function arguments: invalid value: `cmd` begins with an empty "
                   "string, expected the name of a program");
}

static int start_command(struct op *op, struct session **session, struct err *err)
{
    const struct json *params = request_params(op->base.request);
    const struct config *cfg = op->base.ctx->config;
    bool tty = schema_bool(op->base.tool, params, "tty", false);
    struct command command = {0};
    char *cwd = meta_cwd(op->base.request, schema_str(op->base.tool, params, "workdir", NULL), err);
    enum meta_env_for whose = tty && meta_bool(op->base.request, "human") ? META_ENV_PEOPLE
                              : meta_bool(op->base.request, "verb")       ? META_ENV_CALLER
                                                                          : META_ENV_TOOLS;
    char **env = cwd ? meta_env(op->base.ctx, op->base.request, whose, json_get(params, "env"), err)
                     : NULL;
    int result = env ? command_from(&command, op->base.ctx, op->base.request, env, err) : err->code;
    struct gate gate = {op->base.ctx, op->base.request, op->base.tool, cmd_EXEC_COMMAND,
                        command.argv, env, cwd, tty, {.confined = false}, NULL, NULL, false,
                        {.memory_bytes = 0}};
    if (result == 0) {
        result = gate_command(&gate, err);
        op->base.command = failure_words_joined(command.argv);
    }
    if (result == 0) {
        struct session_spec spec = {
            .name = schema_str(op->base.tool, params, "name", NULL),
            .cmd = command.shown,
            .argv = command.argv,
            .env = env,
            .cwd = cwd,
            .tty = tty,
            .stdin_open = schema_bool(op->base.tool, params, "stdin", false),
            .rows = (int)schema_int(op->base.tool, params, "rows", cfg->defaults.rows),
            .cols = (int)schema_int(op->base.tool, params, "cols", cfg->defaults.cols),
            .umask = meta_umask(op->base.request),
            .record = cfg->defaults.record,
            .on_slow = cfg->defaults.on_slow == CONFIG_ON_SLOW_PAUSE ? SLOW_PAUSE : SLOW_DROP,
            .request_hash = meta_request_hash(op->base.request)};
        if (schema_bool(op->base.tool, params, "follow", false))
            spec.follower = inflight_follower(&op->base, true);
        command_limits(&spec, &gate.limits);
        spec.sandbox = gate.sandboxing.confined ? &gate.sandboxing.wish : NULL;
        meta_source(op->base.request, op->base.tool, &spec);
        spec.default_name = command.name;
        spec.policy = gate.policy;
        spec.on_record = gate.record;
        spec.judged = gate.judged;
        result = registry_create(op->base.ctx->registry, &spec, inflight_spawned, &op->base,
                                 session, err);
    }
    sandboxing_fini(&gate.sandboxing);
    gate_end(&gate, result, err);
    command_fini(&command);
    strv_free(env);
    free(cwd);
    return result;
}

static int cmd_exec_start(struct op *op, struct session **session, struct err *err)
{
    const struct json *params = request_params(op->base.request);
    const char *name = schema_str(op->base.tool, params, "name", NULL);
    uint64_t hash = meta_request_hash(op->base.request);
    *session = hash ? registry_by_request(op->base.ctx->registry, hash) : NULL;
    if (*session) { /* a retry: it was started before the worker died */
        inflight_began_with(&op->base, *session);
        return 0;
    }
    inflight_starting(&op->base);
    int result = 0;
    if (!schema_has(params, "cmd") && name) {
        char **env = meta_env(op->base.ctx, op->base.request, META_ENV_PEOPLE,
                              json_get(params, "env"), err);
        result = env ? registry_start_declared(op->base.ctx->registry, name, env, inflight_spawned,
                                               &op->base, session, err)
                     : err->code;
        strv_free(env);
    } else {
        result = start_command(op, session, err);
    }
    if (result != 0)
        inflight_not_starting(&op->base);
    return result;
}

/* Refuses arguments that would have no effect. */
static int check_combination(struct op *op, bool declared, struct err *err)
{
    static const char *const from_config[] = {"workdir", "shell", "login", "rows",
                                              "cols",    "stdin", "sandbox", NULL};
    const struct json *params = request_params(op->base.request);
    const char *name = schema_str(op->base.tool, params, "name", NULL);
    for (const char *const *at = from_config; declared && name && *at; at++)
        if (schema_has(params, *at))
            return err_set(err, ERR_ARGUMENTS,
                           "failed to parse function arguments: [session %s] of the config sets "
                           "`%s`; leave it out, or give a command",
                           name, *at);
    if (!declared && (schema_has(params, "rows") || schema_has(params, "cols")) &&
        !schema_bool(op->base.tool, params, "tty", false))
        return err_set(
            err, ERR_ARGUMENTS,
            "failed to parse function arguments: `rows` and `cols` need a PTY; use tty");
    return 0;
}

void cmd_EXEC_COMMAND(struct cmd_context *ctx, struct request *request)
{
    struct session *session;
    struct wait_spec spec;
    struct err err;
    const struct tool *tool = &tools[TOOL_EXEC_COMMAND];
    const struct json *params = request_params(request);
    if (gate_default_waits(ctx, request, cmd_EXEC_COMMAND) ||
        gate_refuses_arguments(ctx, request, tool) ||
        hidden_waits(ctx, request, tool, cmd_EXEC_COMMAND))
        return;
    /* the daemon would apply the patch outside; the program apply_patch does inside what it may */
    if (!sandboxing_wanted(tool, params) &&
        patching_takes(ctx, request, tool, json_get(params, "cmd"),
                       schema_str(tool, params, "workdir", NULL)))
        return;
    struct op *op = op_new(ctx, request, tool);
    if (!op)
        return;
    /* whether a declared session has a terminal is known once it has started */
    bool declared = !schema_has(params, "cmd");
    int result = check_combination(op, declared, &err);
    if (result == 0)
        result = op_wait_spec(op, NULL, true,
                              declared || schema_bool(op->base.tool, params, "tty", false), &spec,
                              &err);
    if (result == 0)
        result = cmd_exec_start(op, &session, &err);
    if (result != 0) {
        if (result < 0)
            op_fail(op, &err);
        else /* asked again, it begins anew: the wait for a person is not the call's */
            gate_park(ctx, inflight_give_back(&op->base));
        return;
    }
    if (!session_is_tty(session))
        spec.ready = false;
    attach_terminal_start(request, session);
    inflight_follow(&op->base, session, true);
    /* too many waits: the call fails, the session goes on */
    if (inflight_wait(&op->base, session, &spec, &err) < 0)
        op_fail(op, &err);
}
