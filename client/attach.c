/* attach: `ue attach`: owns the time between the answer to `attach` and the end, on this terminal, through every restart of the daemon. */
#include "client/attach.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "client/attach_pick.h"
#include "client/call.h"
#include "client/params.h"
#include "client/prefix.h"
#include "client/say.h"
#include "client/talk.h"
#include "client/terminal.h"
#include "wire/attach.h"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REOPEN_MS 10000
#define OUT_MAX (512u << 10) /* what the terminal has not taken; over it nothing is read */
#define INPUT_BYTES 4096
#define NOTICE_MS 4000

enum state { SHOWING, LOST, DETACHED, ENDED, FAILED };

struct attach {
    struct ue *ue;
    int64_t number;
    char name[80];
    bool read_only;
    enum state state;
    struct prefix prefix;
    struct buf out;
    int64_t notice_until_ms; /* clock_mono_ms; 0: none is shown */
    struct json *end;        /* owned */
    struct err err;
};

static void send_frame(struct attach *attach, enum attach_type type, const char *data, size_t size)
{
    struct buf frame = BUF_INIT;
    attach_append(&frame, type, data, size);
    for (size_t at = 0; at < frame.len && attach->state == SHOWING;) {
        ssize_t n = send(attach->ue->conn.fd, frame.data + at, frame.len - at, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            attach->state = LOST;
        at += n > 0 ? (size_t)n : 0;
    }
    buf_fini(&frame);
}

static void send_size(struct attach *attach)
{
    char text[32];
    int rows, cols;
    terminal_size(&rows, &cols);
    snprintf(text, sizeof text, "%dx%d", rows, cols);
    send_frame(attach, ATTACH_RESIZE, text, strlen(text));
}

/* In the last line, until the next key; the daemon then draws anew what was there. */
static void show_notice(struct attach *attach, const char *text, size_t size)
{
    struct buf line = BUF_INIT;
    int rows, cols;
    terminal_size(&rows, &cols);
    utf8_append_escaped(&line, text, size, false);
    size_t cut = line.len < (size_t)cols ? line.len : (size_t)cols;
    while (cut > 0 && !utf8_is_boundary(line.data, line.len, cut))
        cut--;
    buf_printf(&attach->out, "\0337\033[%d;1H\033[0;7m", rows);
    buf_append(&attach->out, line.data ? line.data : "", cut);
    buf_append_text(&attach->out, "\033[m\033[K\0338");
    buf_fini(&line);
    attach->notice_until_ms = clock_mono_ms() + NOTICE_MS;
}

static void end_notice(struct attach *attach)
{
    if (!attach->notice_until_ms)
        return;
    attach->notice_until_ms = 0;
    send_frame(attach, ATTACH_REDRAW, NULL, 0);
}

static void come_back(struct attach *attach)
{
    if (terminal_enter(&attach->err) < 0) {
        attach->state = FAILED;
        return;
    }
    attach->notice_until_ms = 0;
    send_size(attach);
    send_frame(attach, ATTACH_REDRAW, NULL, 0);
}

static void obey(struct attach *attach, enum prefix_command command)
{
    static const char help[] = "after the prefix key: d detach, r draw anew, z stop (^Z), the key itself: send it, ? this line";
    switch (command) {
    case PREFIX_DETACH:
        send_frame(attach, ATTACH_DETACH, NULL, 0);
        attach->state = DETACHED;
        break;
    case PREFIX_REDRAW:
        send_size(attach);
        send_frame(attach, ATTACH_REDRAW, NULL, 0);
        break;
    case PREFIX_SUSPEND:
        terminal_suspend();
        come_back(attach);
        break;
    case PREFIX_HELP:
        show_notice(attach, help, strlen(help));
        break;
    case PREFIX_NONE:
        break;
    }
}

static void take_keys(struct attach *attach)
{
    char data[INPUT_BYTES];
    struct buf typed = BUF_INIT;
    ssize_t got = read(STDIN_FILENO, data, sizeof data);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) { /* the terminal is gone, as after a hang-up */
        obey(attach, PREFIX_DETACH);
        return;
    }
    end_notice(attach);
    for (size_t at = 0; at < (size_t)got && attach->state == SHOWING;) {
        enum prefix_command command;
        at += prefix_take(&attach->prefix, data + at, (size_t)got - at, &typed, &command);
        if (typed.len > 0)
            send_frame(attach, ATTACH_INPUT, typed.data, typed.len);
        buf_clear(&typed);
        obey(attach, command);
    }
    buf_fini(&typed);
}

static void take_frame(struct attach *attach, const struct attach_frame *frame)
{
    if (frame->type == ATTACH_OUTPUT) {
        terminal_notice_modes(frame->data, frame->size);
        buf_append(&attach->out, frame->data, frame->size);
    } else if (frame->type == ATTACH_NOTICE) {
        show_notice(attach, frame->data, frame->size);
    } else if (frame->type == ATTACH_END) {
        attach->end = json_parse(frame->data, frame->size, &attach->err);
        attach->state = attach->end ? ENDED : FAILED;
    }
}

static void take_frames(struct attach *attach)
{
    struct frame *in = &attach->ue->conn.in;
    struct attach_frame frame;
    long used = 1;
    while (attach->state == SHOWING && in->len > in->start && (used = attach_next(in->data + in->start, in->len - in->start, &frame)) > 0) {
        take_frame(attach, &frame);
        in->start += (size_t)used;
        in->scanned = in->start;
    }
    if (used < 0)
        attach->state = LOST;
}

static void receive(struct attach *attach)
{
    size_t room;
    char *to = frame_room(&attach->ue->conn.in, &room);
    ssize_t got = recv(attach->ue->conn.fd, to, room, MSG_DONTWAIT);
    frame_filled(&attach->ue->conn.in, got > 0 ? (size_t)got : 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        attach->state = LOST;
    else
        take_frames(attach);
}

static void write_out(struct attach *attach)
{
    ssize_t n = terminal_write(attach->out.data, attach->out.len);
    if (n < 0)
        obey(attach, PREFIX_DETACH);
    else
        buf_consume(&attach->out, (size_t)n);
}

static void look_at_signals(struct attach *attach)
{
    if (terminal_stop)
        obey(attach, PREFIX_SUSPEND);
    if (terminal_continued) { /* somebody stopped us with what can't be caught: the shell has used the terminal since */
        terminal_continued = 0;
        terminal_leave();
        come_back(attach);
    }
    if (terminal_resized) {
        terminal_resized = 0;
        send_size(attach);
    }
    if (attach->notice_until_ms && clock_mono_ms() >= attach->notice_until_ms)
        end_notice(attach);
}

static void turn(struct attach *attach)
{
    bool full = attach->out.len >= OUT_MAX;
    int64_t left_ms = attach->notice_until_ms - clock_mono_ms();
    struct timespec left = {.tv_sec = left_ms > 0 ? left_ms / 1000 : 0, .tv_nsec = left_ms > 0 ? left_ms % 1000 * 1000000 : 0};
    struct pollfd fds[3] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = attach->ue->conn.fd, .events = full ? 0 : POLLIN},
                            {.fd = attach->out.len > 0 ? terminal_out_fd() : -1, .events = POLLOUT}};
    int ready = ppoll(fds, 3, attach->notice_until_ms ? &left : NULL, terminal_wait_mask());
    look_at_signals(attach);
    if (ready <= 0 || attach->state != SHOWING)
        return;
    if (fds[0].revents)
        take_keys(attach);
    if (fds[1].revents && attach->state == SHOWING)
        receive(attach);
    if (attach->out.len > 0 && attach->state != DETACHED) /* at once: what came just now is a key's echo */
        write_out(attach);
}

/* Asks for the frames. 0 or an error. */
static int begin(struct attach *attach, const char *session)
{
    struct msg_answer answer;
    struct json *params = json_object_new();
    const char *name;
    int rows, cols;
    terminal_size(&rows, &cols);
    json_add_text(params, "session_id", session);
    json_add_int(params, "rows", rows);
    json_add_int(params, "cols", cols);
    if (attach->read_only)
        json_add_bool(params, "read_only", true);
    params_meta(attach->ue, params, META_VERB);
    int result = call_run(&attach->ue->conn, "attach", params, CALL_AGAIN, &answer, &attach->err);
    if (result == 0) {
        json_get_int(answer.result, "session_id", &attach->number);
        name = json_get_str(answer.result, "name", NULL);
        snprintf(attach->name, sizeof attach->name, "%s", name ? name : session);
    }
    msg_answer_fini(&answer);
    json_free(params);
    return result;
}

/* The daemon has been restarted: its successor has the same session. */
static void reconnect(struct attach *attach)
{
    char number[24];
    struct connection *conn = &attach->ue->conn;
    snprintf(number, sizeof number, "%" PRId64, attach->number);
    conn->may_start = false;
    connection_close(conn);
    attach->state = SHOWING;
    if (connection_reopen(conn, clock_mono_ms() + REOPEN_MS, &attach->err) < 0 || begin(attach, number) < 0)
        attach->state = FAILED;
    else
        take_frames(attach);
}

static int status_of(struct attach *attach)
{
    if (attach->state == FAILED)
        return ue_fail(attach->ue, &attach->err);
    if (attach->state == DETACHED) {
        say_note("detached; session '%s' goes on", attach->name);
        return 0;
    }
    const char *state = json_get_str(attach->end, "state", NULL);
    if (state && strcmp(state, "removed") == 0) {
        say_note("'%s': was removed", attach->name);
        return UE_FAILED;
    }
    int status = talk_status(attach->ue, NULL, attach->end);
    say_note("'%s': has ended (%s), status %d", attach->name, state ? state : "?", status);
    return status;
}

static int show(struct ue *ue, const char *session, bool read_only, const char *key)
{
    struct attach attach = {.ue = ue, .read_only = read_only, .out = BUF_INIT, .prefix.key = PREFIX_DEFAULT};
    struct frame *in = &ue->conn.in;
    if (key && !prefix_parse(key, &attach.prefix.key))
        err_set(&attach.err, ERR_USAGE, "'--prefix %s': no key that can be one; use C-a to C-z, C-\\, C-], C-^ or C-_", key);
    else if (begin(&attach, session) == 0)
        terminal_enter(&attach.err);
    if (attach.err.code < 0)
        return ue_fail(ue, &attach.err);
    take_frames(&attach); /* those that came with the answer */
    while (attach.state == SHOWING) {
        turn(&attach);
        if (attach.state == LOST)
            reconnect(&attach);
    }
    if (attach.state == ENDED && attach.out.len > 0)
        write_out(&attach);
    terminal_leave();
    frame_fini(in);
    int status = status_of(&attach);
    buf_fini(&attach.out);
    json_free(attach.end);
    return status;
}

int verb_ATTACH(struct ue *ue)
{
    struct err err;
    char *session = NULL;
    if (terminal_open(&err) < 0)
        return ue_fail(ue, &err);
    int status = attach_pick(ue, &session);
    if (status == 0)
        status = show(ue, session, args_has(&ue->args, "read-only"), args_get(&ue->args, "prefix"));
    attach_pick_free(session);
    return status;
}

int attach_new_session(struct ue *ue, struct json *params)
{
    struct msg_answer answer;
    struct err err = {0};
    char number[24];
    int64_t id = 0;
    int rows, cols, status = 0;
    if (terminal_open(&err) < 0)
        return ue_fail(ue, &err);
    terminal_size(&rows, &cols);
    if (!json_get(params, "rows")) {
        json_add_int(params, "rows", rows);
        json_add_int(params, "cols", cols);
    }
    if (call_run(&ue->conn, "exec_command", params, CALL_AGAIN, &answer, &err) < 0)
        status = ue_fail(ue, &err);
    else if (!json_get_int(answer.result, "session_id", &id)) /* it has ended already */
        status = talk_show(ue, params, answer.result);
    msg_answer_fini(&answer);
    snprintf(number, sizeof number, "%" PRId64, id);
    return id > 0 ? show(ue, number, false, NULL) : status;
}
