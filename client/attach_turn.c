/* attach_turn: owns one turn of an attached terminal: keys, frames, signals. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "client/attached.h"
#include "client/overlay.h"
#include "client/terminal.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OUT_MAX (16u << 10)  /* what the terminal has not taken; over it nothing is read: what lies here is old once it is shown */
#define NOTICE_MS 4000
#define LEAVE_MS 2000 /* longest wait for a daemon that does not let us go */
#define KEYS_FRAME (64u << 10) /* most keys in one frame */
#define KEYS_MAX (256u << 10)  /* typed and not taken by the daemon; over it the terminal is not read */

static void send_bytes(struct attach *attach, const char *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = send(attach->ue->conn.fd, data + at, size - at, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) /* what came before the end is still to be read, and tells why */
            break;
        at += n > 0 ? (size_t)n : 0;
    }
}

static void send_frame(struct attach *attach, enum attach_type type, const char *data, size_t size)
{
    struct buf frame = BUF_INIT;
    attach_append(&frame, type, data, size);
    send_bytes(attach, frame.data, frame.len);
    buf_fini(&frame);
}

static void send_plain_keys(struct attach *attach)
{
    while (attach->keys.len > 0) {
        size_t size = attach->keys.len < KEYS_FRAME ? attach->keys.len : KEYS_FRAME;
        struct buf frame;
        buf_init_wiping(&frame, 0);
        attach_append(&frame, ATTACH_INPUT, attach->keys.data, size);
        send_bytes(attach, frame.data, frame.len);
        buf_fini(&frame);
        buf_consume(&attach->keys, size);
    }
}

/* Keys go in frames that the daemon acknowledges; what is typed meanwhile is the next one. It may be a secret: nothing of it stays. */
static void send_keys(struct attach *attach)
{
    if (!attach->numbered_keys)
        send_plain_keys(attach);
    while (attach->keys.len > 0) {
        size_t size = attach->keys.len < KEYS_FRAME ? attach->keys.len : KEYS_FRAME, from = attach->sent.len;
        struct buf payload;
        buf_init_wiping(&payload, 0);
        attach->keys_number += attach->keys_number == UINT64_MAX ? 2 : 1;
        buf_append(&payload, (const char *)&attach->keys_number, ATTACH_NUMBER);
        buf_append(&payload, attach->keys.data, size);
        attach_append(&attach->sent, ATTACH_KEYS, payload.data, payload.len);
        send_bytes(attach, attach->sent.data + from, attach->sent.len - from);
        buf_fini(&payload);
        buf_consume(&attach->keys, size);
    }
}

void attach_send_again(struct attach *attach)
{
    if (!attach->numbered_keys)
        buf_clear(&attach->sent); /* an older daemon took over: it can't tell which of them came */
    send_bytes(attach, attach->sent.data, attach->sent.len);
    if (attach->sent.len == 0)
        send_keys(attach);
}

static void take_typed(struct attach *attach, const struct attach_frame *frame)
{
    struct attach_frame first;
    long used = attach->sent.len > 0 ? attach_next(attach->sent.data, attach->sent.len, &first) : 0;
    if (used <= 0 || frame->size != ATTACH_NUMBER || memcmp(first.data, frame->data, ATTACH_NUMBER) != 0)
        return;
    buf_consume(&attach->sent, (size_t)used);
    if (attach->sent.len == 0)
        send_keys(attach);
}

/* To close first would throw away what the daemon has not read yet: it answers, we would be gone, and it would look no further. */
void attach_leave(struct attach *attach)
{
    char unseen[4096];
    int64_t until_ms = clock_mono_ms() + LEAVE_MS;
    struct pollfd daemon = {.fd = attach->ue->conn.fd, .events = POLLIN};
    send_frame(attach, ATTACH_DETACH, NULL, 0);
    for (int64_t left_ms = LEAVE_MS; left_ms > 0; left_ms = until_ms - clock_mono_ms()) {
        if (poll(&daemon, 1, (int)left_ms) <= 0)
            continue;
        ssize_t got = recv(daemon.fd, unseen, sizeof unseen, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            break;
    }
}

static void send_size(struct attach *attach)
{
    char text[32];
    terminal_size(&attach->rows, &attach->cols);
    snprintf(text, sizeof text, "%dx%d", attach->rows, attach->cols);
    send_frame(attach, ATTACH_RESIZE, text, strlen(text));
}

/* In the last line, until the next key; the daemon then draws anew what was there. */
void attach_notice(struct attach *attach, const char *text, size_t size)
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

void attach_anew(struct attach *attach)
{
    send_frame(attach, ATTACH_REDRAW, NULL, 0);
    attach->stale++;
}

static void end_notice(struct attach *attach)
{
    if (!attach->notice_until_ms)
        return;
    attach->notice_until_ms = 0;
    attach_anew(attach);
}

static void come_back(struct attach *attach)
{
    if (terminal_enter(&attach->err) < 0) {
        attach->state = ATTACH_FAILED;
        return;
    }
    attach->notice_until_ms = 0;
    send_size(attach);
    attach_anew(attach);
}

static void obey(struct attach *attach, enum prefix_command command)
{
    switch (command) {
    case PREFIX_DETACH:
        attach->state = ATTACH_DETACHED;
        break;
    case PREFIX_REDRAW:
        send_size(attach);
        attach_anew(attach);
        break;
    case PREFIX_SUSPEND:
        terminal_suspend();
        come_back(attach);
        break;
    case PREFIX_SCROLL:
        attach_view_scroll(attach);
        break;
    case PREFIX_LIST:
        attach_view_list(attach);
        break;
    case PREFIX_HELP:
        attach_view_help(attach);
        break;
    case PREFIX_TAKE:
        send_frame(attach, ATTACH_TAKE, NULL, 0);
        break;
    case PREFIX_GIVE:
        send_frame(attach, ATTACH_GIVE, NULL, 0);
        break;
    case PREFIX_ITSELF: /* was passed on */
    case PREFIX_NONE:
        break;
    }
}

static void use_keys(struct attach *attach, char data[OVERLAY_AHEAD], size_t size)
{
    for (size_t at = 0; at < size && attach->state == ATTACH_SHOWING;) {
        enum prefix_command command;
        at += prefix_take(&attach->prefix, data + at, size - at, &attach->keys, &command);
        if (attach->sent.len == 0 || command != PREFIX_NONE) /* in the order of typing */
            send_keys(attach);
        if (command == PREFIX_NONE)
            continue;
        overlay_type_ahead(data + at, size - at); /* what covers the session now gets them first */
        obey(attach, command);
        if (attach->state == ATTACH_SHOWING) {
            size = overlay_unused(data);
            at = 0;
        }
    }
}

static void take_keys(struct attach *attach)
{
    char data[OVERLAY_AHEAD];
    ssize_t got = read(STDIN_FILENO, data, sizeof data);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) { /* the terminal is gone, as after a hang-up */
        send_keys(attach);
        obey(attach, PREFIX_DETACH);
        return;
    }
    end_notice(attach);
    use_keys(attach, data, (size_t)got);
}

/* Those that were typed while a session was chosen. */
void attach_take_unused_keys(struct attach *attach)
{
    char data[OVERLAY_AHEAD];
    use_keys(attach, data, overlay_unused(data));
}

static void take_drawing(struct attach *attach, const struct attach_frame *frame)
{
    terminal_notice_modes(frame->data, frame->size);
    if (attach->stale > 0) /* what the terminal showed when this was made is gone */
        return;
    buf_append(&attach->out, frame->data, frame->size);
    if (attach->said) {
        attach_notice(attach, attach->said, strlen(attach->said));
        free(attach->said);
        attach->said = NULL;
    }
}

/* Who has the keyboard, for the page of keys. */
static void take_status(struct attach *attach, const struct attach_frame *frame)
{
    struct err err;
    struct json *status = json_parse(frame->data, frame->size, &err);
    const char *keyboard = json_get_str(status, "keyboard", NULL);
    if (keyboard) {
        free(attach->keyboard);
        attach->keyboard = xstrdup(keyboard);
    }
    json_free(status);
}

static void take_frame(struct attach *attach, const struct attach_frame *frame)
{
    switch (frame->type) {
    case ATTACH_OUTPUT:
        take_drawing(attach, frame);
        break;
    case ATTACH_TYPED:
        take_typed(attach, frame);
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
    default: /* of a newer daemon */
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
    if (used < 0)
        attach->state = ATTACH_LOST;
}

static void receive(struct attach *attach)
{
    size_t room;
    char *to = frame_room(&attach->ue->conn.in, &room);
    ssize_t got = recv(attach->ue->conn.fd, to, room, MSG_DONTWAIT);
    frame_filled(&attach->ue->conn.in, got > 0 ? (size_t)got : 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        attach->state = ATTACH_LOST;
    else
        attach_take_frames(attach);
}

void attach_write_out(struct attach *attach)
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

void attach_turn(struct attach *attach)
{
    bool full = attach->out.len >= OUT_MAX;
    int64_t left_ms = attach->notice_until_ms - clock_mono_ms();
    struct timespec left = {.tv_sec = left_ms > 0 ? left_ms / 1000 : 0, .tv_nsec = left_ms > 0 ? left_ms % 1000 * 1000000 : 0};
    bool keys_full = attach->keys.len >= KEYS_MAX;
    struct pollfd fds[3] = {{.fd = keys_full ? -1 : STDIN_FILENO, .events = POLLIN},
                            {.fd = attach->ue->conn.fd, .events = full ? 0 : POLLIN},
                            {.fd = attach->out.len > 0 ? terminal_out_fd() : -1, .events = POLLOUT}};
    int ready = ppoll(fds, 3, attach->notice_until_ms ? &left : NULL, terminal_wait_mask());
    look_at_signals(attach);
    if (ready <= 0 || attach->state != ATTACH_SHOWING)
        return;
    if (fds[0].revents)
        take_keys(attach);
    if (fds[1].revents && attach->state == ATTACH_SHOWING)
        receive(attach);
    if (attach->out.len > 0 && attach->state != ATTACH_DETACHED) /* at once: what came just now is a key's echo */
        attach_write_out(attach);
}
