/* attach: `ue attach`: owns an attached terminal: attaching, moving to another session,
 * reconnecting after restarts of the daemon, and detaching. */
#include "client/attach/attach.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/attach/attach_pick.h"
#include "client/attach/attached.h"
#include "client/rpc/call.h"
#include "client/rpc/own_terminal.h"
#include "client/terminal/colors.h"
#include "client/terminal/hidden.h"
#include "client/terminal/query.h"
#include "client/terminal/overlay.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "client/rpc/talk.h"
#include "client/terminal/terminal.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define REOPEN_LEAVING_MS 3000 /* for a restart of the daemon while we detach */

/* [attach] of the daemon's config; a prefix key that the person has given wins. */
static void take_settings(struct attach *attach, const struct json *answer)
{
    const struct json *settings = json_get(answer, "attach");
    const char *key = attach->prefix_given ? attach->prefix_given
                                           : json_get_str(settings, "key", NULL);
    const char *clipboard = json_get_str(settings, "clipboard", NULL);
    if (key && prefix_parse(key, &attach->prefix.key))
        snprintf(attach->prefix_word, sizeof attach->prefix_word, "%s", key);
    overlay_leave_on(attach->prefix.key);
    json_get_bool(settings, "mouse", &attach->mouse);
    free(attach->clipboard);
    attach->clipboard = xstrdup(clipboard ? clipboard : "print");
}

/* Calls the method attach, after which frames come. again: after a restart of the daemon. 0 or an
 * error. */
static int attach_begin(struct attach *attach, const char *session, bool again)
{
    struct msg_answer answer;
    struct json *params = json_copy(attach->wanted);
    const char *name;
    struct profile profile;
    int rows = attach->rows, cols = attach->cols;
    terminal_size(&attach->rows, &attach->cols);
    params_set(params, "session_id", json_string_new(session, strlen(session)));
    json_add_int(params, "rows", attach->rows);
    json_add_int(params, "cols", attach->cols);
    json_add_int(params, "colors", colors_of_terminal());
    if (again)
        json_free(json_detach(params, "detach_others"));
    if (again && rows == attach->rows && cols == attach->cols)
        json_add_bool(params, "again", true);
    /* the first call may start the session */
    params_meta(attach->ue, params, META_VERB | META_HUMAN | (again ? 0 : META_PLACE));
    attach->ue->conn.shows_person = true;
    own_terminal_wait_foreground();
    /* before we count as attached: what is typed from then on is for the session; but a daemon that
     * does not answer can be left */
    int result = terminal_make_raw_to_wait(&attach->err);
    if (result < 0) {
        json_free(params);
        return result;
    }
    result = call_run(&attach->ue->conn, "attach", params, CALL_AGAIN, &answer, &attach->err);
    if (result == 0) {
        json_get_int(answer.result, "session_id", &attach->number);
        name = json_get_str(answer.result, "name", NULL);
        snprintf(attach->name, sizeof attach->name, "%s", name ? name : session);
        take_settings(attach, answer.result);
        attach->state = ATTACH_SHOWING;
        attach->stale = 0;
        /* the drawings that come begin with the terminal's own */
        terminal_append_own_cursor(&attach->out);
        attach->err = (struct err){0}; /* of earlier attempts */
        if (query_told(&profile))
            attach_tell_terminal(attach, &profile);
    }
    msg_answer_fini(&answer);
    json_free(params);
    return result;
}

static int begin_number(struct attach *attach, int64_t number, bool again)
{
    char word[24];
    snprintf(word, sizeof word, "%" PRId64, number);
    return attach_begin(attach, word, again);
}

/* The worker's successor has the same session. */
static void reconnect(struct attach *attach)
{
    struct connection *conn = &attach->ue->conn;
    BUG_UNLESS(attach->state == ATTACH_LOST);
    conn->may_start = false;
    connection_close(conn);
    if (connection_reopen(conn, clock_mono_ms() + CONNECTION_RESTART_MS, &attach->err) < 0 ||
        begin_number(attach, attach->number, true) < 0)
        attach->state = ATTACH_FAILED;
    else
        attach_send_again(attach);
    if (attach->state == ATTACH_SHOWING)
        attach_take_frames(attach);
}

/* Detaches. Keys that the daemon had not taken when it died go to its successor, which types each
 * only once. */
static void attach_leave_session(struct attach *attach)
{
    enum attach_state state = attach->state;
    BUG_UNLESS(state == ATTACH_DETACHED || state == ATTACH_MOVES);
    if (attach_leave(attach))
        return;
    bool handed_over = false;
    connection_close(&attach->ue->conn);
    attach->ue->conn.may_start = false;
    if (connection_reopen(&attach->ue->conn, clock_mono_ms() + REOPEN_LEAVING_MS, &attach->err) ==
            0 &&
        begin_number(attach, attach->number, true) == 0) {
        attach_send_again(attach);
        handed_over = attach_leave(attach);
    }
    attach->state = state;
    attach->err = (struct err){0};
    if (!handed_over)
        say_note("'%s': what was typed last may not have reached it; look with `ue screen %s`",
                 attach->name, attach->name);
}

static void forget_keys(struct attach *attach)
{
    buf_clear(&attach->sent);
    buf_clear(&attach->keys);
}

/* Attaches to the session that was chosen; when that fails, to the old one again, with a notice. */
static void attach_move(struct attach *attach)
{
    int64_t old = attach->number;
    BUG_UNLESS(attach->next > 0 && attach->next != old);
    attach_leave_session(attach);
    forget_keys(attach); /* the daemon has them, or a note says that it may not */
    connection_close(&attach->ue->conn);
    free(attach->keyboard);
    attach->keyboard = NULL;
    if (begin_number(attach, attach->next, false) < 0) {
        struct err why = attach->err;
        connection_close(&attach->ue->conn);
        free(attach->said);
        attach->said = xstrdup(why.text);
        attach->err = (struct err){0};
        if (begin_number(attach, old, true) < 0) {
            attach->state = ATTACH_FAILED;
            return;
        }
    }
    attach_take_unused_keys(attach);
    attach_take_frames(attach);
}

static int attach_status_of(struct attach *attach)
{
    BUG_UNLESS(attach->state == ATTACH_FAILED || attach->state == ATTACH_DETACHED ||
               (attach->state == ATTACH_ENDED && attach->end));
    if (attach->state == ATTACH_FAILED)
        return ue_fail(attach->ue, &attach->err);
    if (attach->state == ATTACH_DETACHED) {
        say_note("detached; session '%s' goes on", attach->name);
        return 0;
    }
    const char *state = json_get_str(attach->end, "state", NULL);
    if (state && strcmp(state, "detached") == 0) {
        say_note("'%s': another person has attached alone (-x); the session goes on", attach->name);
        return 0;
    }
    if (state && strcmp(state, "removed") == 0) {
        say_note("'%s': was removed", attach->name);
        return UE_FAILED;
    }
    int status = talk_status(attach->ue, NULL, attach->end);
    say_note("'%s': has ended (%s), status %d", attach->name, state ? state : "?", status);
    return status;
}

static void attach_finish(struct attach *attach)
{
    if (attach->state == ATTACH_ENDED && attach->out.len > 0)
        attach_write_out(attach);
    query_settle();
    terminal_leave();
    if (attach->state == ATTACH_DETACHED)
        attach_leave_session(attach);
    frame_fini(&attach->ue->conn.in);
    if (attach->later.len > 0)
        say_text(attach->later.data, attach->later.len);
}

static void attach_fini(struct attach *attach)
{
    forget_keys(attach);
    buf_fini(&attach->keys);
    buf_fini(&attach->sent);
    buf_fini(&attach->out);
    buf_fini(&attach->later);
    free(attach->clipboard);
    free(attach->said);
    free(attach->keyboard);
    json_free(attach->end);
    json_free(attach->wanted);
}

/* --prefix, else the environment's. */
static int find_prefix(struct attach *attach, const char *key)
{
    const char *own = getenv("MUXD_ATTACH_KEY");
    attach->prefix_given = key ? key : own && *own ? own : NULL;
    snprintf(attach->prefix_word, sizeof attach->prefix_word, "C-\\");
    if (!attach->prefix_given || prefix_parse(attach->prefix_given, &attach->prefix.key))
        return 0;
    return err_set(&attach->err, ERR_USAGE,
                   "'%s %s': can't be a prefix key; use C-a to C-z, C-\\, C-], C-^ or C-_",
                   key ? "--prefix" : "MUXD_ATTACH_KEY", attach->prefix_given);
}

/* key: --prefix, or NULL. Takes wanted. Returns ue's exit status. */
static int attach_show(struct ue *ue, const char *session, const char *key, struct json *wanted)
{
    struct attach attach = {.ue = ue,
                            .wanted = wanted,
                            .mouse = true,
                            .out = BUF_INIT,
                            .later = BUF_INIT,
                            .prefix.key = PREFIX_DEFAULT};
    struct profile profile;
    json_get_bool(wanted, "read_only", &attach.read_only);
    hidden_no_dump();
    buf_init_wiping(&attach.keys, 0);
    buf_init_wiping(&attach.sent, 0);
    if (getrandom(&attach.keys_number, sizeof attach.keys_number, 0) < 0)
        attach.keys_number = (uint64_t)clock_mono_ns() << 16;
    if (find_prefix(&attach, key) == 0 && attach_begin(&attach, session, false) == 0)
        terminal_enter(&attach.err);
    if (attach.err.code < 0) {
        terminal_leave(); /* the chooser may have entered it */
        attach_fini(&attach);
        return ue_fail(ue, &attach.err);
    }
    if (attach_tells_terminal(&attach) && !query_told(&profile)) /* not asked before the start */
        query_ask(&attach.out);
    attach_take_unused_keys(&attach);
    attach_take_frames(&attach); /* that came together with the answer */
    for (;;) { /* keys typed ahead may ask for the next move before a turn */
        if (attach.state == ATTACH_SHOWING)
            attach_turn(&attach);
        else if (attach.state == ATTACH_LOST)
            reconnect(&attach);
        else if (attach.state == ATTACH_MOVES)
            attach_move(&attach);
        else
            break;
    }
    attach_finish(&attach);
    int status = attach_status_of(&attach);
    attach_fini(&attach);
    return status;
}

int verb_ATTACH(struct ue *ue)
{
    struct err err;
    char *session = NULL;
    bool can = terminal_open(&err) == 0;
    int status = attach_pick(ue, can, &session);
    if (status == 0 && !can)
        status = ue_fail(ue, &err);
    else if (status == 0)
        status = attach_show(ue, session, args_get(&ue->args, "prefix"), params_map(&ue->args));
    free(session);
    return status;
}

/* A program may query its terminal before we are attached, so exec_command carries the terminal's
 * looks. Keys that are typed meanwhile go to ahead. */
static void add_terminal(struct json *params, struct buf *ahead)
{
    struct err err = {0};
    struct profile profile;
    if (terminal_make_raw(&err) < 0)
        return;
    query_wait_answers(ahead, &profile);
    struct buf text = BUF_INIT;
    profile_print(&text, &profile);
    struct json *meta = json_detach(params, "_meta");
    json_add(meta, "terminal", json_parse(text.data, text.len, &err));
    json_add(params, "_meta", meta);
    buf_fini(&text);
}

int attach_new_session(struct ue *ue, struct json *params)
{
    struct msg_answer answer;
    struct err err = {0};
    struct buf ahead;
    char number[24];
    int64_t id = 0;
    int rows, cols, status = 0;
    BUG_UNLESS(json_type(json_get(params, "_meta")) == JSON_OBJECT); /* by params_meta */
    if (terminal_open(&err) < 0)
        return ue_fail(ue, &err);
    terminal_size(&rows, &cols);
    /* a configured session gets the size when it is attached */
    if (!json_get(params, "rows") && json_get(params, "cmd")) {
        json_add_int(params, "rows", rows);
        json_add_int(params, "cols", cols);
    }
    hidden_no_dump();
    buf_init_wiping(&ahead, OVERLAY_AHEAD);
    add_terminal(params, &ahead);
    overlay_type_ahead(ahead.data ? ahead.data : "", ahead.len);
    buf_fini(&ahead);
    int result = call_run(&ue->conn, "exec_command", params, CALL_AGAIN, &answer, &err);
    if (result < 0 && !json_get(params, "cmd") && err.code == ERR_NO_SUCH_SESSION) {
        msg_answer_fini(&answer); /* the config describes none of that name: a shell */
        params_shell(params);
        json_add_int(params, "rows", rows);
        json_add_int(params, "cols", cols);
        result = call_run(&ue->conn, "exec_command", params, CALL_AGAIN, &answer, &err);
    }
    bool runs = result == 0 && json_get_int(answer.result, "session_id", &id);
    if (!runs) {
        query_settle();
        terminal_leave();
    }
    if (result < 0)
        status = ue_fail(ue, &err);
    else if (!runs) /* it has ended already */
        status = talk_show(ue, params, answer.result);
    msg_answer_fini(&answer);
    snprintf(number, sizeof number, "%" PRId64, id);
    return id > 0 ? attach_show(ue, number, NULL, json_object_new()) : status;
}
