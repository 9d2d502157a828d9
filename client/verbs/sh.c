/* sh: `ue sh`: a shell command to its end, or to its timeout, as shell_command runs it. */
#include "client/rpc/params.h"
#include "client/rpc/talk.h"

static struct json *params_of(const struct ue *ue)
{
    static const char *const texts[] = {"name", "workdir", "shell"};
    const struct args *args = &ue->args;
    struct json *params = json_object_new();
    params_joined(args, params, "command");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (args_has(args, texts[i]))
            json_add_text(params, texts[i], args_get(args, texts[i]));
    params_environment(args, params);
    if (args_has(args, "timeout"))
        json_add_int(params, "timeout_ms", args_int(args, "timeout", 0));
    if (args_has(args, "no-login"))
        json_add_bool(params, "login", false);
    if (args_has(args, "max-tokens"))
        json_add_int(params, "max_output_tokens", args_int(args, "max-tokens", 0));
    if (args_has(args, "max-line"))
        json_add_int(params, "max_line", args_int(args, "max-line", 0));
    params_meta(ue, params, META_VERB | META_PLACE | META_ID);
    return params;
}

int verb_SH(struct ue *ue)
{
    struct err err;
    bool object = args_has(&ue->args, "args");
    struct json *params = object ? params_from_args(ue, &err) : params_of(ue);
    if (!params)
        return ue_fail(ue, &err);
    if (object)
        params_meta(ue, params, META_PLACE | META_ID);
    int status = talk(ue, "shell_command", params);
    json_free(params);
    return status;
}
