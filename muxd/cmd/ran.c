/* ran: list_commands and read_command: the commands that ran in a session, whoever typed them. */
#include "cmd/running.h"
#include "cmd/describe.h"
#include "cmd/meta.h"
#include "session/nonce.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct session *ran_session(struct cmd_context *ctx, struct request *request,
                                   struct err *err)
{
    struct session *session = meta_session(ctx, json_get(request_params(request), "session_id"),
                                           err);
    if (!session)
        return NULL;
    if (!session_is_integrated(session)) {
        err_set(err, ERR_NOT_AVAILABLE,
                "'%s' was never integrated, so its commands are not known; `ue integrate %s` makes "
                "its program tell of them, and `ue run %s CMD` does, too",
                session_name(session), session_name(session), session_name(session));
        return NULL;
    }
    commands_catch_up(session);
    return session;
}

void cmd_LIST_COMMANDS(struct cmd_context *ctx, struct request *request)
{
    struct err err = {0};
    struct session *session = ran_session(ctx, request, &err);
    if (!session) {
        request_fail(request, &err);
        return;
    }
    struct json *result = json_object_new(), *list = json_add_array(result, "commands");
    size_t count = commands_count(session),
           most = (size_t)schema_int(&tools[TOOL_LIST_COMMANDS], request_params(request), "last",
                                     (int64_t)count);
    for (size_t i = count > most ? count - most : 0; i < count; i++) {
        const struct ran_command *command = commands_at(session, i);
        struct json *one = json_add_object(list, NULL);
        running_describe(one, command);
        json_add_text(one, "who", input_who_word(command->who));
        if (command->client[0])
            json_add_text(one, "client", command->client);
    }
    json_add_int(result, "dropped", (int64_t)commands_dropped(session));
    json_add_int(result, "number", (int64_t)session_number(session));
    json_add_text(result, "name", session_name(session));
    request_reply(request, result);
}

/* -1 is the last one, -2 the one before it; other numbers are ids. */
static const struct ran_command *find_command(struct session *session, const char *which,
                                              struct err *err)
{
    char *end;
    size_t count = commands_count(session);
    long long number = strtoll(which, &end, 10);
    const struct ran_command *found = NULL;
    if (*end || end == which)
        err_set(err, ERR_ARGUMENTS,
                "'%s': is no command; give -1 for the last one, -2 for the one before, or an id of "
                "`ue history %s`",
                which, session_name(session));
    else if (number < 0 && number >= -(long long)count)
        found = commands_at(session, count - (size_t)-number);
    else if (number >= 0)
        found = commands_by_id(session, (uint64_t)number);
    if (!found && !err->code)
        err_set(
            err, ERR_ARGUMENTS,
            "'%s': '%s' has no such command among the %zu that are known; `ue history %s` lists "
            "them",
            which, session_name(session), count, session_name(session));
    return found;
}

void cmd_READ_COMMAND(struct cmd_context *ctx, struct request *request)
{
    struct err err = {0};
    const struct tool *tool = &tools[TOOL_READ_COMMAND];
    struct session *session = ran_session(ctx, request, &err);
    const struct ran_command *command =
        session
            ? find_command(session, schema_str(tool, request_params(request), "which", NULL), &err)
            : NULL;
    if (!command) {
        request_fail(request, &err);
        return;
    }
    struct json *result = json_object_new();
    const struct running_output output = {
        .tool = tool,
        .params = request_params(request),
        .from = command->from,
        .to = command->runs ? journal_head(session_journal(session)) : command->to};
    running_describe(result, command);
    json_free(json_detach(result, "from"));
    json_free(json_detach(result, "to"));
    running_add_output(result, session, &output);
    json_add_text(result, "who", input_who_word(command->who));
    json_add_int(result, "number", (int64_t)session_number(session));
    json_add_text(result, "name", session_name(session));
    request_reply(request, result);
}
