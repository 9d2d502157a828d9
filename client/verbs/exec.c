/* exec: `ue exec`: a command, or a session that the config describes, as if it were run in place. */
#include "client/attach/attach.h"
#include "client/rpc/input.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "client/rpc/talk.h"
#include "client/verbs/feed.h"

static void add_command(const struct ue *ue, struct json *params)
{
    if (ue->args.operand_count > 0 && args_has(&ue->args, "argv"))
        params_operands(ue, params, "cmd");
    else
        params_joined(&ue->args, params, "cmd");
}

static void add_text(const struct args *args, struct json *params, const char *option, const char *key)
{
    if (args_has(args, option))
        json_add_text(params, key, args_get(args, option));
}

static struct json *params_of(const struct ue *ue)
{
    const struct args *args = &ue->args;
    struct json *params = json_object_new();
    int rows, cols;
    add_command(ue, params);
    add_text(args, params, "name", "name");
    add_text(args, params, "workdir", "workdir");
    add_text(args, params, "shell", "shell");
    params_environment(args, params);
    bool attach = args_has(args, "attach"), tty = attach || args_has(args, "tty");
    if (tty)
        json_add_bool(params, "tty", true);
    if (attach)
        json_add_int(params, "yield_time_ms", 0);
    if (args_has(args, "no-login"))
        json_add_bool(params, "login", false);
    if (args_has(args, "stdin"))
        json_add_bool(params, "stdin", true);
    if (args_size(args, "size", &rows, &cols)) {
        json_add_int(params, "rows", rows);
        json_add_int(params, "cols", cols);
    }
    params_output(ue, params);
    params_meta(ue, params, META_VERB | META_WAIT | META_PLACE | META_ID | (tty ? META_HUMAN : 0));
    return params;
}

int verb_EXEC(struct ue *ue)
{
    struct err err;
    struct json *params;
    bool object = args_has(&ue->args, "args");
    if (object) {
        params = params_from_args(ue, &err);
        if (!params)
            return ue_fail(ue, &err);
        params_meta(ue, params, META_PLACE | META_ID);
    } else {
        params = params_of(ue);
    }
    int status;
    if (!object && args_has(&ue->args, "attach"))
        status = attach_new_session(ue, params);
    else if (!object && args_has(&ue->args, "stdin"))
        status = feed_talk(ue, params);
    else if (args_has(&ue->args, "raw"))
        status = raw_talk(ue, "exec_command", params);
    else
        status = talk(ue, "exec_command", params);
    json_free(params);
    /* Looked at last: who pipes into us may not have written yet when we began. */
    if (!object && !args_has(&ue->args, "stdin") && !args_has(&ue->args, "attach") && input_is_waiting())
        say_note("standard input: has data that the command was not given; --stdin feeds it to the command");
    return status;
}
