/* connections: owns the peers: accepts, counts and frees them. A connection that sends nothing
 * has no effect and is the first to be closed. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/reserve.h"
#include "server/server.h"
#include "sys/peercred.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPTS_A_TURN 64
#define ACCEPT_RETRY_MS 250 /* when descriptors have run out and no client leaves */
#define WATCH_AGAIN_MS 5000 /* limits.def names it, too */

static void on_request(void *arg, struct request *request)
{
    dispatch(arg, request);
}

static void on_dirty(void *arg, struct peer *peer)
{
    struct server *server = arg;
    BUG_UNLESS(server->ndirty <= server->dirty_room);
    if (server->ndirty == server->dirty_room) {
        server->dirty_room = server->dirty_room ? server->dirty_room * 2 : 64;
        server->dirty = xreallocarray(server->dirty, server->dirty_room, sizeof(struct peer *));
    }
    server->dirty[server->ndirty++] = peer;
}

/* The list stays in the order of their coming. */
static void remove_from(struct peer **list, size_t *count, const struct peer *peer)
{
    size_t at = 0;
    while (at < *count && list[at] != peer)
        at++;
    BUG_UNLESS(at < *count);
    memmove(list + at, list + at + 1, (--*count - at) * sizeof *list);
}

/* Watches the socket again. The kernel may have no memory for a moment: then a timer tries
 * again, or no client would ever be accepted. */
static void accept_again(struct server *server)
{
    if (server->listen_io && loop_io_set(server->listen_io, LOOP_READ) < 0)
        loop_timer_set_ms(&server->accept_retry, ACCEPT_RETRY_MS);
}

static void on_closed(void *arg, struct peer *peer)
{
    struct server *server = arg;
    remove_from(server->peers, &server->npeers, peer);
    struct session *followed = peer_follows(peer)
                                   ? registry_by_number(server->registry, peer_follows(peer))
                                   : NULL;
    if (followed)
        session_follow(followed, false, peer_follower(peer));
    for (size_t i = 0; i < server->ndirty; i++)
        if (server->dirty[i] == peer)
            server->dirty[i] = NULL; /* connections_flush may be walking the list */
    BUG_UNLESS(server->ndead < server->room);
    server->dead[server->ndead++] = peer;
    if (server->listen_io && !loop_timer_is_set(&server->accept_retry))
        return;
    server->starved = false;
    loop_timer_stop(&server->accept_retry);
    accept_again(server);
}

static const struct peer_handlers handlers = {
    .request = on_request, .closed = on_closed, .dirty = on_dirty};

static void connections_make_room(struct server *server)
{
    /* Dead peers are freed at the end of the turn, so that living and dead ones together may
     * exceed the limit until then. */
    if (server->npeers + server->ndead < server->room)
        return;
    server->room = server->room ? server->room * 2 : 64;
    server->peers = xreallocarray(server->peers, server->room, sizeof(struct peer *));
    server->dead = xreallocarray(server->dead, server->room, sizeof(struct peer *));
}

/* At the limit the oldest connection that never sent anything is closed. */
static bool evict_silent(struct server *server)
{
    struct peer *oldest = NULL;
    for (size_t i = 0; i < server->npeers; i++)
        if (!peer_has_spoken(server->peers[i]) && peer_is_idle(server->peers[i]) &&
            (!oldest || peer_id(server->peers[i]) < peer_id(oldest)) &&
            !peer_has_bytes(server->peers[i]))
            oldest = server->peers[i];
    if (oldest)
        peer_close(oldest);
    return oldest;
}

static void connections_refuse(struct server *server, int fd, const struct err *err)
{
    struct buf out = BUF_INIT;
    struct msg_id none = {.kind = MSG_ID_NONE};
    if (msg_error(&out, &none, err, NULL) &&
        send(fd, out.data, out.len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        log_debug("a refused connection did not take its refusal: %s", strerror(errno));
    buf_fini(&out);
    close(fd);
    if (server->refused++ % 1000 == 0)
        log_warn("connection refused: %s", err->text);
}

static void connections_take(struct server *server, int fd)
{
    struct peercred cred;
    struct err err;
    if (peercred_get(fd, &cred) < 0 || (cred.uid != geteuid() && cred.uid != 0)) {
        err_set(&err, ERR_LIMIT, "this daemon serves another user; your uid is %ld",
                (long)cred.uid);
        connections_refuse(server, fd, &err);
        return;
    }
    if (confined_check(server, fd, cred.pid, &err) != 0) {
        connections_refuse(server, fd, &err);
        return;
    }
    if (server->npeers >= (size_t)server->config->limits.connections && !evict_silent(server)) {
        err_set(&err, ERR_LIMIT,
                "too many connections; close one or raise [limits] connections, now %lld",
                (long long)server->config->limits.connections);
        connections_refuse(server, fd, &err);
        return;
    }
    connections_make_room(server);
    struct peer *peer = peer_new(server->loop, fd, ++server->next_peer, cred.uid, cred.pid,
                                 &server->peer_limits, &handlers, server);
    if (!peer) {
        limit_err(&err, ERR_LIMIT, LIMIT_CONNECTION, errno,
                  "the kernel has no room to watch another connection");
        connections_refuse(server, fd, &err);
        return;
    }
    BUG_UNLESS(server->npeers < server->room);
    server->peers[server->npeers++] = peer;
    server->starved = false;
    limit_passed(LIMIT_CONNECTION);
    server->accepted++;
    server->newcomers = true;
}

/* With the descriptor that is kept for this; false when no client waits. */
bool connections_turn_away(struct server *server, const struct err *err)
{
    reserve_release(0);
    int fd = accept4(server->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        connections_refuse(server, fd, err);
    return fd >= 0;
}

static void turn_some_away(struct server *server)
{
    struct err err;
    limit_err(&err, ERR_LIMIT, LIMIT_CONNECTION, EMFILE, "no further connection can be taken");
    bool more = true;
    for (int i = 0; i < ACCEPTS_A_TURN && more; i++) {
        more = connections_turn_away(server, &err);
        reserve_fill();
    }
}

/* Most clients leave soon, and then the next one is accepted at once (on_closed). The kernel
 * reports the shortage even when no client waits. */
static void connections_wait_for_room(struct server *server, int error)
{
    struct pollfd next = {.fd = server->listen_fd, .events = POLLIN};
    if (poll(&next, 1, 0) == 0)
        return;
    if (reserve_count() > 1) {
        reserve_release(1);
        return;
    }
    if (limit_met(LIMIT_CONNECTION, error) || fd_is_short(error))
        log_warn("can't accept a connection: %s; waiting for a client to leave", strerror(error));
    if (evict_silent(server))
        return;
    server->starved = !server->starved || fd_is_short(error);
    if (!server->starved) {
        turn_some_away(server);
        return;
    }
    loop_io_set(server->listen_io, 0);
    loop_timer_set_ms(&server->accept_retry, ACCEPT_RETRY_MS);
}

static void on_accept(void *arg, unsigned events)
{
    struct server *server = arg;
    (void)events;
    for (int i = 0; i < ACCEPTS_A_TURN; i++) {
        int fd = accept4(server->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            connections_take(server, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            connections_wait_for_room(server, errno);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

/* One timer for all connections: due when the oldest one that has sent nothing reaches its
 * timeout. */
static void on_silence(void *arg)
{
    struct server *server = arg;
    int64_t limit_ms = server->config->limits.hello_timeout_ms, now_ms = clock_mono_ms(),
            next_ms = INT64_MAX;
    for (size_t i = 0; limit_ms > 0 && i < server->npeers;) {
        struct peer *peer = server->peers[i];
        int64_t left_ms = peer_since_ms(peer) + limit_ms - now_ms;
        if (peer_has_spoken(peer)) {
            i++;
        } else if (left_ms <= 0) {
            peer_close(peer); /* another peer takes its place in the list */
        } else {
            next_ms = left_ms < next_ms ? left_ms : next_ms;
            i++;
        }
    }
    if (next_ms != INT64_MAX)
        loop_timer_set_ms(&server->silence, next_ms);
}

static void on_retry(void *arg)
{
    accept_again(arg);
}

/* Has the path watched, or looked at now and then while the kernel can't watch it. */
static void watch_place(struct server *server)
{
    listen_watch_free(server->watch);
    server->watch = NULL;
    if (server->watch_fd < 0 && (server->watch_fd = listen_watch_fd()) >= 0)
        server_hold_own(server);
    if (server->watch_fd >= 0)
        server->watch = listen_watch_new(server->loop, server->socket_path, server->watch_fd,
                                         connections_bind_again, server);
    if (!server->watch)
        loop_timer_set_ms(&server->watch_again, WATCH_AGAIN_MS);
}

void connections_bind_again(void *arg)
{
    struct server *server = arg;
    struct err err;
    if (server->stopping)
        return;
    if (listen_is_bound(server->socket_path, server->listen_fd)) {
        if (!server->watch)
            watch_place(server);
        return;
    }
    loop_io_free(server->listen_io);
    server->listen_io = NULL;
    bool failed = listen_rebind(server->socket_path, &server->listen_fd, &err) < 0;
    if (failed && !server->unbound)
        log_error("%s; the socket can't be bound anew; tried again every %d s, and at SIGHUP",
                  err.text, WATCH_AGAIN_MS / 1000);
    if (!failed)
        log_warn("'%s' had vanished and was bound anew", server->socket_path),
            server->socket_given = false;
    server->unbound = failed;
    link_listen(server->link, server->listen_fd, server->socket_given);
    connections_open(server);
}

void connections_apply_limits(struct server *server)
{
    const struct config_limits *limits = &server->config->limits;
    server->peer_limits = (struct peer_limits){
        .max_request = (size_t)limits->max_request_bytes,
        .output_queue = (size_t)limits->output_queue_bytes,
        .room = &server->unread,
        .in_flight = (unsigned)limits->requests_per_connection};
    server->unread.total = (size_t)limits->output_total_bytes;
}

void connections_open(struct server *server)
{
    BUG_UNLESS(server->listen_fd >= 0 && !server->listen_io);
    if (!server->accept_retry.loop)
        loop_timer_init(&server->accept_retry, server->loop, on_retry, server),
            loop_timer_init(&server->watch_again, server->loop, connections_bind_again, server),
            loop_timer_init(&server->silence, server->loop, on_silence, server), expel_init(server);
    server->listen_io = loop_io_new(server->loop, server->listen_fd, 0, on_accept, server);
    accept_again(server);
    watch_place(server);
    reserve_fill(); /* last: the daemon's own needs come first */
}

void connections_stop_listening(struct server *server)
{
    if (server->accept_retry.loop)
        loop_timer_stop(&server->accept_retry), loop_timer_stop(&server->silence),
            loop_timer_stop(&server->watch_again);
    listen_watch_free(server->watch);
    server->watch = NULL;
    loop_io_free(server->listen_io);
    server->listen_io = NULL;
    fd_close(&server->listen_fd);
    reserve_release(0);
}

static void connections_bury(struct server *server)
{
    for (size_t i = 0; i < server->ndead; i++)
        peer_free(server->dead[i]);
    if (server->ndead > 0 && reserve_is_short())
        reserve_fill();
    server->ndead = 0;
}

void connections_flush(struct server *server)
{
    /* a flush may handle further requests, which make peers dirty again: those are for the next
     * turn */
    size_t now = server->ndirty;
    for (size_t i = 0; i < now; i++) {
        struct peer *peer = server->dirty[i];
        server->dirty[i] = NULL;
        if (peer)
            peer_flush(peer);
    }
    BUG_UNLESS(now <= server->ndirty);
    server->ndirty -= now;
    if (now > 0)
        memmove(server->dirty, server->dirty + now, server->ndirty * sizeof(struct peer *));
    expel_serve(server);
    if (server->ndirty)
        loop_once_more(server->loop);
    connections_bury(server);
    /* Most connections have sent something by the end of the turn that accepted them, and cost
     * no timer. */
    if (server->newcomers && !loop_timer_is_set(&server->silence))
        on_silence(server);
    server->newcomers = false;
}

void connections_close(struct server *server)
{
    BUG_UNLESS(!server->listen_io);
    if (server->expel_again.loop)
        loop_timer_stop(&server->expel_again);
    while (server->npeers)
        peer_close(server->peers[0]);
    server->ndirty = 0;
    connections_bury(server);
    free(server->peers);
    free(server->dirty);
    free(server->dead);
}
