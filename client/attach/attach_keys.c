/* attach_keys: owns what was typed until the daemon has it, and the frames on their way to it. */
#include "base/clock.h"
#include "client/attach/attached.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define LEAVE_MS 2000 /* longest wait for a daemon that does not let us go */
#define KEYS_FRAME (64u << 10) /* most keys in one frame */

/* Where the connection is lost, what came before its end is still to be read, and tells why. */
static void send_bytes(struct attach *attach, const char *data, size_t size)
{
    (void)connection_send(&attach->ue->conn, data, size);
}

void attach_send(struct attach *attach, enum attach_type type, const char *data, size_t size)
{
    struct buf frame = BUF_INIT;
    attach_append(&frame, type, data, size);
    send_bytes(attach, frame.data, frame.len);
    buf_fini(&frame);
}

/* Keys go in frames that the daemon acknowledges; what is typed meanwhile is the next one. It may
 * be a secret: nothing of it stays. */
void attach_send_keys(struct attach *attach)
{
    while (attach->keys.len > 0) {
        size_t size = attach->keys.len < KEYS_FRAME ? attach->keys.len : KEYS_FRAME,
               from = attach->sent.len;
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
    send_bytes(attach, attach->sent.data, attach->sent.len);
    if (attach->sent.len == 0)
        attach_send_keys(attach);
}

void attach_take_typed(struct attach *attach, const struct attach_frame *frame)
{
    struct attach_frame first;
    long used = attach->sent.len > 0 ? attach_next(attach->sent.data, attach->sent.len, &first) : 0;
    if (used <= 0 || frame->size != ATTACH_NUMBER ||
        memcmp(first.data, frame->data, ATTACH_NUMBER) != 0)
        return;
    buf_consume(&attach->sent, (size_t)used);
    if (attach->sent.len == 0)
        attach_send_keys(attach);
}

/* Of all that still comes, only what it says of the keys counts. */
static bool take_last(struct attach *attach)
{
    struct frame *in = &attach->ue->conn.in;
    struct attach_frame frame;
    size_t room;
    long used = 0;
    char *to = frame_room(in, &room);
    ssize_t got = recv(attach->ue->conn.fd, to, room, MSG_DONTWAIT);
    frame_filled(in, got > 0 ? (size_t)got : 0);
    while (in->len > in->start &&
           (used = attach_next(in->data + in->start, in->len - in->start, &frame)) > 0) {
        if (frame.type == ATTACH_TYPED)
            attach_take_typed(attach, &frame);
        in->start += (size_t)used;
        in->scanned = in->start;
    }
    return used >= 0 && (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
}

/* To close first would throw away what the daemon has not read yet: it answers, we would be gone,
 * and it would look no further. */
bool attach_leave(struct attach *attach)
{
    int64_t until_ms = clock_mono_ms() + LEAVE_MS;
    struct pollfd daemon = {.fd = attach->ue->conn.fd, .events = POLLIN};
    attach_send_keys(attach);
    attach_send(attach, ATTACH_DETACH, NULL, 0);
    for (int64_t left_ms = LEAVE_MS; left_ms > 0; left_ms = until_ms - clock_mono_ms())
        if (poll(&daemon, 1, (int)left_ms) > 0 && !take_last(attach))
            break;
    return attach->sent.len == 0 && attach->keys.len == 0;
}

void attach_tell_terminal(struct attach *attach, const struct outer *outer)
{
    struct buf text = BUF_INIT;
    if (!attach_asks(attach))
        return;
    outer_print(&text, outer);
    attach_send(attach, ATTACH_TERMINAL, text.data, text.len);
    buf_fini(&text);
}
