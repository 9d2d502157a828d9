/* sandbox: `ue sandbox`: runs a command confined, or explains what that would mean. */
#include "client/rpc/call.h"
#include "client/rpc/talk.h"
#include "client/verbs/run.h"

/* The options that name a sandbox of the config, as the arguments are called, too. */
static const char *const of_config[] = {"profile", "hook", "session"};

/* The one that is given; NULL: none. */
static const char *asks_of_config(const struct ue *ue)
{
    for (size_t i = 0; i < sizeof of_config / sizeof *of_config; i++)
        if (args_has(&ue->args, of_config[i]))
            return of_config[i];
    return NULL;
}

static int sandbox_fill(struct ue *ue, struct json *params, struct err *err)
{
    const char *named = asks_of_config(ue);
    bool explains = args_has(&ue->args, "explain");
    if (named && !explains)
        return err_set(err, ERR_USAGE,
                       "'--%s' says which sandbox '--explain' is about; add that, or name a --mode",
                       named);
    if (named)
        json_add_text(params, named, args_get(&ue->args, named));
    else if (!args_has(&ue->args, "mode"))
        json_add_text(params, "sandbox", "workspace-write");
    if (explains)
        return 0;
    params_set(params, "exit", json_bool_new(true));
    if (ue->args.operand_count > 1) /* as other programs that stand before a command do it */
        params_operands(ue, params, "cmd");
    return 0;
}

int verb_SANDBOX(struct ue *ue)
{
    struct err err;
    if (args_has(&ue->args, "explain"))
        return run_verb(ue, &(struct run){.tool = "explain_sandbox", .call = CALL_AGAIN,
                                          .meta = META_PLACE, .fill = sandbox_fill});
    struct run how = {.meta = META_PLACE | META_ID, .fill = sandbox_fill};
    struct json *params = run_params(ue, &how, &err);
    if (!params)
        return ue_fail(ue, &err);
    ue->conn.shows_person = true; /* for the record */
    int status = talk(ue, "exec_command", params, talk_ask);
    json_free(params);
    return status;
}
