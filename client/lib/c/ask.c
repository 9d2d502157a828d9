/* ask: owns the calls of ue.h, and the wait for those that are waited for. */
#include "base/bug.h"
#include "base/mem.h"
#include "client/lib/c/client.h"
#include <stdlib.h>
#include <string.h>

struct wait {
    bool over;
    struct msg_answer answer;
};

static void ask_on_answer(void *arg, struct msg_answer *answer)
{
    struct wait *wait = arg;
    wait->answer = *answer;
    wait->over = true;
}

/* Takes params. */
static int ask_for(struct ue_client *client, const char *method, struct json *params,
                   struct ue_answer **answer, struct ue_error *error)
{
    struct err err = {0};
    struct wait wait = {.over = false};
    if (calls_add(client, method, params, ask_on_answer, &wait, &err) < 0)
        return error_tell(error, &err);
    while (!wait.over)
        reach_turn(client, INT64_MAX);
    foreign_watch(client);
    if (wait.answer.err.code == 0) {
        *answer = answer_make(&wait.answer);
        return 0;
    }
    int code = error_of_answer(error, &wait.answer);
    msg_answer_fini(&wait.answer);
    return code;
}

static struct json *ask_arguments(const char *arguments, struct err *err)
{
    if (!arguments)
        return json_object_new();
    struct json *params = json_parse(arguments, strlen(arguments), err);
    if (params && json_type(params) == JSON_OBJECT)
        return params;
    if (params)
        err_set(err, ERR_ARGUMENTS, "the arguments are no JSON object, but %s",
                json_type_name(json_type(params)));
    else
        err_prefix(err, "the arguments");
    err->code = ERR_ARGUMENTS;
    json_free(params);
    return NULL;
}

int ue_call(struct ue_client *client, const char *method, const char *arguments,
            struct ue_answer **answer, struct ue_error *error)
{
    struct err err = {0};
    struct json *params = ask_arguments(arguments, &err);
    return params ? ask_for(client, method, params, answer, error) : error_tell(error, &err);
}

struct sending { /* what a callback of ue_send needs; owned by the call */
    ue_answer_fn *fn;
    void *arg;
};

static void ask_on_sent(void *arg, struct msg_answer *answer)
{
    struct sending sending = *(struct sending *)arg;
    struct ue_error error;
    free(arg);
    if (answer->err.code == 0) {
        sending.fn(sending.arg, answer_make(answer), NULL);
        return;
    }
    error_of_answer(&error, answer);
    msg_answer_fini(answer);
    sending.fn(sending.arg, NULL, &error);
}

int64_t ue_send(struct ue_client *client, const char *method, const char *arguments,
                ue_answer_fn *fn, void *arg, struct ue_error *error)
{
    struct err err = {0};
    struct json *params = ask_arguments(arguments, &err);
    if (!params)
        return error_tell(error, &err);
    struct sending *sending = xcalloc(1, sizeof *sending);
    *sending = (struct sending){fn, arg};
    int64_t number = calls_add(client, method, params, ask_on_sent, sending, &err);
    if (number < 0) {
        free(sending);
        return error_tell(error, &err);
    }
    foreign_watch(client);
    return number;
}

int ue_cancel(struct ue_client *client, int64_t number, struct ue_error *error)
{
    struct err err = {0};
    int result = subscribe_cancel(client, number) ? 0 : calls_cancel(client, number, &err);
    foreign_watch(client);
    return result < 0 ? error_tell(error, &err) : 0;
}

char *ue_quote(const char *data, size_t size)
{
    struct buf quoted = BUF_INIT;
    struct json *text = json_string_new(data, size);
    json_print(&quoted, text);
    json_free(text);
    return buf_take(&quoted);
}

#define ASK_TOOL(ident, tool)                                                                      \
    int ue_##tool##_sized(struct ue_client *client, const struct ue_##tool##_args *args,           \
                          size_t args_size, struct ue_answer **answer, struct ue_error *error)     \
    {                                                                                              \
        struct err err = {0};                                                                      \
        struct json *params = arguments_make(&tools[TOOL_##ident], args, args ? args_size : 0,     \
                                             &err);                                                \
        return params ? ask_for(client, #tool, params, answer, error) : error_tell(error, &err);   \
    }
ASK_TOOL(EXEC_COMMAND, exec_command)
ASK_TOOL(WRITE_STDIN, write_stdin)
ASK_TOOL(RUN_COMMAND, run_command)
ASK_TOOL(READ_OUTPUT, read_output)
ASK_TOOL(LIST_SESSIONS, list_sessions)
ASK_TOOL(KILL_SESSION, kill_session)
ASK_TOOL(READ_SCREEN, read_screen)
ASK_TOOL(RUN_STEPS, run_steps)
