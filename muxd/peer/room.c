/* room: owns what unread answers take, and the line of those that wait for room. */
#include "peer/room.h"
#include "base/bug.h"
#include "base/clock.h"
#include "peer/burden.h"
#include "peer/internal.h"
#include <sys/socket.h>

/* A queue of nothing is kept for the next answer, and is no burden. */
static void room_set_held(struct peer *peer, size_t held)
{
    struct room *room = peer->limits->room;
    BUG_UNLESS(room->held >= peer->held);
    if (peer->held == 0)
        peer->taken_ms = clock_mono_ms();
    room->held += held - peer->held;
    room->holders += (size_t)(held > 0);
    room->holders -= (size_t)(peer->held > 0);
    peer->held = held;
}

void room_account(struct peer *peer)
{
    room_set_held(peer, stream_pending(peer) > 0 ? peer->out.cap : 0);
}

/* How many connections of the same process stand in the line. */
static size_t room_rank(const struct room *room, pid_t pid)
{
    size_t rank = 0;
    for (const struct peer *peer = room->first; peer; peer = peer->line_next)
        rank += (size_t)(peer->pid == pid);
    return rank;
}

/* In front of those whose processes have more of them in the line, so that a process with many
 * connections does not keep one with few waiting. */
static void room_join(struct peer *peer)
{
    struct room *room = peer->limits->room;
    if (peer->in_line)
        return;
    peer->in_line = true;
    peer->line_rank = room_rank(room, peer->pid);
    struct peer *before = room->last, *behind = NULL;
    for (; before && before->line_rank > peer->line_rank; before = before->line_prev)
        behind = before;
    peer->line_prev = before;
    peer->line_next = behind;
    *(before ? &before->line_next : &room->first) = peer;
    *(behind ? &behind->line_prev : &room->last) = peer;
    room->waiting++;
}

static void room_leave_line(struct peer *peer)
{
    struct room *room = peer->limits->room;
    if (!peer->in_line)
        return;
    *(peer->line_prev ? &peer->line_prev->line_next : &room->first) = peer->line_next;
    *(peer->line_next ? &peer->line_next->line_prev : &room->last) = peer->line_prev;
    peer->in_line = false;
    room->waiting--;
}

void room_enter(struct peer *peer)
{
    peer->limits->room->connections++;
}

void room_leave(struct peer *peer)
{
    BUG_UNLESS(peer->limits->room->connections > 0);
    peer->limits->room->connections--;
    room_leave_line(peer);
    room_set_held(peer, 0);
}

bool request_is_modest(const struct request *request, size_t places)
{
    return request->peer->in_flight <= places / request->peer->limits->room->connections;
}

bool peer_is_full(const struct peer *peer)
{
    const struct room *room = peer->limits->room;
    return stream_pending(peer) > peer->limits->output_queue ||
           peer->held > burden_free(room->held, room->total);
}

/* The one that waits longest, of those with a small or those with a large answer. */
static struct request *room_longest(const struct peer *peer, bool large)
{
    struct request *longest = NULL; /* the list begins with the newest request */
    for (struct request *request = peer->requests; request; request = request->next)
        if (request->room && (request->need > ROOM_SMALL) == large)
            longest = request;
    return longest;
}

static void room_give(struct request *request)
{
    void (*fn)(void *) = request->room;
    request->room = NULL;
    request->may_reply = true;
    fn(request->room_arg);
}

bool request_take_room(struct request *request, size_t need)
{
    const struct peer *peer = request->peer;
    struct room *room = peer->limits->room;
    bool may = request->may_reply;
    request->may_reply = false;
    if (request->inner || may)
        return true;
    if (need <= ROOM_SMALL)
        return !peer_is_full(peer);
    if (room->made || room->first || stream_pending(peer) > 0 ||
        !burden_fits(need, room->held, room->total))
        return false;
    return room->made = true;
}

void request_when_room(struct request *request, size_t need, void (*fn)(void *arg), void *arg)
{
    BUG_UNLESS(fn && !request->inner);
    request->need = need;
    request->room = fn;
    request->room_arg = arg;
    if (need > ROOM_SMALL && stream_pending(request->peer) == 0)
        room_join(request->peer);
}

/* After a flush: small answers that waited for this client, then its place in the line. */
void room_flushed(struct peer *peer)
{
    struct request *small;
    while (!peer->closed && !peer_is_full(peer) && (small = room_longest(peer, false)) != NULL)
        room_give(small);
    if (!peer->closed && stream_pending(peer) == 0 && room_longest(peer, true))
        room_join(peer);
}

/* The first in the line that still wants something. */
static struct request *room_next(struct room *room)
{
    while (room->first) {
        struct request *request = room_longest(room->first, true);
        if (request)
            return request;
        room_leave_line(room->first); /* it was cancelled */
    }
    return NULL;
}

static bool room_fits(const struct request *request)
{
    const struct room *room = request->peer->limits->room;
    return burden_fits(request->need, room->held, room->total);
}

void room_serve(struct room *room)
{
    struct request *next = room->made ? NULL : room_next(room);
    if (next && room_fits(next)) {
        room_leave_line(next->peer);
        room_give(next);
    }
    room->made = false;
}

bool room_goes_on(struct room *room)
{
    const struct request *next = room_next(room);
    return next && room_fits(next);
}

bool room_is_short(struct room *room)
{
    const struct request *next = room_next(room);
    return next && !room_fits(next);
}

size_t room_share(const struct room *room)
{
    size_t clients = room->holders + room->waiting;
    return burden_share(room->total, clients > 0 ? clients : 1);
}

size_t peer_held(const struct peer *peer)
{
    return peer->held;
}

int64_t peer_taken_ms(const struct peer *peer)
{
    return peer->taken_ms;
}

void peer_expel(struct peer *peer, const struct err *why)
{
    const struct msg_id none = {.kind = MSG_ID_NONE};
    struct buf line = BUF_INIT;
    buf_append(&line, "\n", 1); /* ends the answer of which it has a part */
    msg_error(&line, &none, why, NULL);
    ssize_t told = peer->stream ? 0
                                : send(peer->fd, line.data, line.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)told; /* who reads nothing learns it from the log */
    buf_fini(&line);
    peer_close(peer);
}
