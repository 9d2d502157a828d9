/* run: owns the steps of a verb: arguments from the command line, one call, its answer, the exit
 * status. */
#include "client/verbs/run.h"
#include "base/bug.h"
#include "client/print/members.h"
#include "client/print/say.h"
#include "client/rpc/talk.h"
#include "wire/tool.h"
#include <string.h>

static bool run_is_given(const struct ue *ue, const char *option)
{
    return args_next(&ue->args, option, NULL) != NULL;
}

struct json *run_params(struct ue *ue, const struct run *run, struct err *err)
{
    BUG_UNLESS(ue->args.verb);
    bool object = run_is_given(ue, "args");
    struct json *params = object ? params_from_args(ue, err) : params_map(&ue->args);
    if (!object && run->fill && run->fill(ue, params, err) < 0) {
        json_free(params);
        return NULL;
    }
    if (params)
        params_meta(ue, params, object ? run->meta : run->meta | META_VERB);
    return params;
}

static const char *tool_of(const struct ue *ue, const struct run *run)
{
    const char *tool = run->tool ? run->tool : ue->args.verb->tool;
    BUG_UNLESS(tool);
    return tool;
}

static void run_print_text(const struct json *result)
{
    size_t len = 0;
    const char *text = json_get_str(result, "content", &len);
    struct buf out = BUF_INIT;
    if (!text)
        text = json_get_str(result, "text", &len);
    if (!text) {
        members_append(&out, result);
        text = out.data ? out.data : "";
        len = out.len;
    }
    say_text(text, len);
    buf_fini(&out);
}

static int run_show(struct ue *ue, const struct run *run, const struct json *params,
                    const struct json *result)
{
    if (run_is_given(ue, "json"))
        say_json(result);
    else if (run->print)
        run->print(ue, params, result);
    else
        run_print_text(result);
    return run->status ? run->status(ue, result) : 0;
}

int run_verb(struct ue *ue, const struct run *run)
{
    struct msg_answer answer;
    struct err err = {0};
    int status;
    struct json *params = run_params(ue, run, &err);
    if (!params)
        return ue_fail(ue, &err);
    if (call_run(&ue->conn, tool_of(ue, run), params, run->call, &answer, &err) == 0)
        status = run_show(ue, run, params, answer.result);
    else if (run->fail)
        status = run->fail(ue, params, &err);
    else
        status = talk_fail(ue, params, &err);
    msg_answer_fini(&answer);
    json_free(params);
    return status;
}

int run_talk(struct ue *ue, const struct run *run)
{
    struct err err = {0};
    struct json *params = run_params(ue, run, &err);
    if (!params)
        return ue_fail(ue, &err);
    int status = talk(ue, tool_of(ue, run), params, talk_ask);
    json_free(params);
    return status;
}

/* A tool with a wait can be interrupted; one that may do harm when it runs twice is sent once. */
int run_plain(struct ue *ue)
{
    const struct tool *tool = tool_by_name(ue->args.verb->tool);
    BUG_UNLESS(tool); /* the row of the verb names one */
    bool harmless = tool->hints & (TOOL_READ_ONLY | TOOL_IDEMPOTENT);
    if (tool_arg_by_name(tool, "yield_time_ms"))
        return run_talk(ue, &(struct run){0});
    return run_verb(ue, &(struct run){.call = harmless ? CALL_AGAIN : CALL_ONCE});
}
