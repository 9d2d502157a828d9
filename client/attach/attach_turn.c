/* attach_turn: owns one turn of an attached terminal: keys, frames, signals and the terminal's
 * replies. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "client/attach/attached.h"
#include "client/terminal/fit.h"
#include "client/terminal/query.h"
#include "client/terminal/overlay.h"
#include "client/terminal/terminal.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* output that the terminal has not taken; beyond it no frames are read, so that what it shows is
 * not old */
#define OUT_MAX (16u << 10)
/* keys that the daemon has not taken; beyond it the terminal is not read */
#define KEYS_MAX (256u << 10)

static void send_size(struct attach *attach)
{
    char text[32];
    terminal_size(&attach->rows, &attach->cols);
    snprintf(text, sizeof text, "%dx%d", attach->rows, attach->cols);
    attach_send(attach, ATTACH_RESIZE, text, strlen(text));
}

void attach_redraw(struct attach *attach)
{
    attach_send(attach, ATTACH_REDRAW, NULL, 0);
    attach->stale++;
}

/* After a stop, or when another program has used the terminal. */
static void attach_turn_resume(struct attach *attach)
{
    if (terminal_enter(&attach->err) < 0) {
        attach->state = ATTACH_FAILED;
        return;
    }
    attach->notice_until_ms = 0;
    send_size(attach);
    attach_redraw(attach);
    if (attach_tells_terminal(attach))
        query_ask(&attach->out);
}

static void attach_turn_stop(struct attach *attach)
{
    query_settle();
    terminal_suspend();
    attach_turn_resume(attach);
}

static void attach_turn_obey(struct attach *attach, enum prefix_command command)
{
    switch (command) {
    case PREFIX_DETACH:
        attach->state = ATTACH_DETACHED;
        break;
    case PREFIX_REDRAW:
        send_size(attach);
        attach_redraw(attach);
        break;
    case PREFIX_SUSPEND:
        attach_turn_stop(attach);
        break;
    case PREFIX_SCROLL:
        attach_view_scroll(attach);
        break;
    case PREFIX_LIST:
        attach_view_list(attach);
        break;
    case PREFIX_APPROVALS:
        attach_view_approvals(attach);
        break;
    case PREFIX_HELP:
        attach_view_help(attach);
        break;
    case PREFIX_TAKE:
        attach_send(attach, ATTACH_TAKE, NULL, 0);
        break;
    case PREFIX_GIVE:
        attach_send(attach, ATTACH_GIVE, NULL, 0);
        break;
    case PREFIX_ITSELF: /* prefix_take has passed it on */
    case PREFIX_NONE:
        break;
    }
}

static size_t take_keys(struct attach *attach, const char *data, size_t size,
                        enum prefix_command *command)
{
    size_t before = attach_before_report(attach, data, size);
    if (before == 0)
        return attach_take_report(attach, data, size, command);
    return prefix_take(&attach->prefix, data, before, &attach->keys, command);
}

static void attach_turn_use_keys(struct attach *attach, char data[OVERLAY_AHEAD], size_t size)
{
    attach->prefix.pastes = terminal_marks_pastes();
    for (size_t at = 0; at < size && attach->state == ATTACH_SHOWING;) {
        enum prefix_command command;
        at += take_keys(attach, data + at, size - at, &command);
        if (attach->sent.len == 0 || command != PREFIX_NONE) /* keys before a command go first */
            attach_send_keys(attach);
        if (command == PREFIX_NONE)
            continue;
        overlay_type_ahead(data + at, size - at); /* a view gets the keys behind the command */
        attach_turn_obey(attach, command);
        if (attach->state == ATTACH_SHOWING) {
            size = overlay_unused(data);
            at = 0;
        }
    }
}

/* What was held as a part of a paste was typed, as nothing more came. */
static void use_held_keys(struct attach *attach)
{
    char data[OVERLAY_AHEAD];
    size_t size = torn_due(&attach->torn, &attach->prefix, data, &attach->keys, clock_mono_ms());
    if (size > 0)
        attach_turn_use_keys(attach, data, size);
    mem_wipe(data, sizeof data);
}

static void attach_turn_take_keys(struct attach *attach)
{
    char data[OVERLAY_AHEAD];
    ssize_t got = query_read(data, sizeof data);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) { /* the terminal is gone, for instance by a hang-up */
        torn_end(&attach->torn, &attach->keys);
        attach_send_keys(attach);
        attach_turn_obey(attach, PREFIX_DETACH);
        return;
    }
    attach_notice_end(attach);
    attach->prefix.pastes = terminal_marks_pastes();
    if (!torn_hold(&attach->torn, &attach->prefix, data, (size_t)got, &attach->keys,
                   clock_mono_ms()))
        attach_turn_use_keys(attach, data, (size_t)got);
    mem_wipe(data, sizeof data);
}

void attach_take_unused_keys(struct attach *attach)
{
    char data[OVERLAY_AHEAD];
    attach_turn_use_keys(attach, data, overlay_unused(data));
    mem_wipe(data, sizeof data);
}

static void take_drawing(struct attach *attach, const struct attach_frame *frame)
{
    terminal_notice_modes(frame->data, frame->size);
    if (attach->stale > 0) /* made for a screen that the terminal no longer shows */
        return;
    buf_append(&attach->out, frame->data, frame->size);
    if (attach->said) {
        attach_notice(attach, attach->said, strlen(attach->said));
        free(attach->said);
        attach->said = NULL;
    }
}

/* Keeps who holds the keyboard, for the page of keys, and where notices are to stand. */
static void take_status(struct attach *attach, const struct attach_frame *frame)
{
    struct err err;
    struct json *status = json_parse(frame->data, frame->size, &err);
    const char *keyboard = json_get_str(status, "keyboard", NULL);
    if (keyboard) {
        free(attach->keyboard);
        attach->keyboard = xstrdup(keyboard);
    }
    attach_notice_place(attach, status);
    json_free(status);
}

static void take_frame(struct attach *attach, const struct attach_frame *frame)
{
    switch (frame->type) {
    case ATTACH_OUTPUT:
        take_drawing(attach, frame);
        break;
    case ATTACH_TYPED:
        attach_take_typed(attach, frame);
        break;
    case ATTACH_ANEW:
        attach->stale -= attach->stale > 0;
        break;
    case ATTACH_NOTICE:
        attach_notice(attach, frame->data, frame->size);
        break;
    case ATTACH_STATUS:
        take_status(attach, frame);
        break;
    case ATTACH_END:
        attach->end = json_parse(frame->data, frame->size, &attach->err);
        attach->state = attach->end ? ATTACH_ENDED : ATTACH_FAILED;
        break;
    default: /* unknown frames are ignored */
        break;
    }
}

void attach_take_frames(struct attach *attach)
{
    struct frame *in = &attach->ue->conn.in;
    struct attach_frame frame;
    long used = 1;
    while (attach->state == ATTACH_SHOWING && in->len > in->start) {
        used = attach_next(in->data + in->start, in->len - in->start, &frame);
        if (used <= 0)
            break;
        take_frame(attach, &frame);
        in->start += (size_t)used;
        in->scanned = in->start;
    }
    if (used < 0) {
        err_set(&attach->err, ERR_INTERNAL, "'%s': sent a frame that is too long; attach again",
                attach->ue->conn.path);
        attach->state = ATTACH_FAILED;
    }
}

static void attach_turn_receive(struct attach *attach)
{
    size_t room;
    char *to = frame_room(&attach->ue->conn.in, &room);
    ssize_t got = recv(attach->ue->conn.fd, to, room, MSG_DONTWAIT);
    frame_filled(&attach->ue->conn.in, got > 0 ? (size_t)got : 0);
    if (got > 0)
        connection_heard(&attach->ue->conn);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        attach->state = ATTACH_LOST;
    else
        attach_take_frames(attach);
}

void attach_write_out(struct attach *attach)
{
    ssize_t n = terminal_write(attach->out.data, attach->out.len);
    if (n < 0)
        attach_turn_obey(attach, PREFIX_DETACH);
    else
        buf_consume(&attach->out, (size_t)n);
}

static void attach_turn_look_at_signals(struct attach *attach)
{
    if (terminal_stop)
        attach_turn_obey(attach, PREFIX_SUSPEND);
    /* we were stopped by SIGSTOP, which can't be caught: the shell may have used the terminal */
    if (terminal_continued) {
        terminal_continued = 0;
        terminal_leave();
        attach_turn_resume(attach);
    }
    if (terminal_resized) {
        terminal_resized = 0;
        send_size(attach);
        query_resized();
    }
    if (attach->notice_until_ms && clock_mono_ms() >= attach->notice_until_ms)
        attach_notice_end(attach);
}

/* Sends the terminal's replies to the daemon, and new queries to the terminal. */
static void look_at_terminal(struct attach *attach)
{
    struct profile profile;
    if (attach_tells_terminal(attach) && query_changed(&profile, &attach->out))
        attach_tell_terminal(attach, &profile);
}

static int64_t sooner(int64_t wait_ms, int64_t due_ms, int64_t now_ms)
{
    int64_t left_ms = due_ms > now_ms ? due_ms - now_ms : 0;
    return due_ms == 0 || (wait_ms >= 0 && wait_ms < left_ms) ? wait_ms : left_ms;
}

/* Time until the notice or held bytes are due; -1: none is there. */
static int attach_turn_wait_ms(const struct attach *attach)
{
    int64_t now_ms = clock_mono_ms();
    int64_t wait_ms = sooner(query_wait_ms(), attach->notice_until_ms, now_ms);
    return (int)sooner(wait_ms, attach->torn.due_ms, now_ms);
}

void attach_turn(struct attach *attach)
{
    bool full = attach->out.len >= OUT_MAX;
    BUG_UNLESS(attach->state == ATTACH_SHOWING && terminal_is_entered());
    int left_ms = attach_turn_wait_ms(attach);
    struct timespec left = {.tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000};
    bool keys_full = attach->keys.len >= KEYS_MAX;
    struct pollfd fds[3] = {
        {.fd = keys_full ? -1 : STDIN_FILENO, .events = POLLIN},
        {.fd = attach->ue->conn.fd, .events = full ? 0 : POLLIN},
        {.fd = attach->out.len > 0 ? terminal_out_fd() : -1, .events = POLLOUT}};
    int ready = ppoll(fds, 3, left_ms >= 0 ? &left : NULL, terminal_wait_mask());
    attach_turn_look_at_signals(attach);
    if (attach->state != ATTACH_SHOWING)
        return;
    if (keys_full)
        attach->torn.came_ms = clock_mono_ms(); /* more may lie there */
    if ((ready > 0 && fds[0].revents) || query_wait_ms() == 0)
        attach_turn_take_keys(attach);
    else
        use_held_keys(attach);
    if (ready > 0 && fds[1].revents && attach->state == ATTACH_SHOWING)
        attach_turn_receive(attach);
    if (attach->state == ATTACH_SHOWING)
        look_at_terminal(attach);
    /* at once, as it may be the echo of a key */
    if (attach->out.len > 0 && attach->state != ATTACH_DETACHED)
        attach_write_out(attach);
}
