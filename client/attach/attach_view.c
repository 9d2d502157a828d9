/* attach_view: owns the views that cover an attached session: help, history, list of sessions,
 * questions. They use a second connection; the first one is not read meanwhile, and the daemon
 * skips drawings that we don't take. */
#include "base/bug.h"
#include "base/mem.h"
#include "client/attach/attach_help.h"
#include "client/attach/attached.h"
#include "client/rpc/answering.h"
#include "client/rpc/call.h"
#include "client/attach/chooser.h"
#include "client/attach/clipboard.h"
#include "client/rpc/params.h"
#include "client/attach/scroll.h"
#include <stdlib.h>
#include <string.h>

#define HISTORY_LINES 1000000 /* lines asked for: all there are; fewer if the answer is too large */
#define HISTORY_LEAST 500

/* 0 or an error; the caller finishes answer in every case. Takes params. */
static int attach_view_ask(struct attach *attach, const char *tool, struct json *params,
                           struct msg_answer *answer, struct err *err)
{
    struct connection side;
    BUG_UNLESS(attach->state == ATTACH_SHOWING); /* keys open a view only then */
    connection_init(&side, attach->ue->conn.path, NULL, false);
    side.named = attach->ue->conn.named;
    params_meta(attach->ue, params, META_VERB);
    int result = call_run(&side, tool, params, CALL_ONCE, answer, err);
    connection_fini(&side);
    json_free(params);
    return result;
}

/* alive: the terminal is not gone. */
static void attach_view_leave(struct attach *attach, bool alive)
{
    BUG_UNLESS(attach->state == ATTACH_SHOWING);
    attach->notice_until_ms = 0;
    attach_redraw(attach);
    if (!alive && attach->state == ATTACH_SHOWING)
        attach->state = ATTACH_DETACHED;
}

void attach_view_help(struct attach *attach)
{
    attach_view_leave(
        attach, attach_help_run(attach->prefix_word, attach->name, attach->keyboard, &attach->out));
}

static int ask_history(struct attach *attach, struct msg_answer *answer, struct err *err)
{
    for (int64_t lines = HISTORY_LINES;; lines = lines > 64000 ? 64000 : lines / 2) {
        struct json *params = json_object_new();
        json_add_int(params, "session_id", attach->number);
        json_add_text(params, "format", "ansi");
        json_add_int(params, "history", lines);
        int result = attach_view_ask(attach, "read_screen", params, answer, err);
        if (result != ERR_TOO_LARGE || lines < HISTORY_LEAST)
            return result;
        msg_answer_fini(answer);
    }
}

static void show_history(struct attach *attach, const struct json *result)
{
    struct history history;
    struct buf copied = BUF_INIT, said = BUF_INIT;
    size_t size = 0;
    const char *drawing = json_get_str(result, "screen", &size);
    history_init(&history, drawing ? drawing : "", size);
    attach_view_leave(attach,
                      scroll_run(&history, attach->name, attach->mouse || attach->rolled,
                                 attach->rolled, &attach->out, &copied));
    attach->rolled = false;
    history_fini(&history);
    if (copied.len > 0) {
        clipboard_put(attach->clipboard, &copied, &attach->out, &attach->later, &said);
        free(attach->said);
        attach->said = buf_take(&said);
    }
    buf_fini(&said);
    buf_fini(&copied);
}

void attach_view_scroll(struct attach *attach)
{
    struct msg_answer answer;
    struct err err;
    if (ask_history(attach, &answer, &err) == 0)
        show_history(attach, answer.result);
    else
        attach_notice(attach, err.text, strlen(err.text));
    msg_answer_fini(&answer);
}

static char *screen_of_other(void *arg, int64_t number)
{
    struct msg_answer answer;
    struct err err;
    struct json *params = json_object_new();
    json_add_int(params, "session_id", number);
    int result = attach_view_ask(arg, "read_screen", params, &answer, &err);
    const char *text = result == 0 ? json_get_str(answer.result, "screen", NULL) : NULL;
    char *screen = text ? xstrdup(text) : NULL;
    msg_answer_fini(&answer);
    return screen;
}

void attach_view_list(struct attach *attach)
{
    struct msg_answer answer;
    struct err err;
    struct chosen chosen;
    if (attach_view_ask(attach, "list_sessions", json_object_new(), &answer, &err) < 0) {
        attach_notice(attach, err.text, strlen(err.text));
    } else {
        const struct chooser_options options = {
            .current = attach->number, .preview = screen_of_other, .arg = attach};
        int result = chooser_run(&options, json_get(answer.result, "sessions"), &attach->out,
                                 &chosen);
        attach_view_leave(attach, result == 0);
        if (result == 0 && chosen.number > 0 && chosen.number != attach->number) {
            attach->next = chosen.number;
            attach->state = ATTACH_MOVES;
        }
    }
    msg_answer_fini(&answer);
}

void attach_view_approvals(struct attach *attach)
{
    char *said;
    attach_view_leave(attach, answering_run(&attach->ue->conn, &attach->out, &said));
    free(attach->said);
    attach->said = *said ? said : NULL;
    if (!attach->said)
        free(said);
}
