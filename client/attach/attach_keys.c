/* attach_keys: owns keys until the daemon has acknowledged them, and the frames to the daemon. */
#include "base/bug.h"
#include "base/clock.h"
#include "client/attach/attached.h"
#include "client/terminal/terminal.h"
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define LEAVE_MS 2000 /* longest wait for the daemon when we detach */
#define KEYS_FRAME (64u << 10) /* most bytes of keys in one frame */
static_assert(KEYS_FRAME + ATTACH_NUMBER <= ATTACH_PAYLOAD_MAX, "a frame holds them");

/* A lost connection shows when it is read: the daemon may have said why before. */
static void send_bytes(struct attach *attach, const char *data, size_t size)
{
    (void)connection_send(&attach->ue->conn, data, size);
}

void attach_send(struct attach *attach, enum attach_type type, const char *data, size_t size)
{
    struct buf frame = BUF_INIT;
    BUG_UNLESS(size <= ATTACH_PAYLOAD_MAX && (data || size == 0));
    attach_append(&frame, type, data, size);
    send_bytes(attach, frame.data, frame.len);
    buf_fini(&frame);
}

/* The daemon acknowledges each frame of keys; keys that are typed until then go into the next one.
 * They may be a secret, so all buffers are wiped. */
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

/* Reads what still comes, of which only acknowledged keys matter. False: the connection has
 * ended. */
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

/* We wait for the daemon to close the connection: it would not read the rest of the keys if its
 * answer met a closed one. */
bool attach_leave(struct attach *attach)
{
    int64_t until_ms = clock_mono_ms() + LEAVE_MS;
    BUG_UNLESS(attach->state != ATTACH_LOST && attach->state != ATTACH_ENDED);
    struct pollfd daemon = {.fd = attach->ue->conn.fd, .events = POLLIN};
    attach_send_keys(attach);
    attach_send(attach, ATTACH_DETACH, NULL, 0);
    for (int64_t left_ms = LEAVE_MS; left_ms > 0; left_ms = until_ms - clock_mono_ms())
        if (poll(&daemon, 1, (int)left_ms) > 0 && !take_last(attach))
            break;
    return attach->sent.len == 0 && attach->keys.len == 0;
}

void attach_tell_terminal(struct attach *attach, const struct profile *profile)
{
    struct buf text = BUF_INIT;
    if (!attach_tells_terminal(attach))
        return;
    profile_print(&text, profile);
    attach_send(attach, ATTACH_TERMINAL, text.data, text.len);
    buf_fini(&text);
}

size_t attach_before_report(const struct attach *attach, const char *data, size_t size)
{
    const char *report = terminal_reports_wheel() && !attach->prefix.paste.open
                             ? memmem(data, size, "\033[<", 3)
                             : NULL;
    return report ? (size_t)(report - data) : size;
}

size_t attach_take_report(struct attach *attach, const char *data, size_t size,
                          enum prefix_command *command)
{
    size_t used = 3;
    while (used < size && (data[used] == ';' || (data[used] >= '0' && data[used] <= '9')))
        used++;
    attach->rolled = size > 6 && memcmp(data, "\033[<64;", 6) == 0;
    *command = attach->rolled ? PREFIX_SCROLL : PREFIX_NONE;
    return used < size ? used + 1 : size;
}
