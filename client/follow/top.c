/* top: `ue top`: owns its loop: asks for the list once a second and after events, and obeys
 * keys. */
#include "client/follow/top.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/rpc/answering.h"
#include "client/rpc/call.h"
#include "client/rpc/hand_over.h"
#include "client/terminal/overlay.h"
#include "client/rpc/params.h"
#include "client/terminal/terminal.h"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TICK_MS 1000
#define FAR 100000L /* rows: to the end */

enum verdict { GO_ON, REDRAW, LEAVE };

/* A lost connection shows when the answer is read. */
static void top_send_request(struct top *top, const char *method, struct json *params, bool waits,
                             int64_t *id)
{
    params_meta(top->ue, params, META_VERB);
    if (waits)
        params_wait(params, INT64_MAX);
    call_post(&top->ue->conn, method, params, id, NULL);
    json_free(params);
}

static void ask_list(struct top *top)
{
    struct json *params = json_object_new();
    if (top->list_id) {
        json_free(params);
        return;
    }
    if (top->all)
        json_add_bool(params, "all", true);
    top_send_request(top, "list_sessions", params, false, &top->list_id);
}

/* Events bring changes to the table at once. */
static void ask_events(struct top *top)
{
    static const char *const types[] = {"created", "ready", "secret", "renamed",
                                        "killed",  "end",   "removed", "approval"};
    struct json *params = json_object_new(), *list = json_add_array(params, "types");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        json_add_text(list, NULL, types[i]);
    if (top->events_next >= 0)
        json_add_int(params, "since", top->events_next);
    json_add_int(params, "max_bytes", 0);
    top_send_request(top, "events", params, true, &top->events_id);
}

static void select_row(struct top *top, size_t row)
{
    size_t count = top_rows(top);
    top->selected = count == 0 ? 0 : top_number_at(top, row < count ? row : count - 1);
}

static enum verdict take_list(struct top *top, struct msg_answer *answer)
{
    size_t before = top_row_of(top, top->selected);
    top->list_id = 0;
    if (answer->err.code)
        return GO_ON;
    msg_answer_fini(&top->list);
    top->list = *answer;
    *answer = (struct msg_answer){0};
    top_rates_look(top);
    if (top_row_of(top, top->selected) == SIZE_MAX) {
        top->asks_kill = false; /* the question was about a session that has gone */
        select_row(top, before == SIZE_MAX ? 0 : before);
    }
    return REDRAW;
}

/* The last one that began to wait. */
static void tell_approval(struct top *top, const struct json *events)
{
    for (const struct json *it = json_first(events); it; it = json_next(it)) {
        const char *state = json_get_str(it, "state", NULL), *id = json_get_str(it, "id", NULL);
        if (json_get(it, "command") && id && state && strcmp(state, "asked") == 0)
            snprintf(top->status, sizeof top->status,
                     "approval %.16s: a command waits for a person; p shows it", id);
    }
}

static enum verdict top_take(struct top *top, struct msg_answer *answer)
{
    if (answer->method || answer->id.kind != MSG_ID_NUMBER)
        return GO_ON;
    if (answer->id.number == top->list_id)
        return take_list(top, answer);
    if (answer->id.number == top->events_id) {
        top->events_id = 0;
        if (answer->err.code == 0) {
            json_get_int(answer->result, "next", &top->events_next);
            tell_approval(top, json_get(answer->result, "events"));
            ask_events(top);
        }
        ask_list(top);
    } else if (answer->id.number == top->kill_id) {
        top->kill_id = 0;
        snprintf(top->status, sizeof top->status, "%.500s",
                 answer->err.code ? answer->err.text : "");
        ask_list(top);
        return REDRAW;
    }
    return GO_ON;
}

static enum verdict top_take_lines(struct top *top)
{
    enum verdict verdict = GO_ON;
    const char *line;
    size_t len;
    int result;
    struct err err;
    while ((result = frame_next(&top->ue->conn.in, &line, &len, &err)) != 0) {
        struct msg_answer answer = {0};
        if (result > 0 && msg_parse_answer(&answer, line, len, &err) == 0 &&
            top_take(top, &answer) == REDRAW)
            verdict = REDRAW;
        msg_answer_fini(&answer);
    }
    return verdict;
}

static enum verdict top_receive(struct top *top, struct err *err)
{
    struct connection *conn = &top->ue->conn;
    size_t room;
    char *to = frame_room(&conn->in, &room);
    ssize_t n = recv(conn->fd, to, room, MSG_DONTWAIT);
    frame_filled(&conn->in, n > 0 ? (size_t)n : 0);
    if (n > 0)
        connection_heard(conn);
    if (n > 0)
        return top_take_lines(top);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return GO_ON;
    connection_close(conn); /* the worker's successor has the same sessions */
    top->list_id = top->events_id = top->kill_id = 0;
    top->asks_kill = false;
    if (connection_reopen(conn, clock_mono_ms() + CONNECTION_RESTART_MS, err) < 0)
        return LEAVE;
    ask_events(top);
    ask_list(top);
    return REDRAW;
}

/* Runs `ue attach` in this terminal as a child, and returns when it ends. */
static enum verdict attach(struct top *top, struct err *err)
{
    if (!top->selected)
        return GO_ON;
    terminal_leave();
    int status = hand_over_terminal(&top->ue->conn, top->selected);
    top->status[0] = 0;
    if (status < 0 || status == UE_FAILED)
        snprintf(top->status, sizeof top->status,
                 "session %" PRId64 " can't be shown here; `ue logs %" PRId64 "` shows its output",
                 top->selected, top->selected);
    if (terminal_enter(err) < 0)
        return LEAVE;
    ask_list(top);
    return REDRAW;
}

static void kill_selected(struct top *top)
{
    struct json *params = json_object_new();
    BUG_UNLESS(top->selected > 0);
    json_add_int(params, "session_id", top->selected);
    snprintf(top->status, sizeof top->status, "session %" PRId64 " is being ended", top->selected);
    top_send_request(top, "kill_session", params, false, &top->kill_id);
}

static void move_by(struct top *top, long by)
{
    size_t row = top_row_of(top, top->selected), count = top_rows(top);
    if (row == SIZE_MAX)
        row = 0;
    if (by < 0 && (size_t)-by > row)
        row = 0;
    else if (count > 0)
        row = (size_t)((long)row + by) < count ? (size_t)((long)row + by) : count - 1;
    select_row(top, row);
}

static void top_move(struct top *top, int32_t key)
{
    int rows, cols;
    terminal_size(&rows, &cols);
    long page = rows > 3 ? rows - 3 : 1;
    switch (key) {
    case OVERLAY_UP: move_by(top, -1); break;
    case OVERLAY_DOWN: move_by(top, 1); break;
    case OVERLAY_PAGE_UP: move_by(top, -page); break;
    case OVERLAY_PAGE_DOWN: move_by(top, page); break;
    case OVERLAY_HOME: move_by(top, -FAR); break;
    case OVERLAY_END: move_by(top, FAR); break;
    default: break;
    }
}

/* One question after the other. Keys that were typed before them are dropped. */
static enum verdict top_answer(struct top *top)
{
    struct buf out = BUF_INIT;
    char *said;
    bool alive = answering_run(&top->ue->conn, &out, &said);
    snprintf(top->status, sizeof top->status, "%.500s", said);
    top->typed_size = 0;
    free(said);
    buf_fini(&out);
    return alive ? REDRAW : LEAVE;
}

static enum verdict take_key(struct top *top, int32_t key, struct err *err)
{
    if (top->asks_kill) {
        top->asks_kill = false;
        if (key == 'y' || key == 'Y')
            kill_selected(top);
        if (key < OVERLAY_UP)
            return REDRAW;
    }
    if (key >= OVERLAY_UP) {
        top_move(top, key);
        return REDRAW;
    }
    top->status[0] = 0;
    switch (key) {
    case 'q':
    case 'Q':
    case 3: /* ^C */ return LEAVE;
    case '\r':
    case '\n': return attach(top, err);
    case 'k': top->asks_kill = top->selected != 0; break;
    case 'p': return top_answer(top);
    case 'a':
        top->all = !top->all;
        ask_list(top);
        break;
    case 26: terminal_stop = 1; break; /* ^Z */
    default: break;
    }
    return REDRAW;
}

static enum verdict top_take_keys(struct top *top, struct err *err)
{
    enum verdict verdict = GO_ON;
    size_t at = 0, used;
    int32_t key;
    BUG_UNLESS(top->typed_size < sizeof top->typed); /* each key is shorter */
    ssize_t n = read(STDIN_FILENO, top->typed + top->typed_size,
                     sizeof top->typed - top->typed_size);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return GO_ON;
    if (n <= 0)
        return LEAVE;
    top->typed_size += (size_t)n;
    while (at < top->typed_size && verdict != LEAVE &&
           (used = overlay_key_next(top->typed + at, top->typed_size - at, &key)) > 0) {
        at += used;
        verdict = take_key(top, key, err);
    }
    /* the beginning of a key stays, and is shorter than typed */
    top->typed_size -= at < top->typed_size ? at : top->typed_size;
    memmove(top->typed, top->typed + at, top->typed_size);
    return verdict;
}

/* Draws the whole screen. */
static enum verdict top_show(struct top *top)
{
    struct buf out = BUF_INIT;
    enum verdict verdict = GO_ON;
    top_draw(top, &out);
    for (size_t at = 0; at < out.len && verdict == GO_ON;) {
        ssize_t n = terminal_write(out.data + at, out.len - at);
        struct pollfd slow = {.fd = terminal_out_fd(), .events = POLLOUT};
        if (n < 0)
            verdict = LEAVE;
        else if (n == 0)
            ppoll(&slow, 1, NULL, terminal_wait_mask());
        at += n > 0 ? (size_t)n : 0;
    }
    buf_fini(&out);
    return verdict;
}

static enum verdict top_look_at_signals(struct top *top, struct err *err)
{
    bool again = terminal_resized || terminal_continued || terminal_stop;
    if (terminal_stop)
        terminal_suspend();
    else if (terminal_continued)
        terminal_leave();
    if (again && terminal_enter(err) < 0)
        return LEAVE;
    terminal_resized = terminal_continued = 0;
    (void)top;
    return again ? REDRAW : GO_ON;
}

static enum verdict top_turn(struct top *top, struct err *err)
{
    int64_t left_ms = top->tick_ms - clock_mono_ms();
    struct timespec left = {.tv_sec = left_ms > 0 ? left_ms / 1000 : 0,
                            .tv_nsec = left_ms > 0 ? left_ms % 1000 * 1000000 : 0};
    struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = top->ue->conn.fd, .events = POLLIN}};
    int ready = ppoll(fds, 2, &left, terminal_wait_mask());
    enum verdict verdict = top_look_at_signals(top, err), more = GO_ON;
    if (ready > 0 && fds[1].revents && verdict != LEAVE)
        more = top_receive(top, err);
    verdict = more > verdict ? more : verdict;
    if (ready > 0 && fds[0].revents && verdict != LEAVE)
        more = top_take_keys(top, err);
    verdict = more > verdict ? more : verdict;
    if (clock_mono_ms() >= top->tick_ms) {
        top->tick_ms = clock_mono_ms() + TICK_MS;
        top_rates_tick(top);
        ask_list(top);
    }
    return verdict == REDRAW ? top_show(top) : verdict;
}

int verb_TOP(struct ue *ue)
{
    struct top top = {.ue = ue, .all = args_has(&ue->args, "all"), .events_next = -1};
    struct err err = {0};
    if (terminal_open(&err) < 0 || connection_open(&ue->conn, &err) < 0 || terminal_enter(&err) < 0)
        return ue_fail(ue, &err);
    top.tick_ms = clock_mono_ms() + TICK_MS;
    ask_events(&top);
    ask_list(&top);
    while (top_turn(&top, &err) != LEAVE)
        ;
    terminal_leave();
    msg_answer_fini(&top.list);
    free(top.rates);
    return err.code < 0 ? ue_fail(ue, &err) : 0;
}
