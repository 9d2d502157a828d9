/* expel.c: owns the cap over what all clients together leave unread ([limits] output_total): the
 * worst of them are disconnected, while all hold too much or while somebody waits for room that
 * they take. Who holds no more than an equal share stays. */
#include "base/clock.h"
#include "base/log.h"
#include "peer/burden.h"
#include "server/server.h"

#define LOG_PAUSE_MS 1000

/* Of those that hold more than their share, the one that holds much for the longest time. */
static struct peer *find_worst(const struct server *server, int64_t now_ms, bool stalled)
{
    struct peer *worst = NULL;
    double most = 0;
    for (size_t i = 0; i < server->npeers; i++) {
        struct peer *peer = server->peers[i];
        double weight = burden_weight(peer_held(peer), peer_taken_ms(peer), now_ms);
        if (peer_held(peer) > room_share(&server->unread) && weight > most &&
            (!stalled || burden_is_stalled(peer_taken_ms(peer), now_ms))) {
            worst = peer;
            most = weight;
        }
    }
    return worst;
}

static void expel(struct server *server, struct peer *peer, int64_t now_ms)
{
    err_set(&server->expelled_why, ERR_OUTPUT_TOTAL,
            "the client of pid %d did not read %zu bytes of its answers, and all clients "
            "together may leave %zu unread; read them, or raise [limits] output_total",
            (int)peer_pid(peer), peer_held(peer), server->unread.total);
    server->expelled++;
    server->expelled_ms = clock_real_ms();
    if (server->expelled == 1 || now_ms - server->expelled_told_ms >= LOG_PAUSE_MS) {
        log_warn("connection closed: %s; %lu in all", server->expelled_why.text, server->expelled);
        server->expelled_told_ms = now_ms;
    }
    peer_expel(peer, &server->expelled_why);
}

/* Somebody waits, and those in the way may still be reading: looks again when the first of them
 * has taken nothing for too long. */
static void expel_later(struct server *server, int64_t now_ms)
{
    int64_t first_ms = INT64_MAX;
    for (size_t i = 0; i < server->npeers; i++) {
        const struct peer *peer = server->peers[i];
        if (peer_held(peer) > room_share(&server->unread) && peer_taken_ms(peer) < first_ms)
            first_ms = peer_taken_ms(peer);
    }
    if (first_ms != INT64_MAX)
        loop_timer_set_ms(&server->expel_again, first_ms + BURDEN_STALLED_MS - now_ms);
}

static void on_expel_again(void *arg)
{
    (void)arg; /* the end of this turn looks */
}

void expel_init(struct server *server)
{
    loop_timer_init(&server->expel_again, server->loop, on_expel_again, server);
}

void expel_serve(struct server *server)
{
    int64_t now_ms = clock_mono_ms();
    struct peer *worst;
    room_serve(&server->unread);
    while (server->unread.held > server->unread.total &&
           (worst = find_worst(server, now_ms, false)) != NULL)
        expel(server, worst, now_ms);
    while (room_is_short(&server->unread) && (worst = find_worst(server, now_ms, true)) != NULL)
        expel(server, worst, now_ms);
    if (room_goes_on(&server->unread))
        loop_once_more(server->loop);
    else if (room_is_short(&server->unread))
        expel_later(server, now_ms);
}

void expel_status(const struct server *server, struct json *into)
{
    char when[32];
    if (!server->expelled)
        return;
    clock_format_iso(server->expelled_ms, when);
    json_add_int(into, "connections_closed", (int64_t)server->expelled);
    json_add_text(into, "connection_closed", server->expelled_why.text);
    json_add_text(into, "connection_closed_at", when);
}
