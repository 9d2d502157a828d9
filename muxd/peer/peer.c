/* peer: owns a connection: its lines, its requests in flight, what is still to be sent. */
#include "peer/internal.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "peer/burden.h"
#include "wire/tool.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BUDGET (256u << 10) /* bytes that are read from one peer in a turn */
#define TURN_BYTES (16u << 10)   /* of answers: then the requests of others come first */
#define KEEP_BUFFER (16u << 10)  /* a larger output buffer is freed once it is empty */

static void on_io(void *arg, unsigned events);

struct peer *peer_new(struct loop *loop, int fd, uint64_t id, uid_t uid, pid_t pid,
                      const struct peer_limits *limits, const struct peer_handlers *handlers,
                      void *arg)
{
    BUG_UNLESS(fd >= 0 && handlers->request && handlers->closed && handlers->dirty);
    struct peer *peer = xcalloc(1, sizeof *peer);
    *peer = (struct peer){.loop = loop,
                          .fd = fd,
                          .id = id,
                          .uid = uid,
                          .pid = pid,
                          .limits = limits,
                          .handlers = handlers,
                          .arg = arg,
                          .since_ms = clock_mono_ms(),
                          .since_boot_ms = clock_boot_ms(),
                          .passed = -1};
    peer->last = &peer->first;
    peer->io = loop_io_new(loop, fd, LOOP_READ, on_io, peer);
    if (!peer->io) {
        free(peer);
        return NULL;
    }
    frame_init(&peer->frame, limits->max_request);
    buf_init(&peer->out, 0);
    room_enter(peer);
    return peer;
}

static size_t peer_pending(const struct peer *peer)
{
    BUG_UNLESS(peer->out_at <= peer->out.len);
    return peer->out.len - peer->out_at;
}

void peer_mark_dirty(struct peer *peer)
{
    room_account(peer);
    if (!peer->dirty && !peer->closed) {
        peer->dirty = true;
        peer->handlers->dirty(peer->arg, peer);
    }
}

/* It is answered at once, and ends the wait of another one. */
static bool makes_room_for_others(const char *method)
{
    return strcmp(method, tools[TOOL_CANCEL].name) == 0 ||
           strcmp(method, tools[TOOL_APPROVE].name) == 0 ||
           strcmp(method, tools[TOOL_DENY].name) == 0;
}

static void take_line(struct peer *peer, const char *line, size_t size)
{
    struct request *request = xcalloc(1, sizeof *request);
    struct err err;
    request->peer = peer;
    peer->spoken = true;
    int result = msg_parse(&request->msg, line, size, &err);
    bool makes_room = result == 0 && makes_room_for_others(request->msg.method);
    if (result == 0 && !makes_room && peer->in_flight >= peer->limits->in_flight)
        result = err_set(&err, ERR_LIMIT,
                         "%u requests of this connection are in flight already; wait for an "
                         "answer, or raise [limits] requests_per_connection",
                         peer->in_flight);
    if (result < 0) {
        if (!request->msg.notification)
            peer_queue_error(peer, &request->msg.id, &err, NULL);
        msg_fini(&request->msg);
        free(request);
        return;
    }
    request->next = peer->requests;
    if (request->next)
        request->next->prev = request;
    peer->requests = request;
    peer->in_flight++;
    peer->handlers->request(peer->arg, request);
}

static void handle_line(struct peer *peer, const char *line, size_t size)
{
    passed_begin_line(peer);
    take_line(peer, line, size);
    passed_end_line(peer);
}

/* Requests whose answers are long (list) take long, too: of those of one connection only a few are
 * handled before the turn of all others. */
static bool has_had_its_turn(const struct peer *peer)
{
    return peer->queued - peer->turn_queued > TURN_BYTES;
}

/* Handles the whole lines that were read, unless the client does not read its answers: then they
 * wait. */
static void peer_take_lines(struct peer *peer)
{
    const char *line;
    size_t size;
    struct err err;
    int result = 0;
    while (!peer->stream && !peer->closed &&
           !(peer->paused = peer_is_full(peer) || has_had_its_turn(peer)) &&
           (result = frame_next(&peer->frame, &line, &size, &err)) != 0) {
        if (result == 1) {
            handle_line(peer, line, size);
        } else {
            struct msg_id id;
            msg_id_find(&id, line, size);
            peer_queue_error(peer, &id, &err, NULL);
        }
    }
    if (peer->stream)
        stream_take(peer);
    else if (peer->at_eof && !peer->deaf && !peer->paused && !peer->closed &&
             frame_eof(&peer->frame, &line, &size) == 1)
        handle_line(peer, line, size);
}

static void peer_watch(struct peer *peer)
{
    unsigned events = peer_pending(peer) > 0 ? LOOP_WRITE : 0;
    if (peer->deaf)
        events = LOOP_READ | LOOP_WRITE; /* wakes at once, also when there is nothing to read */
    else if (peer->at_eof || peer->finishing)
        events |= LOOP_EDGE | LOOP_READ; /* nothing more will be read, but a hang-up must be seen */
    else if (!peer->paused)
        events |= LOOP_READ;
    loop_io_set(peer->io, events);
}

static bool is_over(const struct peer *peer)
{
    return ((peer->at_eof && !peer->paused) || peer->finishing) && peer_pending(peer) == 0 &&
           (peer->in_flight == 0 || peer->finishing || peer->deaf);
}

static void read_some(struct peer *peer, bool hung_up)
{
    size_t budget = READ_BUDGET;
    while (budget > 0 && !peer->paused && !peer->at_eof) {
        size_t room;
        char *to = frame_room(&peer->frame, &room);
        ssize_t got = passed_receive(peer, to, room < budget ? room : budget);
        frame_filled(&peer->frame, got > 0 ? (size_t)got : 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN) {
            peer->at_eof = peer->deaf;
            break;
        }
        if (got <= 0) {
            peer->at_eof = true;
            if (got < 0 || hung_up) {
                peer_close(peer);
                return;
            }
        } else {
            budget -= (size_t)got;
        }
        peer_take_lines(peer);
        if (peer->closed || (got > 0 && (size_t)got < room))
            break;
    }
}

static void drop_requests(struct peer *peer)
{
    for (struct request *next, *request = peer->requests; request; request = next) {
        /* a cancelled request sends no answer, so the rest of the list stays */
        next = request->next;
        request_call_cancel(request);
        request_forget(request);
    }
}

/* The client is gone or takes no answers. What it sent before is still done, because a key that
 * was pressed is pressed; only its waits are over. */
static void become_deaf(struct peer *peer)
{
    peer->deaf = true;
    drop_requests(peer);
    peer_mark_dirty(peer);
}

static void on_io(void *arg, unsigned events)
{
    struct peer *peer = arg;
    if ((events & LOOP_HANGUP) && (peer->finishing || (peer->at_eof && !peer->paused))) {
        peer_close(peer);
        return;
    }
    if ((events & LOOP_HANGUP) && peer->paused && !peer->deaf)
        become_deaf(peer);
    if (((events & (LOOP_READ | LOOP_HANGUP)) || peer->deaf) && !peer->finishing)
        read_some(peer, events & LOOP_HANGUP);
    if (!peer->closed)
        peer_mark_dirty(peer);
}

static void deliver(struct peer *peer, bool written)
{
    while (peer->first && (!written || peer->first->end <= peer->sent)) {
        struct receipt *receipt = peer->first;
        peer->first = receipt->next;
        if (!peer->first)
            peer->last = &peer->first;
        receipt->fn(receipt->arg, written);
        free(receipt);
    }
}

/* False: the connection is broken. */
static bool send_some(struct peer *peer)
{
    while (peer_pending(peer) > 0) {
        ssize_t sent = send(peer->fd, peer->out.data + peer->out_at, peer_pending(peer),
                            MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        /* short of memory: the socket is writable, so the next turn tries again */
        if (sent < 0)
            return errno == EAGAIN || fd_is_short(errno);
        peer->out_at += (size_t)sent;
        peer->sent += (uint64_t)sent;
        peer->taken_ms = burden_taken(peer->taken_ms, (size_t)sent, clock_mono_ms());
    }
    if (peer->out.cap > KEEP_BUFFER)
        buf_fini(&peer->out), buf_init(&peer->out, 0);
    buf_clear(&peer->out);
    peer->out_at = 0;
    return true;
}

static void discard(struct peer *peer)
{
    buf_fini(&peer->out);
    buf_init(&peer->out, 0);
    peer->out_at = 0;
    room_account(peer);
    deliver(peer, false);
}

void peer_flush(struct peer *peer)
{
    BUG_UNLESS(!peer->closed && peer->sent <= peer->queued);
    peer->dirty = false;
    peer->turn_queued = peer->queued;
    if (peer->paused && !peer_is_full(peer))
        peer_take_lines(peer);
    if (peer->closed)
        return;
    if (!peer->deaf && !send_some(peer))
        become_deaf(peer);
    if (peer->deaf) {
        discard(peer);
    } else {
        deliver(peer, true);
        stream_flushed(peer);
    }
    if (peer->closed)
        return;
    if (peer->out_at > KEEP_BUFFER && peer->out_at > peer->out.len / 2) {
        buf_consume(&peer->out, peer->out_at);
        peer->out_at = 0;
    }
    room_account(peer);
    room_flushed(peer);
    if (peer->closed)
        return;
    if (peer->paused && !peer_is_full(peer))
        peer_mark_dirty(peer); /* goes on in the next turn: those in the line have this one */
    if (is_over(peer))
        peer_close(peer);
    else
        peer_watch(peer);
}

void peer_finish(struct peer *peer)
{
    peer->finishing = true;
    peer_mark_dirty(peer);
}

void peer_close(struct peer *peer)
{
    if (peer->closed)
        return;
    peer->closed = true;
    drop_requests(peer);
    BUG_UNLESS(peer->in_flight == 0);
    deliver(peer, false);
    stream_gone(peer);
    loop_io_free(peer->io);
    close(peer->fd);
    fd_close(&peer->passed);
    frame_fini(&peer->frame);
    buf_fini(&peer->out);
    room_leave(peer);
    peer->handlers->closed(peer->arg, peer);
}

void peer_free(struct peer *peer)
{
    if (peer)
        BUG_UNLESS(peer->closed && !peer->requests && !peer->first);
    free(peer);
}

uint64_t peer_id(const struct peer *peer)
{
    return peer->id;
}

uid_t peer_uid(const struct peer *peer)
{
    return peer->uid;
}

pid_t peer_pid(const struct peer *peer)
{
    return peer->pid;
}

bool peer_is_idle(const struct peer *peer)
{
    return peer->in_flight == 0 && peer_pending(peer) == 0 && peer->frame.len == peer->frame.start;
}

bool peer_has_bytes(const struct peer *peer)
{
    int bytes = 0;
    return ioctl(peer->fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

int64_t peer_since_ms(const struct peer *peer)
{
    return peer->since_ms;
}

void peer_set_follows(struct peer *peer, uint64_t number, uint64_t follower)
{
    peer->follows = number;
    peer->follower = follower;
}

uint64_t peer_follower(const struct peer *peer)
{
    return peer->follower;
}

uint64_t peer_follows(const struct peer *peer)
{
    return peer->follows;
}

bool peer_has_spoken(const struct peer *peer)
{
    return peer->spoken;
}
