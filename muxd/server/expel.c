/* expel.c: owns the cap over what all clients together leave unread ([limits] output_total): the
 * worst of them are disconnected. */
#include "base/clock.h"
#include "base/log.h"
#include "server/server.h"

/* Of those that take nothing, else of all, the one that holds the most. */
static struct peer *find_worst(const struct server *server, int64_t now_ms)
{
    struct peer *worst = NULL;
    bool worst_stalled = false;
    for (size_t i = 0; i < server->npeers; i++) {
        struct peer *peer = server->peers[i];
        bool stalled = peer_is_stalled(peer, now_ms);
        if (peer_held(peer) > 0 &&
            (!worst || stalled > worst_stalled ||
             (stalled == worst_stalled && peer_held(peer) > peer_held(worst)))) {
            worst = peer;
            worst_stalled = stalled;
        }
    }
    return worst;
}

/* The queues of all connections together are over their cap: then nobody is served until there is
 * room again. */
void expel_worst(struct server *server)
{
    int64_t now_ms = clock_mono_ms();
    struct peer *peer;
    if (!server->output_over)
        return;
    server->output_over = false;
    while (server->output_held > server->peer_limits.output_total &&
           (peer = find_worst(server, now_ms)) != NULL) {
        err_set(&server->expelled_why, ERR_OUTPUT_TOTAL,
                "the client of pid %d did not read %zu bytes of its answers, and all clients "
                "together may leave %zu unread; read them, or raise [limits] output_total",
                (int)peer_pid(peer), peer_held(peer), server->peer_limits.output_total);
        server->expelled++;
        server->expelled_ms = clock_real_ms();
        log_warn("connection closed: %s", server->expelled_why.text);
        peer_expel(peer, &server->expelled_why);
    }
    for (size_t i = 0; i < server->npeers; i++)
        peer_resume(server->peers[i]);
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
