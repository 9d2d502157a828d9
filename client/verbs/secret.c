/* secret: `ue secret`: reads a secret from the person's terminal, for the program that asks for it
 * now or next (--stage). */
#include "base/mem.h"
#include "client/rpc/call.h"
#include "client/terminal/hidden.h"
#include "client/print/say.h"
#include "client/rpc/own_terminal.h"
#include "client/rpc/secret_line.h"
#include "client/rpc/talk.h"
#include "client/verbs/run.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int secret_give(struct ue *ue, const char *line, size_t len, struct err *err)
{
    struct json *end = secret_line_give(&ue->conn, line, len, err);
    if (!end)
        return err->code;
    int code = secret_line_code(end, err);
    if (code < 0)
        ; /* err says why */
    else if (args_has(&ue->args, "json"))
        say_json(end);
    else if (args_has(&ue->args, "stage"))
        say_note("kept for the next time that '%s' asks, once", ue->args.operands[0]);
    json_free(end);
    return code;
}

static long secret_ask(struct ue *ue, const struct json *answer, char *line, struct err *err)
{
    if (args_has(&ue->args, "stdin"))
        return hidden_read(line, err);
    const char *name = json_get_str(answer, "name", NULL);
    char *prompt = xasprintf("secret for '%s': ", name ? name : ue->args.operands[0]);
    long len = hidden_ask(prompt, line, err);
    free(prompt);
    return len;
}

static int talk_secret(struct ue *ue, const struct json *answer, struct err *err)
{
    hidden_no_dump();
    char *line = hidden_new();
    if (!line)
        return err_set(err, ERR_SYSTEM, "no memory for a secret: %s", strerror(errno));
    long len = secret_ask(ue, answer, line, err);
    int code = len < 0 ? err->code : secret_give(ue, line, (size_t)len, err);
    hidden_free(line);
    return code;
}

int verb_SECRET(struct ue *ue)
{
    struct msg_answer answer;
    struct err err = {0};
    struct json *params = run_params(ue, &(struct run){.meta = META_HUMAN}, &err);
    ue->conn.shows_person = true;
    if (!args_has(&ue->args, "stdin"))
        own_terminal_wait_foreground();
    int code = call_run(&ue->conn, "type_secret", params, CALL_ONCE, &answer, &err);
    bool forgotten = false;
    if (code == 0 && args_has(&ue->args, "forget")) {
        if (args_has(&ue->args, "json"))
            say_json(answer.result);
        else if (json_get_bool(answer.result, "forgotten", &forgotten) && !forgotten)
            say_note("'%s': no secret was staged", ue->args.operands[0]);
    } else if (code == 0) {
        code = talk_secret(ue, answer.result, &err);
    }
    json_free(params);
    msg_answer_fini(&answer);
    return code < 0 ? ue_fail(ue, &err) : 0;
}
