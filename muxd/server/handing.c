/* handing.c: owns the wait for the keeper's hand-over, the first thing that a worker does: the
 * socket may be among what a predecessor held. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/log.h"
#include "server/server.h"
#include <errno.h>
#include <sys/socket.h>

#define LOOK_MS 20      /* at clients, while nothing is handed over */
#define LINK_AGAIN_MS 2 /* the kernel had no room for a message */

int handing_listener(void)
{
    int listens = 0;
    socklen_t size = sizeof listens;
    bool is_one = getsockopt(KEEP_LISTEN_FD, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 &&
                  listens != 0;
    return is_one && fd_set_cloexec(KEEP_LISTEN_FD, true) == 0 ? KEEP_LISTEN_FD : -1;
}

/* The kernel may refuse each message with descriptors for as long as others of this user have too
 * many of theirs under way. The sessions go on meanwhile. */
static int handing_look(struct server *server, struct err *err)
{
    int error = limit_try_passing();
    if (error != ETOOMANYREFS) /* then it is the keeper who takes its time */
        return 0;
    bool first = limit_met(LIMIT_HAND_OVER, error);
    limit_err(err, ERR_LIMIT, LIMIT_HAND_OVER, error,
              "the keeper can't hand over what this daemon needs");
    if (server->listen_fd < 0)
        return err->code;
    if (first)
        log_error("%s; clients are refused until then", err->text);
    fd_set_nonblock(server->listen_fd, true);
    while (connections_turn_away(server, err))
        ;
    return 0;
}

int handing_take(struct server *server, struct err *err)
{
    int result = 0;
    int64_t patience_ms = clock_mono_ms() + LINK_SHORT_MS;
    BUG_UNLESS(!server->handed);
    link_hello(server->link);
    link_flush(server->link);
    while (server->link_io && !server->handed && result == 0) {
        loop_turn(server->loop, link_wants_write(server->link) ? LINK_AGAIN_MS : LOOK_MS);
        link_flush(server->link);
        if (!server->handed && clock_mono_ms() >= patience_ms)
            result = handing_look(server, err);
    }
    if (result < 0)
        return result;
    if (!server->handed)
        return err_set(err, ERR_SYSTEM, "the keeper left before it had handed over");
    limit_passed(LIMIT_HAND_OVER);
    registry_handed_over(server->registry);
    return 0;
}
