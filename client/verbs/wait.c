/* wait: `ue wait`: waits until sessions have ended or printed something, by one request for each,
 * all in flight at once on one connection. It moves no reader. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "client/rpc/talk.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct awaited {
    int64_t id;
    struct json *params; /* owned */
    bool answered;
    int status;
};

struct waiting {
    struct ue *ue;
    struct awaited *sessions; /* owned; in the order of the operands */
    size_t count, left;
    int64_t begun_ms;
    bool any;
    struct json *shown; /* with --json: the answers, in the order of their arrival */
};

static struct json *wait_params(struct ue *ue, const char *session)
{
    struct json *params = params_map(&ue->args);
    json_add_text(params, "session_id", session);
    json_add_bool(params, "peek", true);
    json_add_int(params, "max_output_tokens", 0);
    if (!json_get(params, "until"))
        json_add_bool(params, "exit", true);
    params_meta(ue, params, META_VERB);
    return params;
}

/* What is left of -y; without -y the wait has no deadline. */
static void set_deadline(const struct waiting *waiting, struct json *params)
{
    int64_t left_ms = args_int(&waiting->ue->args, "yield", INT64_MAX);
    if (left_ms != INT64_MAX)
        left_ms -= clock_mono_ms() - waiting->begun_ms;
    params_wait(params, left_ms > 0 ? left_ms : 0);
}

static int send_all(struct waiting *waiting, struct err *err)
{
    struct connection *conn = &waiting->ue->conn;
    struct buf lines = BUF_INIT;
    int result = 0;
    for (size_t i = 0; i < waiting->count; i++) {
        struct awaited *one = &waiting->sessions[i];
        if (one->answered)
            continue;
        one->id = conn->next_id++;
        set_deadline(waiting, one->params);
        msg_request(&lines, one->id, "read_output", one->params);
    }
    if (connection_send(conn, lines.data, lines.len) < 0)
        result = err_set(err, ERR_NO_DAEMON, "'%s': the daemon went away", conn->path);
    buf_fini(&lines);
    return result;
}

static void wait_show(struct waiting *waiting, const struct json *result)
{
    int64_t code = -1;
    const char *name = json_get_str(result, "name", NULL),
               *state = json_get_str(result, "state", NULL);
    if (waiting->shown) {
        struct json *copy = json_add(waiting->shown, NULL, json_copy(result));
        json_free(json_detach(copy, "content"));
        json_free(json_detach(copy, "output"));
        return;
    }
    struct buf line = BUF_INIT;
    buf_printf(&line, "%s\t%s\t", name ? name : "-", state ? state : "-");
    if (json_get_int(result, "exit_code", &code))
        buf_printf(&line, "%" PRId64 "\n", code);
    else
        buf_append_text(&line, "-\n");
    say_buf(&line);
}

/* 0, or the error that ends the whole wait, as of an unknown session, which will never end. */
static int wait_take(struct waiting *waiting, const struct msg_answer *answer, struct err *err)
{
    for (size_t i = 0; i < waiting->count; i++) {
        struct awaited *one = &waiting->sessions[i];
        if (answer->method || answer->id.kind != MSG_ID_NUMBER || answer->id.number != one->id ||
            one->answered)
            continue;
        if (answer->err.code < 0) {
            *err = answer->err;
            return err->code;
        }
        one->answered = true;
        one->status = talk_status(waiting->ue, one->params, answer->result);
        BUG_UNLESS(waiting->left > 0);
        waiting->left = waiting->any ? 0 : waiting->left - 1;
        wait_show(waiting, answer->result);
        break;
    }
    return 0;
}

static int wait_take_lines(struct waiting *waiting, struct err *err)
{
    const char *line;
    size_t len;
    int result;
    while (waiting->left > 0 &&
           (result = frame_next(&waiting->ue->conn.in, &line, &len, err)) != 0) {
        struct msg_answer answer = {0};
        if (result > 0)
            result = msg_parse_answer(&answer, line, len, err);
        if (result == 0)
            result = wait_take(waiting, &answer, err);
        msg_answer_fini(&answer);
        if (result < 0)
            return result;
    }
    return 0;
}

static int wait_all(struct waiting *waiting, struct err *err)
{
    struct connection *conn = &waiting->ue->conn;
    int result = connection_open(conn, err);
    if (result == 0)
        result = send_all(waiting, err);
    while (result == 0 && waiting->left > 0) {
        size_t room;
        char *to = frame_room(&conn->in, &room);
        ssize_t n = recv(conn->fd, to, room, 0);
        frame_filled(&conn->in, n > 0 ? (size_t)n : 0);
        if (n > 0) {
            connection_heard(conn);
            result = wait_take_lines(waiting, err);
        } else if (n == 0 || errno != EINTR) {
            /* sessions outlive the worker: ask its successor for those that are left */
            connection_close(conn);
            result = connection_reopen(conn, clock_mono_ms() + CONNECTION_RESTART_MS, err);
            result = result == 0 ? send_all(waiting, err) : result;
        }
    }
    return result;
}

/* With --any of the first answer; else, in the order of the operands, the first that is not 0. */
static int wait_status_of(const struct waiting *waiting)
{
    for (size_t i = 0; i < waiting->count; i++)
        if (waiting->sessions[i].answered && (waiting->any || waiting->sessions[i].status != 0))
            return waiting->sessions[i].status;
    return 0;
}

int verb_WAIT(struct ue *ue)
{
    struct err err = {0};
    const struct args *args = &ue->args;
    struct waiting waiting = {.ue = ue,
                              .count = args->operand_count,
                              .left = args->operand_count,
                              .begun_ms = clock_mono_ms()};
    struct json *whole = json_object_new();
    waiting.any = args_has(args, "any");
    waiting.sessions = xcalloc(waiting.count, sizeof *waiting.sessions);
    if (args_has(args, "json"))
        waiting.shown = json_add_array(whole, "sessions");
    for (size_t i = 0; i < waiting.count; i++)
        waiting.sessions[i].params = wait_params(ue, args->operands[i]);
    int status = wait_all(&waiting, &err) < 0 ? ue_fail(ue, &err) : wait_status_of(&waiting);
    if (waiting.shown && err.code == 0)
        say_json(whole);
    for (size_t i = 0; i < waiting.count; i++)
        json_free(waiting.sessions[i].params);
    free(waiting.sessions);
    json_free(whole);
    return status;
}
