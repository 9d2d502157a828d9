/* secret_line: owns the frame that carries a secret, which is wiped, and the answer to it. */
#include "client/rpc/secret_line.h"
#include "base/bug.h"
#include "client/terminal/hidden.h"
#include "wire/attach.h"
#include <errno.h>
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

struct json *secret_line_give(struct connection *conn, const char *line, size_t len,
                              struct err *err)
{
    return secret_send_line(conn, line, len, err) < 0 ? NULL : receive_end(conn, err);
}

int secret_line_code(const struct json *end, struct err *err)
{
    const char *text = json_get_str(end, "error", NULL);
    if (!text)
        return 0;
    return err_set(err, err_by_name(json_get_str(end, "code", NULL)), "%s", text);
}
