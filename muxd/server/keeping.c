/* keeping.c: owns what the worker does with the keeper's messages, what it gives the keeper of
 * its own, and the start of a new keeper. */
#include "server/keeping.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/log.h"
#include "keep/adopt.h"
#include "keep/start.h"
#include "server/hooks.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN_SLOT 1 /* the keeper's slot for the daemon's own descriptors */
#define KEEPER_BACKOFF_MS 50
#define KEEPER_BACKOFF_MAX_MS 5000
#define GIVE_AGAIN_MS 1000

static struct registry *registry_of(void *server)
{
    return ((struct server *)server)->registry;
}

static void keeping_on_slot(void *arg, uint64_t number, pid_t pid, int fds[KEEP_FD_COUNT])
{
    struct server *server = arg;
    if (number == OWN_SLOT) {
        server->lock_fd = fds[KEEP_FD_LOCK];
        server->config_fd = fds[KEEP_FD_CONFIG];
        server->watch_fd = fds[KEEP_FD_DIRECTORY];
    } else {
        registry_adopt(server->registry, number, pid, fds);
    }
}

static void on_listener(void *arg, int fd)
{
    struct server *server = arg;
    fd_close(&server->listen_fd); /* the one from handing_listener */
    server->listen_fd = fd;
    server->socket_given = link_listener_given(server->link);
}

/* A session is made only while there is room to take it over. So the limit has been lowered since,
 * or the kernel is short of memory. The keeper keeps everything and starts the next worker after a
 * pause. */
static void on_cut(void *arg)
{
    struct err err;
    (void)arg;
    limit_err(&err, ERR_SYSTEM, LIMIT_HAND_OVER, EMFILE,
              "there is no room for what the worker before left");
    log_error("%s; the next worker tries again", err.text);
    fprintf(stderr, "muxd: %s\n", err.text); /* for the process that waits for the first worker */
    _exit(EXIT_FAILURE);
}

void keeping_give(void *arg)
{
    struct server *server = arg;
    if (!server->link_io) /* no keeper; the next one is given everything */
        return;
    server_hold_own(server);
    registry_give(server->registry);
    server->giving = true;
}

static void give_later(struct server *server)
{
    if (limit_met(LIMIT_HAND_OVER, EMFILE))
        log_error("not everything would survive a crash of muxd: there are no descriptors to give "
                  "it to the keeper; tried again; raise the limit on open files");
    loop_timer_set_ms(&server->give_again, GIVE_AGAIN_MS);
}

static void on_missed(void *arg)
{
    give_later(arg);
}

/* The socket goes last: it tells a new keeper that it has everything (supervise.c). */
static void on_room(void *arg)
{
    struct server *server = arg;
    if (!server->giving)
        return;
    enum given given = registry_give_more(server->registry);
    if (given == GIVEN_SOME)
        return;
    server->giving = false;
    if (given == GIVEN_NOT_NOW)
        give_later(server);
    link_listen(server->link, server->listen_fd, server->socket_given);
    if (server->keeper_is_new && given != GIVEN_NOT_NOW)
        log_warn("the keeper had died; a new one holds the sessions");
    server->keeper_is_new = false;
}

static void on_handed(void *arg, int generation)
{
    struct server *server = arg;
    server->handed = true;
    server->generation = generation;
    int before = link_predecessor(server->link);
    if (before != -1 && WIFSIGNALED(before))
        log_info("takes over from a worker that ended by signal %d", WTERMSIG(before));
}

static void keeping_on_spawned(void *arg, uint64_t number, pid_t pid, int pidfd)
{
    registry_spawned(registry_of(arg), number, pid, pidfd);
}

static void on_failed(void *arg, uint64_t number, int step, int error)
{
    struct server *server = arg;
    registry_spawn_failed(server->registry, number, step, error);
    link_ack(server->link, number, 0, 0); /* the keeper need not tell a successor */
}

static void on_exited(void *arg, uint64_t number, pid_t pid, int code, int status)
{
    registry_exited(registry_of(arg), number, pid, code, status);
}

void keeping_on_link(void *arg, unsigned events)
{
    struct server *server = arg;
    (void)events;
    link_on_readable(server->link);
}

void server_hold_own(struct server *server)
{
    int fds[KEEP_FD_COUNT] = KEEP_NO_FDS;
    BUG_UNLESS(server->link);
    fds[KEEP_FD_LOCK] = server->lock_fd;
    fds[KEEP_FD_CONFIG] = server->config_fd;
    fds[KEEP_FD_DIRECTORY] = server->watch_fd;
    link_hold(server->link, OWN_SLOT, fds);
    if (server->config_fd < 0) /* an older config may allow more than this one */
        link_release(server->link, OWN_SLOT, 1u << KEEP_FD_CONFIG);
}

static int start_new(struct server *server, struct err *err)
{
    static char socket_option[] = "-S", config_option[] = "-f";
    char *const args[] = {socket_option, server->socket_path,
                          server->given_config ? config_option : NULL, (char *)server->given_config,
                          NULL};
    struct start_programs programs;
    char *argv[START_ARGS + 2];
    int code = start_find(&programs, err);
    if (code < 0 && link_keeper_exe(server->link) < 0)
        return code;
    start_argv(argv, &programs, args);
    return keeper_respawn(server->link, argv, err);
}

/* Without a keeper the sessions live on, but none could be started, and none would survive this
 * worker: a new keeper is started at once, or as soon as that is possible. */
void keeping_replace_keeper(void *arg)
{
    struct server *server = arg;
    struct err err;
    BUG_UNLESS(!server->link_io && server->handed);
    if (start_new(server, &err) < 0) {
        log_error("%s", err.text);
        server->keeper_backoff_ms = server->keeper_backoff_ms ? server->keeper_backoff_ms * 2
                                                              : KEEPER_BACKOFF_MS;
        if (server->keeper_backoff_ms > KEEPER_BACKOFF_MAX_MS)
            server->keeper_backoff_ms = KEEPER_BACKOFF_MAX_MS;
        loop_timer_set_ms(&server->keeper_retry, server->keeper_backoff_ms);
        return;
    }
    server->keeper_backoff_ms = 0;
    server->link_io = loop_io_new(server->loop, link_fd(server->link), LOOP_READ, keeping_on_link,
                                  server);
    if (!server->link_io)
        BUG("can't watch the new keeper: %s", strerror(errno));
    registry_keeper_lost(server->registry, server->link);
    keeping_give(server); /* goes on in on_room */
    server->told_served = false;
    server->keeper_unnamed = server->keeper_is_new = true;
}

static void on_lost(void *arg)
{
    struct server *server = arg;
    loop_io_free(server->link_io);
    server->link_io = NULL;
    server->giving = false;
    control_keeper_lost(server);
    if (server->handed && !server->stopping) {
        registry_keeper_lost(server->registry, NULL);
        keeping_replace_keeper(server);
    }
}

const struct link_handlers keeping_handlers = {.slot = keeping_on_slot,
                                              .cut = on_cut,
                                              .listener = on_listener,
                                              .handed = on_handed,
                                              .spawned = keeping_on_spawned,
                                              .failed = on_failed,
                                              .exited = on_exited,
                                              .upgrade_failed = control_upgrade_failed,
                                              .missed = on_missed,
                                              .room = on_room,
                                              .lost = on_lost};
