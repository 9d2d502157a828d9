/* secret: `ue secret`: reads a secret from the person's terminal, for the program that asks for it
 * now or next (--stage). */
#include "base/bug.h"
#include "base/mem.h"
#include "client/rpc/call.h"
#include "client/terminal/hidden.h"
#include "client/print/say.h"
#include "client/rpc/own_terminal.h"
#include "client/rpc/talk.h"
#include "client/verbs/run.h"
#include "wire/attach.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int lost(struct err *err)
{
    return err_set(err, ERR_NO_DAEMON,
                   "muxd: the connection was lost; whether the secret was typed is not known");
}

/* In a frame of its own, which is wiped: the secret is never in a JSON text. */
static int secret_send_line(struct connection *conn, const char *line, size_t len, struct err *err)
{
    struct buf frame;
    BUG_UNLESS(len <= HIDDEN_MAX && HIDDEN_MAX <= ATTACH_PAYLOAD_MAX);
    buf_init_wiping(&frame, 0);
    attach_append(&frame, ATTACH_INPUT, line, len);
    int code = connection_send(conn, frame.data, frame.len) < 0 ? lost(err) : 0;
    buf_fini(&frame);
    return code;
}

/* The object in the daemon's last frame; NULL and err. */
static struct json *receive_end(struct connection *conn, struct err *err)
{
    struct frame *in = &conn->in;
    struct attach_frame frame;
    long used;
    while ((used = in->len > in->start
                       ? attach_next(in->data + in->start, in->len - in->start, &frame)
                       : 0) == 0) {
        size_t room;
        char *to = frame_room(in, &room);
        ssize_t got = recv(conn->fd, to, room, 0);
        frame_filled(in, got > 0 ? (size_t)got : 0);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            lost(err);
            return NULL;
        }
    }
    if (used < 0 || frame.type != ATTACH_END) {
        lost(err);
        return NULL;
    }
    return json_parse(frame.data, frame.size, err);
}

static int secret_give(struct ue *ue, const char *line, size_t len, struct err *err)
{
    int code = secret_send_line(&ue->conn, line, len, err);
    struct json *end = code ? NULL : receive_end(&ue->conn, err);
    if (!end)
        return err->code;
    const char *text = json_get_str(end, "error", NULL);
    if (text)
        code = err_set(err, err_by_name(json_get_str(end, "code", NULL)), "%s", text);
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
