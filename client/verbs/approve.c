/* approve: `ue approvals`, `ue approve`, `ue deny`. */
#include "client/print/approval.h"
#include "client/print/say.h"
#include "client/rpc/answering.h"
#include "client/rpc/call.h"
#include "client/rpc/own_terminal.h"
#include "client/verbs/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static void approve_show(const struct json *approval)
{
    struct buf text = BUF_INIT;
    approval_append(&text, approval);
    fwrite(text.data, 1, text.len, stdout);
    buf_fini(&text);
}

static void approvals_print(struct ue *ue, const struct json *params, const struct json *result)
{
    const struct json *list = json_get(result, "approvals");
    (void)ue;
    (void)params;
    if (json_count(list) == 0)
        say_note("nothing waits for an approval");
    for (const struct json *it = json_first(list); it; it = json_next(it))
        approve_show(it);
}

int verb_APPROVALS(struct ue *ue)
{
    return run_verb(ue, &(struct run){.call = CALL_AGAIN, .print = approvals_print});
}

static int approve_fill(struct ue *ue, struct json *params, struct err *err)
{
    (void)err;
    const char *span = args_has(&ue->args, "session")  ? "session"
                       : args_has(&ue->args, "always") ? "always"
                                                       : NULL;
    if (span)
        json_add_text(params, "span", span);
    return 0;
}

static void approve_print(struct ue *ue, const struct json *params, const struct json *result)
{
    (void)params;
    const char *rule = json_get_str(result, "rule", NULL),
               *warning = json_get_str(result, "warning", NULL);
    if (rule)
        say_note("from now on allowed: %s (%s)", rule, approval_text(result, "file"));
    if (warning)
        say_note("the rule holds once the config can be read again: %s", warning);
    say_note("%s: %s", ue->args.operands[0],
             approval_text(json_get(result, "approval"), "command"));
}

/* One answer of the person: the only letter of a line, '\n' for any other line; EOF: there is none.
 * What was typed before the question was shown answers nothing. */
static int approve_ask(const struct json *approval)
{
    int first, more;
    size_t size = 0;
    approve_show(approval);
    if (isatty(STDIN_FILENO))
        tcflush(STDIN_FILENO, TCIFLUSH);
    printf("%s? y: once, s: for the session, a: always, n: deny, q: leave, Enter: later ",
           approval_text(approval, "id"));
    fflush(stdout);
    first = more = getchar();
    for (; more != EOF && more != '\n'; size++)
        more = getchar();
    if (more == EOF)
        putchar('\n');
    return size > 1 ? '\n' : first;
}

static int approve_answer(struct ue *ue, const struct json *approval, int key, struct err *err)
{
    struct msg_answer answer;
    int result = answering_send(&ue->conn, approval, key, &answer, err);
    msg_answer_fini(&answer);
    return result;
}

/* All that waits now, one after the other. What is refused by then is told, and the next one
 * comes. */
static int approve_each(struct ue *ue)
{
    struct msg_answer answer;
    struct err err;
    int status = 0, key = 0;
    int code = answering_list(&ue->conn, &answer, &err);
    const struct json *list = code ? NULL : json_get(answer.result, "approvals");
    if (code)
        status = ue_fail(ue, &err);
    else if (json_count(list) == 0)
        say_note("nothing waits for an approval");
    for (const struct json *it = json_first(list); it && key != 'q' && key != EOF;
         it = json_next(it)) {
        key = approve_ask(it);
        if (answering_means(key) && approve_answer(ue, it, key, &err) < 0)
            status = ue_fail(ue, &err);
    }
    msg_answer_fini(&answer);
    return status;
}

int verb_APPROVE(struct ue *ue)
{
    ue->conn.shows_person = true;
    own_terminal_wait_foreground();
    if (args_has(&ue->args, "interactive"))
        return approve_each(ue);
    return run_verb(ue, &(struct run){.fill = approve_fill, .print = approve_print});
}

static void deny_print(struct ue *ue, const struct json *params, const struct json *result)
{
    (void)params;
    (void)result;
    say_note("%s: denied", ue->args.operands[0]);
}

int verb_DENY(struct ue *ue)
{
    ue->conn.shows_person = true;
    own_terminal_wait_foreground();
    return run_verb(ue, &(struct run){.print = deny_print});
}
