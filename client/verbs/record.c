/* record: `ue record`: begins and ends recordings, which the daemon writes. */
#include "base/mem.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include <inttypes.h>
#include <stdlib.h>

static struct json *params_of(const struct ue *ue)
{
    const struct args *args = &ue->args;
    struct json *params = json_object_new();
    json_add_text(params, "session_id", args->operands[0]);
    if (args->operand_count > 1) {
        char *path = launch_absolute(args->operands[1]);
        json_add_text(params, "path", path);
        free(path);
    }
    if (args_has(args, "format"))
        json_add_int(params, "format", args_int(args, "format", 3));
    if (args_has(args, "input"))
        json_add_bool(params, "input", true);
    if (args_has(args, "stop"))
        json_add_bool(params, "stop", true);
    params_meta(ue, params, META_VERB);
    return params;
}

static void show(const struct json *result)
{
    size_t len = 0;
    const char *path = json_get_str(result, "path", &len);
    struct buf line = BUF_INIT;
    buf_append(&line, path ? path : "", len);
    buf_append_byte(&line, '\n');
    say_text(line.data, line.len);
    buf_fini(&line);
}

int verb_RECORD(struct ue *ue)
{
    struct msg_answer answer;
    struct err err = {0};
    int status = 0;
    if (args_has(&ue->args, "stop") && ue->args.operand_count > 1) {
        err_set(&err, ERR_USAGE, "'%s': --stop takes no file; the session's recording ends, wherever it is", ue->args.operands[1]);
        return ue_fail(ue, &err);
    }
    struct json *params = params_of(ue);
    if (call_run(&ue->conn, "record_session", params, CALL_AGAIN, &answer, &err) < 0)
        status = ue_fail(ue, &err);
    else if (args_has(&ue->args, "json"))
        say_json(answer.result);
    else
        show(answer.result);
    msg_answer_fini(&answer);
    json_free(params);
    return status;
}
