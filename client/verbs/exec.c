/* exec: `ue exec`: runs a command, or a configured session, as if it were run in place. */
#include "client/attach/attach.h"
#include "client/print/say.h"
#include "client/rpc/input.h"
#include "client/rpc/talk.h"
#include "client/verbs/feed.h"
#include "client/verbs/run.h"

static bool attaches(const struct ue *ue)
{
    return args_has(&ue->args, "attach");
}

/* Without any of these it waits for the end, as ssh does. */
static bool is_one_shot(const struct ue *ue)
{
    static const char *const others[] = {"name",  "tty",      "attach", "yield", "until",
                                         "ready", "no-ready", "quiet",  "exit"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (args_has(&ue->args, others[i]))
            return false;
    return true;
}

static int exec_fill(struct ue *ue, struct json *params, struct err *err)
{
    (void)err;
    if (is_one_shot(ue))
        params_set(params, "exit", json_bool_new(true));
    if (args_has(&ue->args, "argv") && ue->args.operand_count > 0)
        params_operands(ue, params, "cmd");
    if (attaches(ue)) {
        params_set(params, "tty", json_bool_new(true));
        params_wait(params, 0);
    }
    return 0;
}

static int exec_run(struct ue *ue, struct json *params)
{
    if (attaches(ue))
        return attach_new_session(ue, params);
    if (args_has(&ue->args, "stdin"))
        return feed_talk(ue, params);
    return talk(ue, "exec_command", params, talk_ask);
}

/* Called at the end: the writer of a pipe may be slower than we are. */
static void look_at_input(const struct ue *ue)
{
    bool given = args_has(&ue->args, "stdin") || args_has(&ue->args, "args") || attaches(ue);
    if (!given && input_is_waiting())
        say_note("standard input: has data that the command was not given; --stdin feeds it to the "
                 "command");
}

int verb_EXEC(struct ue *ue)
{
    struct err err;
    bool person = !args_has(&ue->args, "args") && (args_has(&ue->args, "tty") || attaches(ue));
    struct run how = {.meta = META_PLACE | META_ID | (person ? META_HUMAN : 0), .fill = exec_fill};
    struct json *params = run_params(ue, &how, &err);
    if (!params)
        return ue_fail(ue, &err);
    int status = exec_run(ue, params);
    json_free(params);
    look_at_input(ue);
    return status;
}
