/* tool: `ue call`: calls any tool by its wire name with its exact argument object, and prints the
 * text that a model would read. */
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "client/rpc/talk.h"
#include "wire/tool.h"
#include <string.h>
#include <unistd.h>

static void tool_show_line(const char *text, size_t len)
{
    say_text(text, len);
    if (!say_is_tty(STDOUT_FILENO)) /* on a terminal say_text ends the line */
        say_text("\n", 1);
}

/* A failure with a text for models is an answer: it goes to standard output. */
static int show_failure(struct ue *ue, const struct json *params, const struct msg_answer *answer,
                        const struct err *err)
{
    size_t len;
    const char *content = json_get_str(answer->data, "content", &len);
    if (!content)
        return talk_fail(ue, params, err);
    if (args_has(&ue->args, "json"))
        say_json(answer->data);
    else
        tool_show_line(content, len);
    if (err->code == ERR_NO_SUCH_METHOD && strcmp(content, err->text) != 0)
        say_err(NULL, err); /* names the nearest, for the person who typed it */
    ue_tell_status(ue, "failed %s", err_name(err->code));
    return err_exit_status(err->code);
}

static int show_unparsed(struct ue *ue, const struct err *err)
{
    if (err->code != ERR_ARGUMENTS)
        return ue_fail(ue, err);
    tool_show_line(err->text, strlen(err->text));
    ue_tell_status(ue, "failed %s", err_name(err->code));
    return UE_FAILED;
}

int verb_CALL(struct ue *ue)
{
    const struct args *args = &ue->args;
    struct msg_answer answer;
    struct err err = {0};
    struct json *params = params_parse(args->operand_count > 1 ? args->operands[1] : "", true,
                                       &err);
    if (!params)
        return show_unparsed(ue, &err);
    if (strcmp(args->operands[0], tools[TOOL_TYPE_SECRET].name) == 0) {
        json_free(params);
        err_set(&err, ERR_DENIED,
                "'type_secret' is for people, not for agents; a person runs `ue secret`");
        return ue_fail(ue, &err);
    }
    params_meta(ue, params, META_PLACE | META_ID);
    int result = call_run(&ue->conn, args->operands[0], params, CALL_WAITS, &answer, &err);
    int status = result < 0 ? show_failure(ue, params, &answer, &err)
                            : talk_show(ue, params, answer.result);
    msg_answer_fini(&answer);
    json_free(params);
    return status;
}
