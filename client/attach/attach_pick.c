/* attach_pick: owns the choice of the session: by the command line, because it is the only one, or
 * by the person. */
#include "client/attach/attach_pick.h"
#include "base/mem.h"
#include "client/rpc/call.h"
#include "client/attach/chooser.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "client/terminal/terminal.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 20 /* names in the text of an error */

/* For the chooser: the text of a session's screen. */
static char *screen_of(void *arg, int64_t number)
{
    struct ue *ue = arg;
    struct msg_answer answer;
    struct err err;
    struct json *params = json_object_new();
    json_add_int(params, "session_id", number);
    params_meta(ue, params, META_VERB);
    int result = call_run(&ue->conn, "read_screen", params, CALL_AGAIN, &answer, &err);
    const char *text = result == 0 ? json_get_str(answer.result, "screen", NULL) : NULL;
    char *screen = text ? xstrdup(text) : NULL;
    msg_answer_fini(&answer);
    json_free(params);
    return screen;
}

/* Starts the person's shell in a session of that name, if it is not empty. Its number, or 0 and
 * err. */
static int64_t begin_shell(struct ue *ue, const char *name, struct err *err)
{
    struct msg_answer answer;
    struct json *params = json_object_new();
    int rows, cols;
    int64_t number = 0;
    terminal_size(&rows, &cols);
    params_shell(params);
    if (*name)
        json_add_str(params, "name", name, strlen(name));
    json_add_bool(params, "tty", true);
    json_add_int(params, "rows", rows);
    json_add_int(params, "cols", cols);
    params_wait(params, 0);
    params_meta(ue, params, META_VERB | META_PLACE | META_ID | META_HUMAN);
    if (call_run(&ue->conn, "exec_command", params, CALL_AGAIN, &answer, err) == 0 &&
        !json_get_int(answer.result, "session_id", &number))
        err_set(err, ERR_ENDED, "the shell has ended already; see $SHELL");
    msg_answer_fini(&answer);
    json_free(params);
    return number;
}

static int attach_pick_choose(struct ue *ue, const struct json *sessions, int64_t *picked)
{
    struct chosen chosen;
    struct buf out = BUF_INIT;
    struct err err = {0};
    const struct chooser_options options = {
        .types = ue->args.bare, .offers_new = ue->args.bare, .preview = screen_of, .arg = ue};
    int entered = terminal_enter(&err);
    bool alive = entered == 0 && chooser_run(&options, sessions, &out, &chosen) == 0;
    *picked = alive ? chosen.number : 0;
    if (*picked == CHOOSER_NEW)
        *picked = begin_shell(ue, chosen.name, &err);
    buf_fini(&out);
    if (*picked > 0)
        return 0; /* the terminal stays entered for the session */
    terminal_leave();
    if (err.code)
        return ue_fail(ue, &err);
    say_note("no session was chosen");
    return UE_INTERRUPTED;
}

static int decide(struct ue *ue, const struct json *sessions, bool ask, char **chosen)
{
    struct buf names = BUF_INIT;
    struct err err;
    int64_t number, picked = 0;
    size_t count = 0;
    int status = 0;
    for (const struct json *it = json_first(sessions); it; it = json_next(it)) {
        const char *name = json_get_str(it, "name", NULL);
        if (!chooser_takes(it, &number))
            continue;
        picked = number;
        if (++count <= SHOWN_MAX)
            buf_printf(&names, "%s%s", count > 1 ? ", " : "", name ? name : "?");
    }
    if (ask && (count > 1 || ue->args.bare))
        status = attach_pick_choose(ue, sessions, &picked);
    else if (count == 0)
        status = ue_fail(ue,
                         (err_set(&err, ERR_NO_SUCH_SESSION,
                                  "no session with a terminal runs; `ue exec -a CMD` starts one"),
                          &err));
    else if (count > 1)
        status = ue_fail(ue,
                         (err_set(&err, ERR_USAGE, "%zu sessions have a terminal, name one: %s%s",
                                  count, names.data, count > SHOWN_MAX ? ", \xe2\x80\xa6" : ""),
                          &err));
    if (status == 0)
        *chosen = xasprintf("%" PRId64, picked);
    buf_fini(&names);
    return status;
}

int attach_pick(struct ue *ue, bool ask, char **session)
{
    struct msg_answer answer;
    struct err err = {0};
    if (ue->args.operand_count > 0) {
        *session = xstrdup(ue->args.operands[0]);
        return 0;
    }
    struct json *params = json_object_new();
    params_meta(ue, params, META_VERB);
    int result = call_run(&ue->conn, "list_sessions", params, CALL_AGAIN, &answer, &err);
    int status = result < 0 ? ue_fail(ue, &err)
                            : decide(ue, json_get(answer.result, "sessions"), ask, session);
    msg_answer_fini(&answer);
    json_free(params);
    return status;
}
