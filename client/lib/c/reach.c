/* reach: owns the connection of a client: its beginning, its loss, and the road to the worker's
 * successor. Nothing here blocks but reach_turn, and reach_open while it starts a daemon. */
#include "base/bug.h"
#include "base/clock.h"
#include "client/lib/c/client.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define HELLO_MS 30000      /* a daemon that lives answers at once */
#define STALL_MS 10000      /* between two pieces of one line, which is written at once */
#define REOPEN_GONE_MS 1500 /* while the socket's path is missing: it is bound again at once */
#define RETRY_MS 20
#define WINDOW_UNTOLD 32

void reach_close(struct ue_client *client)
{
    connection_close(&client->conn);
    buf_clear(&client->out);
    client->watched = -1; /* the kernel has taken it out of ue_fd */
    client->sent = 0;
    client->hello = 0;
    client->window = 0;
}

/* On a new connection: no call goes before the daemon has said what it speaks. */
static void reach_begin(struct ue_client *client)
{
    BUG_UNLESS(client->conn.fd >= 0 && client->sent == 0);
    struct json *params = json_object_new();
    json_add_text(params, "client", client->name);
    json_add_text(params, "version", MUXD_VERSION);
    json_add_int(params, "protocol", MSG_PROTOCOL);
    client->hello = client->conn.next_id++;
    client->heard_ms = clock_mono_ms();
    client->lost_ms = 0;
    msg_request(&client->out, client->hello, "hello", params);
    json_free(params);
    reach_flush(client);
}

int reach_open(struct ue_client *client, struct err *err)
{
    struct connection *conn = &client->conn;
    if (conn->fd >= 0 || client->lost_ms > 0)
        return 0;
    conn->joined = false;
    int result = conn->may_start ? connection_open(conn, err) : connection_try(conn, err);
    if (result == ERR_NO_DAEMON && !conn->may_start)
        err_set(err, result, "'%s': nobody listens there; start muxd, or leave no_start out",
                conn->path);
    if (result == 0)
        reach_begin(client);
    return result;
}

void reach_give_up(struct ue_client *client, const struct err *err)
{
    BUG_UNLESS(err->code < 0);
    reach_close(client);
    client->lost_ms = 0;
    calls_fail_all(client, err);
}

/* What was sent may have been done; calls that count once end here. */
static void reach_lost(struct ue_client *client)
{
    reach_close(client);
    client->lost_ms = client->retry_ms = clock_mono_ms();
    client->reopened = false;
    calls_lost(client);
    if (client->count == 0)
        client->lost_ms = 0; /* the next call connects */
}

static void reach_retry(struct ue_client *client)
{
    struct connection *conn = &client->conn;
    struct err err = {0};
    int64_t now_ms = clock_mono_ms();
    int result = client->reopened ? connection_try(conn, &err)
                                  : connection_reopen(conn, now_ms, &err);
    int64_t patience_ms = conn->why == ECONNREFUSED ? CONNECTION_RESTART_MS : REOPEN_GONE_MS;
    client->reopened = true;
    if (result == 0) {
        reach_begin(client);
    } else if (result == ERR_NO_DAEMON && now_ms < client->lost_ms + patience_ms) {
        client->retry_ms = now_ms + RETRY_MS;
    } else {
        if (result == ERR_NO_DAEMON)
            err_set(&err, result,
                    "'%s': the daemon went away before it answered; list_sessions shows what "
                    "became of the session",
                    conn->path);
        reach_give_up(client, &err);
    }
}

void reach_flush(struct ue_client *client)
{
    while (client->out.len > 0 && client->conn.fd >= 0) {
        ssize_t n = send(client->conn.fd, client->out.data, client->out.len,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) /* full; or lost, which the next read reports */
            return;
        buf_consume(&client->out, (size_t)n);
    }
}

static void reach_take_hello(struct ue_client *client, struct msg_answer *answer)
{
    int64_t protocol = 0, most = 0;
    struct err err = answer->err;
    const char *version = json_get_str(answer->result, "version", NULL);
    client->hello = 0;
    snprintf(client->version, sizeof client->version, "%s", version ? version : "unknown");
    if (err.code == 0 && !json_get_int(answer->result, "protocol", &protocol))
        err_set(&err, ERR_NOT_AVAILABLE,
                "'%s': what listens there does not say its protocol; it "
                "is no muxd",
                client->conn.path);
    else if (err.code == 0 && protocol > MSG_PROTOCOL)
        err_set(&err, ERR_NOT_AVAILABLE,
                "'%s': muxd (%s) speaks protocol %lld, this libue (%s) speaks %d: use the libue "
                "that was installed with it",
                client->conn.path, client->version, (long long)protocol, MUXD_VERSION,
                MSG_PROTOCOL);
    json_get_int(answer->result, "requests_per_connection", &most);
    json_get_int(answer->result, "max_request", &client->max_request);
    msg_answer_fini(answer);
    if (err.code < 0) {
        reach_give_up(client, &err);
        return;
    }
    /* one is left for a cancel */
    client->window = most > 1 ? (size_t)most - 1 : most == 1 ? 1 : WINDOW_UNTOLD;
    calls_send(client);
}

/* A line that is no answer, or the beginning of one that is too long, ends the call that it names;
 * without one, all of them, as nothing tells whose it was. */
static void reach_spoilt(struct ue_client *client, const char *line, size_t len,
                         const struct err *err)
{
    struct msg_id id = {.kind = MSG_ID_NONE};
    msg_id_find(&id, line, len);
    if (id.kind != MSG_ID_NUMBER || id.number == client->hello ||
        !calls_fail(client, id.number, err))
        reach_give_up(client, err);
}

static void reach_take_line(struct ue_client *client, const char *line, size_t len)
{
    struct msg_answer answer;
    struct err err = {0};
    if (msg_parse_answer(&answer, line, len, &err) < 0) {
        msg_answer_fini(&answer);
        err_prefix(&err, "'%s' answers what can't be read", client->conn.path);
        err.code = ERR_INTERNAL;
        reach_spoilt(client, line, len, &err);
    } else if (client->hello && !answer.method &&
               (answer.id.kind == MSG_ID_NONE ||
                (answer.id.kind == MSG_ID_NUMBER && answer.id.number == client->hello))) {
        reach_take_hello(client, &answer);
    } else {
        calls_answered(client, &answer);
    }
}

/* Whoever is called back may read on from here, or lose the connection. */
static void reach_take_lines(struct ue_client *client)
{
    const char *line;
    size_t len;
    struct err err = {0};
    while (client->conn.fd >= 0) {
        int result = frame_next(&client->conn.in, &line, &len, &err);
        if (result == 0)
            return;
        if (result > 0) {
            reach_take_line(client, line, len);
            continue;
        }
        err_set(&err, ERR_TOO_LARGE,
                "'%s' answers with a line longer than %zu bytes; ask for less, or raise max_answer",
                client->conn.path, client->conn.in.max_line);
        reach_spoilt(client, line, len, &err);
    }
}

/* flags: MSG_DONTWAIT, or 0 to wait for the first piece. */
static void reach_receive(struct ue_client *client, int flags)
{
    while (client->conn.fd >= 0) {
        size_t room;
        char *to = frame_room(&client->conn.in, &room);
        ssize_t n = recv(client->conn.fd, to, room, flags);
        int error = errno;
        frame_filled(&client->conn.in, n > 0 ? (size_t)n : 0);
        if (n < 0 && error == EINTR)
            continue;
        flags = MSG_DONTWAIT;
        if (n < 0 && (error == EAGAIN || error == EWOULDBLOCK))
            return;
        if (n <= 0) {
            reach_lost(client);
            return;
        }
        client->heard_ms = clock_mono_ms();
        reach_take_lines(client);
        if ((size_t)n < room) /* that was all */
            return;
    }
}

/* How long the daemon may be silent now; 0: for ever. */
static int64_t reach_silence_ms(const struct ue_client *client)
{
    const struct frame *in = &client->conn.in;
    if (client->conn.fd < 0)
        return 0;
    int64_t most_ms = in->len > in->start ? STALL_MS : client->hello ? HELLO_MS : 0;
    if (most_ms > 0)
        return client->answer_ms > 0 && client->answer_ms < most_ms ? client->answer_ms : most_ms;
    return calls_asked(client) > 0 ? client->answer_ms : 0;
}

int64_t reach_due_ms(const struct ue_client *client)
{
    if (client->lost_ms > 0)
        return client->retry_ms;
    int64_t silence_ms = reach_silence_ms(client);
    return silence_ms > 0 ? client->heard_ms + silence_ms : INT64_MAX;
}

static void reach_check_silence(struct ue_client *client)
{
    struct err err;
    int64_t silence_ms = reach_silence_ms(client);
    if (silence_ms == 0 || clock_mono_ms() < client->heard_ms + silence_ms)
        return;
    if (client->conn.in.len > client->conn.in.start)
        err_set(&err, ERR_NO_DAEMON, "'%s': has stopped in the middle of an answer",
                client->conn.path);
    else
        err_set(&err, ERR_NO_DAEMON,
                "'%s': does not answer; list_sessions shows what became of "
                "the session",
                client->conn.path);
    reach_give_up(client, &err);
}

void reach_work(struct ue_client *client)
{
    if (client->lost_ms > 0 && clock_mono_ms() >= client->retry_ms)
        reach_retry(client);
    reach_flush(client);
    reach_receive(client, MSG_DONTWAIT);
    reach_flush(client);
    reach_check_silence(client);
}

void reach_turn(struct ue_client *client, int64_t deadline_ms)
{
    /* nothing else is waited for: one call of the kernel in place of two */
    if (client->conn.fd >= 0 && client->out.len == 0 && deadline_ms == INT64_MAX &&
        reach_due_ms(client) == INT64_MAX) {
        reach_receive(client, 0);
        reach_flush(client);
        return;
    }
    int64_t due_ms = reach_due_ms(client), until_ms = deadline_ms < due_ms ? deadline_ms : due_ms;
    int timeout = -1;
    if (until_ms != INT64_MAX) {
        int64_t left_ms = until_ms - clock_mono_ms();
        timeout = left_ms <= 0 ? 0 : left_ms < 3600000 ? (int)left_ms : 3600000;
    }
    short events = (short)(POLLIN | (client->out.len > 0 ? POLLOUT : 0));
    struct pollfd fd = {.fd = client->conn.fd, .events = events};
    if (poll(&fd, 1, timeout) >= 0 || errno == EINTR)
        reach_work(client);
}
