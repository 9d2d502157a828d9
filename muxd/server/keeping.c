/* keeping.c: owns what the worker does with the keeper's messages, what it gives it of its own, and a new keeper for a dead one. */
#include "server/keeping.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/log.h"
#include "keep/adopt.h"
#include "server/hooks.h"
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#define FIRST_SESSION 1000 /* slots below are ours */
#define OWN_SLOT 1         /* the keeper's slot for the lock file and the config in force */
#define KEEPER_BACKOFF_MS 50
#define KEEPER_BACKOFF_MAX_MS 5000

static void on_slot(void *arg, uint64_t number, pid_t pid, int fds[KEEP_FD_COUNT])
{
    struct server *server = arg;
    if (number == OWN_SLOT) {
        server->lock_fd = fds[KEEP_FD_JOURNAL];
        server->config_fd = fds[KEEP_FD_OUT];
        server->watch_fd = fds[KEEP_FD_ERR];
        server->socket_given = fds[KEEP_FD_IN] >= 0;
        fd_close(&fds[KEEP_FD_IN]);
    } else {
        registry_adopt(server->registry, number, pid, fds);
    }
}

static void on_listener(void *arg, int fd)
{
    struct server *server = arg;
    server->listen_fd = fd;
}

/* Without the lock and the socket nobody can be served: the next worker tries, and the keeper keeps everything. */
static void on_cut(void *arg, unsigned type, uint64_t number, pid_t pid, int journal)
{
    struct server *server = arg;
    registry_park(server->registry, type == KEEP_SLOT && number >= FIRST_SESSION ? number : 0, pid, journal);
}

void keeping_hold_again(void *arg)
{
    struct server *server = arg;
    server_hold_own(server);
    link_listen(server->link, server->listen_fd);
}

static void on_missed(void *arg, unsigned type, uint64_t number)
{
    struct server *server = arg;
    if (type != KEEP_LISTEN && number != OWN_SLOT) {
        registry_missed(server->registry, type, number);
        return;
    }
    limit_met(LIMIT_HAND_OVER, EMFILE);
    log_error("a successor of this worker would not have the socket: the keeper has no descriptor left; tried again; raise the limit on "
              "open files");
    loop_timer_set_ms(&server->hold_retry, KEEPER_BACKOFF_MAX_MS);
}

static void on_handed(void *arg, int generation)
{
    struct server *server = arg;
    server->handed = true;
    server->generation = generation;
    int before = link_predecessor(server->link);
    if (before != -1 && WIFSIGNALED(before))
        log_info("goes on for a worker that ended by signal %d", WTERMSIG(before));
}

static void on_spawned(void *arg, uint64_t number, pid_t pid, int pidfd)
{
    struct server *server = arg;
    registry_spawned(server->registry, number, pid, pidfd);
}

static void on_failed(void *arg, uint64_t number, int step, int error)
{
    struct server *server = arg;
    registry_spawn_failed(server->registry, number, step, error);
    link_ack(server->link, number, 0, 0); /* heard: not to be told to a successor */
}

static void on_exited(void *arg, uint64_t number, pid_t pid, int code, int status)
{
    struct server *server = arg;
    registry_exited(server->registry, number, pid, code, status);
}

static void on_upgrade_failed(void *arg, int error)
{
    control_upgrade_failed(arg, error);
}

void keeping_on_link(void *arg, unsigned events)
{
    struct server *server = arg;
    (void)events;
    link_on_readable(server->link);
}

void server_hold_own(struct server *server)
{
    int fds[KEEP_FD_COUNT];
    for (int i = 0; i < KEEP_FD_COUNT; i++)
        fds[i] = -1;
    fds[KEEP_FD_JOURNAL] = server->lock_fd;
    fds[KEEP_FD_OUT] = server->config_fd;
    fds[KEEP_FD_ERR] = server->watch_fd;
    fds[KEEP_FD_IN] = server->socket_given ? server->listen_fd : -1; /* so that a successor does not remove it either */
    link_hold(server->link, OWN_SLOT, fds);
}

void server_own_socket(struct server *server)
{
    server->socket_given = false;
    link_release(server->link, OWN_SLOT, 1 << KEEP_FD_IN);
}

/* Sessions live on without a keeper, but nobody could start one or survive us: a new one is made at once, or as soon as it can be. */
void keeping_replace_keeper(void *arg)
{
    struct server *server = arg;
    struct err err;
    static char name[] = "muxd", socket_option[] = "-S", config_option[] = "-f";
    char *argv[] = {name, socket_option, server->socket_path, server->given_config ? config_option : NULL, (char *)server->given_config,
                    NULL};
    if (keeper_respawn(server->link, argv, &err) < 0) {
        log_error("%s", err.text);
        server->keeper_backoff_ms = server->keeper_backoff_ms ? server->keeper_backoff_ms * 2 : KEEPER_BACKOFF_MS;
        if (server->keeper_backoff_ms > KEEPER_BACKOFF_MAX_MS)
            server->keeper_backoff_ms = KEEPER_BACKOFF_MAX_MS;
        loop_timer_set_ms(&server->keeper_retry, server->keeper_backoff_ms);
        return;
    }
    server->keeper_backoff_ms = 0;
    server->link_io = loop_io_new(server->loop, link_fd(server->link), LOOP_READ, keeping_on_link, server);
    if (!server->link_io)
        BUG("can't watch the new keeper: %s", strerror(errno));
    server_hold_own(server);
    registry_keeper_lost(server->registry, server->link);
    link_listen(server->link, server->listen_fd); /* last: it tells the new keeper that it has everything (supervise.c) */
    server->told_served = false;
    server->keeper_unnamed = true;
    log_warn("the keeper had died; a new one holds the sessions");
}

static void on_lost(void *arg)
{
    struct server *server = arg;
    loop_io_free(server->link_io);
    server->link_io = NULL;
    if (server->handed && !server->stopping) {
        registry_keeper_lost(server->registry, NULL);
        keeping_replace_keeper(server);
    }
}

const struct link_handlers keeping_handlers = {.slot = on_slot,
                                              .cut = on_cut,
                                              .listener = on_listener,
                                              .handed = on_handed,
                                              .spawned = on_spawned,
                                              .failed = on_failed,
                                              .exited = on_exited,
                                              .upgrade_failed = on_upgrade_failed,
                                              .missed = on_missed,
                                              .lost = on_lost};
