/* poll: `ue poll`: what a session has printed, or prints until something happens. */
#include "client/rpc/params.h"
#include "client/rpc/talk.h"

static struct json *params_of(const struct ue *ue)
{
    const struct args *args = &ue->args;
    struct json *params = json_object_new();
    json_add_text(params, "session_id", args->operands[0]);
    if (args_has(args, "since"))
        json_add_int(params, "since", args_int(args, "since", 0));
    if (args_has(args, "to"))
        json_add_int(params, "to", args_int(args, "to", 0));
    if (args_has(args, "peek"))
        json_add_bool(params, "peek", true);
    params_output(ue, params);
    params_meta(ue, params, META_VERB | META_WAIT);
    return params;
}

int verb_POLL(struct ue *ue)
{
    struct err err;
    bool object = args_has(&ue->args, "args");
    struct json *params = object ? params_from_args(ue, &err) : params_of(ue);
    if (!params)
        return ue_fail(ue, &err);
    if (object)
        params_meta(ue, params, 0);
    int status = args_has(&ue->args, "raw") ? raw_talk(ue, "read_output", params) : talk(ue, "read_output", params);
    json_free(params);
    return status;
}
