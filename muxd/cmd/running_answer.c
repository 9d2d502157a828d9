/* command_answer: owns what an answer says of a command: what ran where and when, how it ended,
 * what it has printed, and by what all that is known. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cmd/answer.h"
#include "cmd/running.h"
#include "cmd/describe.h"
#include "wire/text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct ran_command *running_command(const struct running *running,
                                          const struct session *session)
{
    size_t count = commands_count(session);
    const struct ran_command *last = count > 0 ? commands_at(session, count - 1) : NULL;
    return running->first_id > 0 && last && last->id >= running->first_id ? last : NULL;
}

/* A paste may have been several commands: their output is one. */
static const struct ran_command *running_first(const struct running *running,
                                               const struct session *session)
{
    const struct ran_command *first = NULL;
    for (size_t i = running->first_id > 0 ? commands_count(session) : 0; i-- > 0;) {
        const struct ran_command *command = commands_at(session, i);
        if (command->id < running->first_id)
            break;
        first = command;
    }
    return first;
}

void running_describe(struct json *into, const struct ran_command *command)
{
    json_add_int(into, "id", (int64_t)command->id);
    json_add_text(into, "command", command->text);
    if (command->cwd)
        json_add_text(into, "cwd", command->cwd);
    describe_time(into, "start", command->begun_ms);
    if (!command->runs)
        describe_time(into, "end", command->ended_ms);
    json_add_bool(into, "running", command->runs);
    if (command->status >= 0)
        json_add_int(into, "status", command->status);
    json_add_int(into, "from", (int64_t)command->from);
    if (!command->runs)
        json_add_int(into, "to", (int64_t)command->to);
}

/* What ended the wait, and by what that is known. */
static void add_how(const struct running *running, struct json *into,
                    const struct wait_result *result, const struct ran_command *command)
{
    bool ready = result->reason == WAIT_READY, done = command && !command->runs;
    const char *reason = running->incomplete ? "incomplete" : wait_reason_word(result->reason);
    json_add_text(into, "by", result->reason == WAIT_EXIT ? "exit" : done ? "marks" : "prompt");
    json_add_text(into, "reason", done && ready ? "done" : reason);
    if (ready)
        json_add_text(into, "evidence", evidence_word(result->evidence));
    if (running->incomplete) {
        json_add_bool(into, "incomplete", true);
        json_add_bool(into, "interrupted", running->step == RUNNING_INTERRUPT);
    }
    if (running->why_not)
        json_add_text(into, "note", running->why_not);
}

/* The status of the command, where it is known; -1: not. */
static int running_answer_status(const struct session *session, const struct wait_result *result,
                                 const struct ran_command *command)
{
    int code;
    if (result->reason == WAIT_EXIT && session_has_exit(session, &code, NULL))
        return code;
    return command && !command->runs ? command->status : -1;
}

static void add_content(const struct running *running, struct session *session, struct json *into,
                        int status, bool done)
{
    size_t size;
    struct buf content = BUF_INIT;
    const struct tool *tool = running->base.tool;
    const struct json *params = request_params(running->base.request);
    const char *output = json_get_str(into, "output", &size);
    int64_t most = running->base.ctx->config->limits.max_output_tokens,
            tokens = schema_has(params, "max_output_tokens")
                         ? schema_int(tool, params, "max_output_tokens", 0)
                         : running->base.ctx->config->defaults.max_output_tokens;
    tokens = tokens < most ? tokens : most;
    if (!output)
        return;
    buf_printf(&content, "Wall time: %.4f seconds\n",
               text_wall_seconds(clock_mono_ns() - running->base.begun_ns));
    if (status >= 0)
        buf_printf(&content, "Command exited with code %d\n", status);
    else if (running->incomplete)
        buf_append_text(&content,
                        "Command is not complete: the program waits for the rest of it\n");
    else if (!done)
        buf_append_text(&content, "Command has not ended\n");
    if (session_is_live(session))
        buf_printf(&content, "Session ID %" PRIu64 " runs on\n", session_number(session));
    buf_append_text(&content, "Output:\n");
    text_formatted(&content, output, size, text_token_budget((uint64_t)tokens), true);
    json_add_buf(into, "content", &content);
}

/* Its own output, and what else may be in it: the echo of what was typed, and the prompt. */
static void add_output(const struct running *running, struct session *session, struct json *answer,
                       const struct wait_result *result)
{
    const struct json *params = request_params(running->base.request);
    const struct ran_command *last = running_command(running, session),
                             *first = running_first(running, session);
    uint64_t head = answer_end(session, running->typed_at);
    size_t size;
    char *typed = xasprintf("%s\r", json_get_str(params, "command", &size));
    struct running_output output = {.tool = running->base.tool,
                                    .params = params,
                                    .first_id = first ? first->id : 0,
                                    .from = first ? first->from : running->typed_at,
                                    .to = last && !last->runs ? last->to : head};
    if (last && last->to_prompt) {
        output.prompt = running->prompt.data;
        output.prompt_size = running->prompt.len;
    }
    bool none = running->incomplete || (running->marked && result->reason == WAIT_READY);
    if (!first && none) /* it was not begun */
        output.to = output.from;
    else if (!first)
        output = (struct running_output){.tool = output.tool,
                                         .params = params,
                                         .from = output.from,
                                         .to = output.to,
                                         .prompt = running->prompt.data,
                                         .prompt_size = running->prompt.len,
                                         .typed = typed};
    if (output.to < output.from)
        output.to = output.from;
    running_add_output(answer, session, &output);
    free(typed);
}

/* A command as it was asked for; its output is described by add_output. */
static void running_answer_add_command(const struct running *running, struct json *answer,
                                       const struct ran_command *command, int status)
{
    static const char *const others[] = {"command", "status", "from", "to"};
    const struct json *params = request_params(running->base.request);
    if (command)
        running_describe(answer, command);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        json_free(json_detach(answer, others[i]));
    json_add(answer, "command", json_copy(json_get(params, "command")));
    if (!command) {
        describe_time(answer, "start", running->typed_ms);
        describe_time(answer, "end", clock_real_ms());
    }
    if (status >= 0)
        json_add_int(answer, "status", status);
}

struct json *running_answer(struct running *running, struct session *session,
                            const struct wait_result *result)
{
    struct json *answer = json_object_new();
    const struct ran_command *command = running_command(running, session);
    BUG_UNLESS(running->base.request && !running->base.wait);
    int status = running_answer_status(session, result, command);
    running_answer_add_command(running, answer, command, status);
    add_output(running, session, answer, result);
    add_how(running, answer, result, command);
    if (session_is_live(session))
        json_add_int(answer, "session_id", (int64_t)session_number(session));
    json_add_int(answer, "number", (int64_t)session_number(session));
    json_add_text(answer, "name", session_name(session));
    describe_end(answer, session);
    json_add_double(answer, "wall_time_seconds",
                    text_wall_seconds(clock_mono_ns() - running->base.begun_ns));
    add_content(running, session, answer, status, command && !command->runs);
    return answer;
}

struct json *running_told(struct running *running, struct session *session)
{
    struct json *answer = json_object_new();
    struct buf text = BUF_INIT;
    json_add_int(answer, "session_id", (int64_t)session_number(session));
    json_add_text(answer, "name", session_name(session));
    json_add_bool(answer, "integrated", true);
    json_add_bool(answer, "already", running->step == RUNNING_PROMPT);
    buf_printf(&text, "%s: %s\n", session_name(session),
               running->step == RUNNING_PROMPT ? "is integrated already" : "is integrated");
    json_add_buf(answer, "content", &text);
    return answer;
}

size_t running_need(struct session *session, uint64_t from)
{
    uint64_t head = journal_head(session_journal(session)), bytes = head > from ? head - from : 0;
    return bytes < ANSWER_COLLECTED_MAX ? (size_t)bytes * 2 : 2 * (size_t)ANSWER_COLLECTED_MAX;
}
