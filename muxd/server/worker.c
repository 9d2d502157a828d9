/* worker: owns the order in which the rooms are built, and torn down again. */
#include "server/worker.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "keep/adopt.h"
#include "server/notify.h"
#include "server/server.h"
#include "sys/tty_state.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_SLOT 1      /* the keeper's slot for the lock file and the config in force; numbers below 1000 are no sessions */
#define EXIT_ANOTHER 75 /* another muxd serves this socket: the keeper leaves, too */
#define EXIT_BAD_START 1
#define HELLO_AGAIN_MS 10 /* the kernel had no memory to take it */
#define KEEPER_BACKOFF_MS 50
#define KEEPER_BACKOFF_MAX_MS 5000

static void on_slot(void *arg, uint64_t number, pid_t pid, int fds[KEEP_FD_COUNT])
{
    struct server *server = arg;
    if (number == OWN_SLOT) {
        server->lock_fd = fds[KEEP_FD_JOURNAL];
        server->config_fd = fds[KEEP_FD_OUT];
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

static void on_handed(void *arg, int generation)
{
    struct server *server = arg;
    server->handed = true;
    server->generation = generation;
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
    link_ack(server->link, number, 0); /* heard: not to be told to a successor */
}

static void on_exited(void *arg, uint64_t number, pid_t pid, int code, int status)
{
    struct server *server = arg;
    registry_exited(server->registry, number, pid, code, status);
}

static void on_orphan(void *arg, pid_t pid, bool dead)
{
    struct server *server = arg;
    registry_orphan(server->registry, pid, dead);
}

static void on_upgrade_failed(void *arg, int error)
{
    control_upgrade_failed(arg, error);
}

static void on_link(void *arg, unsigned events)
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
    fds[KEEP_FD_IN] = server->socket_given ? server->listen_fd : -1; /* so that a successor does not remove it either */
    link_hold(server->link, OWN_SLOT, fds);
}

void server_own_socket(struct server *server)
{
    server->socket_given = false;
    link_release(server->link, OWN_SLOT, 1 << KEEP_FD_IN);
}

/* Sessions live on without a keeper, but nobody could start one or survive us: a new one is made at once, or as soon as it can be. */
static void replace_keeper(void *arg)
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
    server->link_io = loop_io_new(server->loop, link_fd(server->link), LOOP_READ, on_link, server);
    if (!server->link_io)
        BUG("can't watch the new keeper: %s", strerror(errno));
    server_hold_own(server);
    registry_keeper_lost(server->registry, server->link);
    link_listen(server->link, server->listen_fd); /* last: it tells the new keeper that it has everything (minder.c) */
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
        replace_keeper(server);
    }
}

static const struct link_handlers link_handlers = {.slot = on_slot,
                                                   .listener = on_listener,
                                                   .handed = on_handed,
                                                   .spawned = on_spawned,
                                                   .failed = on_failed,
                                                   .exited = on_exited,
                                                   .orphan = on_orphan,
                                                   .upgrade_failed = on_upgrade_failed,
                                                   .lost = on_lost};

/* systemd must know whom to signal: with the old keeper it has lost the service's main process. */
static void name_keeper(struct server *server)
{
    char state[32];
    if (!server->keeper_unnamed || link_keeper_pid(server->link) <= 0)
        return;
    server->keeper_unnamed = false;
    snprintf(state, sizeof state, "MAINPID=%d", (int)link_keeper_pid(server->link));
    notify_systemd(state);
}

static void on_turn_end(void *arg)
{
    struct server *server = arg;
    name_keeper(server);
    connections_flush(server);
    if (server->served && !server->told_served) {
        link_served(server->link);
        server->told_served = true;
    }
    control_finish(server);
    link_flush(server->link);
    if (server->link_io)
        loop_io_set(server->link_io, LOOP_READ | (link_wants_write(server->link) ? LOOP_WRITE : 0u));
}

/* A mistake in the file keeps a daemon from starting, but must not keep a successor from its sessions: that one goes on with what
 * was in force (use_held_config). */
static void load_config(struct server *server, const struct worker_options *options, struct err *err)
{
    server->given_config = options->config_path;
    server->config_path = path_config(options->config_path);
    server->config = config_load(server->config_path, err);
    if (server->config && control_check_patterns(server->config, err) < 0) {
        config_free(server->config);
        server->config = NULL;
    }
    if (!server->config)
        server->config = config_default();
}

static void use_held_config(struct server *server, const struct err *why)
{
    struct err err;
    struct config *held = control_held_config(server, &err);
    log_error("%s; what was in force before stays", why->text);
    if (!held) {
        log_error("the config that was in force can't be read: %s; the defaults hold", err.text);
        return;
    }
    control_use_config(server, held);
}

static int open_places(struct server *server, const struct worker_options *options, struct err *err)
{
    server->socket_path = path_socket(options->socket_path);
    server->state_dir = path_state(server->config->muxd.state);
    server->log_path = server->config->muxd.log ? xstrdup(server->config->muxd.log) : path_join(server->state_dir, "muxd.log");
    int result = path_private_dir(server->state_dir, err);
    return result < 0 ? result : 0;
}

/* What the kernel lets us know is found out once and stands in the lock file for every successor: the test takes a while. */
static void find_readiness(void *arg)
{
    struct server *server = arg;
    char known[200] = "";
    ssize_t size = server->generation > 1 ? pread(server->lock_fd, known, sizeof known - 1, 0) : 0;
    if (size > 0) {
        tty_state_assume(known);
    } else {
        const char *found = tty_state_selftest();
        if (pwrite(server->lock_fd, found, strlen(found), 0) < 0)
            log_debug("readiness can't be noted: %s", strerror(errno));
    }
    log_info("readiness: %s", tty_state_selftest());
}

static int build(struct server *server, struct err *err)
{
    server->loop = loop_new(err);
    if (!server->loop)
        return err->code;
    server->link = link_new(KEEP_LINK_FD, &link_handlers, server);
    server->cmd = (struct cmd_context){.loop = server->loop,
                                       .config = server->config,
                                       .socket_path = server->socket_path,
                                       .state_dir = server->state_dir,
                                       .log_path = server->log_path,
                                       .ops = &control_ops,
                                       .server = server};
    static struct registry_events events = {.all_ended = control_all_ended};
    events.arg = server;
    loop_timer_init(&server->keeper_retry, server->loop, replace_keeper, server);
    loop_timer_init(&server->readiness, server->loop, find_readiness, server);
    int result = registry_new(&server->registry, server->loop, server->link, server->config, server->state_dir, server->socket_path,
                              &events, err);
    server->cmd.registry = server->registry;
    server->link_io = loop_io_new(server->loop, link_fd(server->link), LOOP_READ, on_link, server);
    if (result == 0 && !server->link_io)
        result = err_set(err, ERR_SYSTEM, "can't watch the keeper: %s", strerror(errno));
    return result;
}

/* The hand-over comes first: what a predecessor held decides whether there is a socket to make. */
static int take_over(struct server *server, struct err *err)
{
    link_hello(server->link);
    link_flush(server->link);
    while (!server->handed && server->link_io) {
        loop_turn(server->loop, link_wants_write(server->link) ? HELLO_AGAIN_MS : -1);
        link_flush(server->link);
    }
    if (!server->handed)
        return err_set(err, ERR_SYSTEM, "the keeper left before it had handed over");
    registry_handed_over(server->registry);
    return 0;
}

static int open_socket(struct server *server, struct err *err)
{
    int result = 0;
    server->socket_given |= server->listen_fd >= 0 && server->generation == 1; /* by whoever started us: systemd */
    if (server->socket_given && fd_set_nonblock(server->listen_fd, true) < 0) /* it may come as a blocking one, and accept() would block */
        return err_set(err, ERR_SYSTEM, "the listening socket that was passed on can't be used: %s", strerror(errno));
    if (server->listen_fd < 0)
        result = listen_open(server->socket_path, &server->listen_fd, &server->lock_fd, err);
    else if (server->lock_fd < 0)
        result = listen_lock(server->socket_path, &server->lock_fd, err);
    if (result < 0)
        server->exit_status = server->lock_fd == -2 ? EXIT_ANOTHER : EXIT_BAD_START;
    return result;
}

static void open_log(struct server *server)
{
    struct err err;
    if (log_open(server->log_path, (enum log_level)server->config->muxd.log_level, &err) < 0)
        log_error("%s; the log goes to standard error", err.text);
}

/* A pipe leads to whoever started us and waits for its end; what is said before a crash belongs to the log from now on. */
static void leave_starter(const struct server *server)
{
    struct stat st;
    if (strcmp(server->log_path, "-") == 0 || fstat(STDERR_FILENO, &st) < 0 || !S_ISFIFO(st.st_mode))
        return;
    int fd = open(server->log_path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (fd >= 0)
        dup2(fd, STDERR_FILENO);
    fd_close(&fd);
}

static int begin(struct server *server, const struct worker_options *options, struct err *err)
{
    struct err config_err = {0};
    load_config(server, options, &config_err);
    int result = open_places(server, options, err);
    if (result == 0) {
        open_log(server); /* what is said of the hand-over belongs there */
        result = build(server, err);
    }
    if (result == 0)
        result = take_over(server, err);
    if (result == 0 && config_err.code && server->generation == 1)
        result = err_set(err, config_err.code, "%s", config_err.text);
    if (result == 0)
        result = open_socket(server, err);
    if (result < 0)
        return result;
    if (config_err.code)
        use_held_config(server, &config_err);
    else
        control_hold_config(server);
    connections_apply_limits(server);
    connections_open(server);
    loop_at_turn_end(server->loop, on_turn_end, server);
    loop_signal(server->loop, SIGTERM, control_signal_stop, server);
    loop_signal(server->loop, SIGINT, control_signal_stop, server);
    loop_signal(server->loop, SIGHUP, control_signal_reload, server);
    log_info("muxd %s serves '%s', worker %d", MUXD_VERSION, server->socket_path, server->generation);
    registry_boot(server->registry);
    link_listen(server->link, server->listen_fd); /* from here on clients may come */
    link_flush(server->link);
    leave_starter(server);
    notify_systemd("READY=1");
    loop_timer_set_ms(&server->readiness, 0);
    return 0;
}

static void end(struct server *server)
{
    if (server->loop) {
        connections_stop_listening(server);
        connections_close(server);
        loop_timer_stop(&server->keeper_retry);
        loop_timer_stop(&server->readiness);
        loop_io_free(server->link_io);
        registry_free(server->registry);
        link_free(server->link);
        loop_free(server->loop);
    }
    free(server->stoppers);
    fd_close(&server->lock_fd);
    fd_close(&server->config_fd);
    config_free(server->config);
    free(server->socket_path);
    free(server->config_path);
    free(server->state_dir);
    free(server->log_path);
}

int worker_main(const struct worker_options *options)
{
    static struct server server;
    struct err err = {0};
    server = (struct server){.listen_fd = -1, .lock_fd = -1, .config_fd = -1, .started_real_ms = clock_real_ms()};
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_DUMPABLE, 0); /* what is typed passes through our memory */
    log_set_role("worker");
    if (begin(&server, options, &err) < 0) {
        if (!server.exit_status)
            server.exit_status = EXIT_BAD_START;
        if (server.exit_status != EXIT_ANOTHER)
            fprintf(stderr, "muxd: %s\n", err.text);
    } else {
        loop_run(server.loop);
        if (!server.socket_given)
            unlink(server.socket_path);
        log_info("stopped");
    }
    int status = server.exit_status;
    end(&server);
    log_close();
    prctl(PR_SET_DUMPABLE, 1); /* a leak checker may look at what is left */
    return status;
}
