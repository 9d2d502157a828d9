/* list: `ue list`: sessions as a table for people, as columns for programs. */
#include "client/rpc/call.h"
#include "client/print/listing.h"
#include "client/rpc/params.h"
#include "client/print/render.h"
#include "client/print/say.h"
#include <unistd.h>

static struct json *params_of(const struct ue *ue)
{
    struct json *params = json_object_new();
    if (args_has(&ue->args, "all"))
        json_add_bool(params, "all", true);
    if (ue->args.operand_count > 0)
        params_operands(ue, params, "names");
    params_meta(ue, params, META_VERB);
    return params;
}

static void show(const struct json *result)
{
    struct render_table table;
    struct buf out = BUF_INIT;
    bool people = say_is_tty(STDOUT_FILENO);
    const struct json *sessions = json_get(result, "sessions");
    if (people)
        listing_people(&table, sessions, NULL, NULL);
    else
        listing_columns(&table, sessions);
    if (people && table.row_count == 0)
        buf_append_text(&out, "no sessions\n");
    else if (people)
        render_people(&out, &table, render_width_of(STDOUT_FILENO), render_wants_colors());
    else
        render_tabs(&out, &table);
    render_fini(&table);
    say_buf(&out);
}

int verb_LIST(struct ue *ue)
{
    struct msg_answer answer = {0};
    struct err err = {0};
    int status = 0;
    bool object = args_has(&ue->args, "args");
    struct json *params = object ? params_from_args(ue, &err) : params_of(ue);
    if (!params)
        return ue_fail(ue, &err);
    if (object)
        params_meta(ue, params, 0);
    if (call_run(&ue->conn, "list_sessions", params, CALL_AGAIN, &answer, &err) < 0)
        status = ue_fail(ue, &err);
    else if (args_has(&ue->args, "json"))
        say_json(answer.result);
    else
        show(answer.result);
    msg_answer_fini(&answer);
    json_free(params);
    return status;
}
