/* worker: owns the order in which the rooms are built and torn down. */
#include "server/worker.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/reserve.h"
#include "cmd/approvals.h"
#include "cmd/gate_default.h"
#include "server/hooks.h"
#include "server/keeping.h"
#include "server/notify.h"
#include "server/parts.h"
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

#define EXIT_ANOTHER 75 /* another muxd serves this socket: the keeper ends, too */
#define EXIT_BAD_START 1
#define NO_DIRECTORY "/dev/null" /* no file can be made in it */
#define LINK_AGAIN_MS 2 /* the kernel had no room for a message */

/* With the old keeper systemd has lost the service's main process, and must learn the new one. */
static void name_keeper(struct server *server)
{
    char state[32];
    if (!server->keeper_unnamed || link_keeper_pid(server->link) <= 0)
        return;
    server->keeper_unnamed = false;
    snprintf(state, sizeof state, "MAINPID=%d", (int)link_keeper_pid(server->link));
    notify_systemd(state);
}

static void worker_on_turn_end(void *arg)
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
    if (!server->link_io)
        return;
    bool later = link_is_short(server->link);
    bool when_ready = link_wants_write(server->link) && !later;
    loop_io_set(server->link_io, LOOP_READ | (when_ready ? LOOP_WRITE : 0u));
    if (later)
        loop_timer_set_ms(&server->link_again, LINK_AGAIN_MS);
}

/* The end of the turn flushes the link. */
static void wake_up(void *arg) { (void)arg; }

/* A mistake in the file keeps a daemon from starting. It does not keep a successor from its
 * sessions: that one goes on with the config that was in force (use_held_config). */
static void load_config(struct server *server, const struct worker_options *options,
                        struct err *err)
{
    server->given_config = options->config_path;
    server->config_path = path_config(options->config_path);
    server->config = config_load(server->config_path, err);
    if (server->config && control_check_config(server->config, err) < 0) {
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
        log_error("the config that was in force can't be read either: %s; no command is started "
                  "until the file is mended and ue reload has read it", err.text);
        server->config->lost = true; /* without its policy nothing may be wider than before */
        return;
    }
    control_use_config(server, held);
}

/* What a predecessor has booted is not booted again: it may have ended, or been ended, since. */
static void know_booted(struct server *server)
{
    struct err err;
    struct config *held = server->generation > 1 ? control_held_config(server, &err) : NULL;
    if (held)
        registry_was_booted(server->registry, held);
    config_free(held);
}

static void open_places(struct server *server, const struct worker_options *options,
                        struct err *err)
{
    server->socket_path = path_socket(options->socket_path);
    server->state_dir = path_state(server->config->muxd.state);
    server->log_path = server->config->muxd.log ? xstrdup(server->config->muxd.log)
                                                : path_join(server->state_dir, "muxd.log");
    path_private_dir(server->state_dir, PATH_CHOOSE_STATE, err);
}

/* The test of what the kernel tells takes a while. The first worker does it, and its result
 * stands in the lock file for every successor. */
static void find_readiness(void *arg)
{
    struct server *server = arg;
    char known[200] = "";
    const char *found = known;
    bool is_known;
    ssize_t size = server->generation > 1 ? pread(server->lock_fd, known, sizeof known - 1, 0) : 0;
    if (size > 0) {
        tty_state_assume(known);
    } else {
        found = tty_state_selftest(&is_known);
        if (is_known && pwrite(server->lock_fd, found, strlen(found), 0) < 0)
            log_debug("readiness can't be noted: %s", strerror(errno));
    }
    log_info("readiness: %s", found);
}

static int worker_build(struct server *server, struct err *state_err, struct err *err)
{
    server->loop = loop_new(err);
    if (!server->loop)
        return err->code;
    server->link = link_new(KEEP_LINK_FD, &keeping_handlers, server);
    server->cmd = (struct cmd_context){.loop = server->loop,
                                       .config = server->config,
                                       .socket_path = server->socket_path,
                                       .state_dir = server->state_dir,
                                       .log_path = server->log_path,
                                       .ops = &control_ops,
                                       .server = server};
    const struct registry_above above = {
        .parts = server_parts, .all_ended = control_all_ended, .arg = server};
    loop_timer_init(&server->keeper_retry, server->loop, keeping_replace_keeper, server);
    loop_timer_init(&server->give_again, server->loop, keeping_give, server);
    loop_timer_init(&server->link_again, server->loop, wake_up, server);
    loop_timer_init(&server->readiness, server->loop, find_readiness, server);
    struct err number_err = {0};
    /* a state directory that was refused is not written to */
    const char *state_dir = state_err->code ? NO_DIRECTORY : server->state_dir;
    if (registry_new(&server->registry, server->loop, server->link, server->config, state_dir,
                     server->socket_path, &above, &number_err) < 0 &&
        !state_err->code)
        *state_err = number_err;
    server->cmd.registry = server->registry;
    server->link_io = loop_io_new(server->loop, link_fd(server->link), LOOP_READ, keeping_on_link,
                                  server);
    return server->link_io
               ? 0
               : err_set(err, ERR_SYSTEM, "can't watch the keeper: %s", strerror(errno));
}

/* An error ends the first worker, whose starter is told. A successor has sessions to look after
 * and goes on without what failed. */
static int judge_start(struct server *server, const struct err *state_err,
                       const struct err *config_err, struct err *err)
{
    const struct err *first = state_err->code ? state_err : config_err;
    if (first->code && server->generation == 1)
        return err_set(err, first->code, "%s", first->text);
    if (state_err->code)
        log_error("%s; goes on without it: ended sessions are not kept and numbers may repeat "
                  "after a restart",
                  state_err->text);
    return 0;
}

static int open_socket(struct server *server, struct err *err)
{
    int result = 0;
    /* a socket that was passed on may be a blocking one */
    if (server->socket_given && fd_set_nonblock(server->listen_fd, true) < 0)
        return err_set(err, ERR_SYSTEM, "the listening socket that was passed on can't be used: %s",
                       strerror(errno));
    /* a predecessor died between lock and socket */
    if (server->listen_fd < 0 && server->lock_fd >= 0)
        result = listen_rebind(server->socket_path, &server->listen_fd, err);
    else if (server->listen_fd < 0)
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

/* A pipe at standard error leads to our starter, who waits for its end. From now on messages of
 * a crash go to the log. */
static void leave_starter(const struct server *server)
{
    struct stat st;
    if (strcmp(server->log_path, "-") == 0 || fstat(STDERR_FILENO, &st) < 0 ||
        !S_ISFIFO(st.st_mode))
        return;
    int fd = open(server->log_path,
                  O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (fd >= 0)
        dup2(fd, STDERR_FILENO);
    fd_close(&fd);
}

/* A successor has sessions to look after and serves as well as it can. */
static int check_room(const struct server *server, struct err *err)
{
    if (server->generation > 1 || !reserve_is_short())
        return 0;
    if (!server->socket_given)
        unlink(server->socket_path);
    return limit_err(err, ERR_SYSTEM, LIMIT_CONNECTION, EMFILE,
                     "there is no room for clients, so nothing was started");
}

static int worker_begin(struct server *server, const struct worker_options *options,
                        struct err *err)
{
    struct err config_err = {0}, state_err = {0};
    load_config(server, options, &config_err);
    open_places(server, options, &state_err);
    if (!state_err.code || server->config->muxd.log)
        open_log(server); /* the messages of the hand-over belong there */
    else
        log_go_without(server->log_path);
    int result = worker_build(server, &state_err, err);
    if (result == 0)
        result = handing_take(server, err);
    if (result == 0)
        result = judge_start(server, &state_err, &config_err, err);
    if (result == 0)
        result = open_socket(server, err);
    if (result < 0)
        return result;
    if (server->watch_fd < 0)
        server->watch_fd = listen_watch_fd();
    know_booted(server);
    if (config_err.code)
        use_held_config(server, &config_err);
    connections_apply_limits(server);
    connections_open(server);
    result = check_room(server, err);
    if (result < 0)
        return result;
    loop_at_turn_end(server->loop, worker_on_turn_end, server);
    loop_signal(server->loop, SIGTERM, control_signal_stop, server);
    loop_signal(server->loop, SIGINT, control_signal_stop, server);
    loop_signal(server->loop, SIGHUP, control_signal_reload, server);
    log_info("muxd %s serves '%s', worker %d", MUXD_VERSION, server->socket_path,
             server->generation);
    server->hooks = hooks_new(server);
    registry_boot(server->registry);
    if (!config_err.code)
        control_hold_config(server);
    /* from here on clients are accepted */
    link_listen(server->link, server->listen_fd, server->socket_given);
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
        approvals_free(&server->cmd);
        gate_default_free(&server->cmd);
        loop_timer_stop(&server->keeper_retry);
        loop_timer_stop(&server->readiness);
        loop_timer_stop(&server->give_again);
        loop_timer_stop(&server->link_again);
        loop_io_free(server->link_io);
        hooks_free(server->hooks);
        registry_free(server->registry);
        link_free(server->link);
        loop_free(server->loop);
    }
    free(server->stoppers);
    fd_close(&server->lock_fd);
    fd_close(&server->config_fd);
    fd_close(&server->watch_fd);
    config_free(server->config);
    free(server->socket_path);
    free(server->config_path);
    free(server->state_dir);
    free(server->log_path);
}

void worker_log(const struct worker_options *options, const char *text)
{
    static struct server server;
    struct err err;
    load_config(&server, options, &err);
    open_places(&server, options, &err);
    open_log(&server);
    log_error("%s", text);
}

int worker_main(const struct worker_options *options)
{
    static struct server server;
    struct err err = {0};
    server = (struct server){.listen_fd = handing_listener(),
                             .lock_fd = -1,
                             .config_fd = -1,
                             .watch_fd = -1,
                             .started_real_ms = clock_real_ms()};
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a journal beyond RLIMIT_FSIZE is an error and does not end us */
    signal(SIGXCPU, SIG_IGN); /* nor is a soft RLIMIT_CPU our end */
    prctl(PR_SET_DUMPABLE, 0); /* what people type is in our memory */
    log_set_role("worker");
    if (worker_begin(&server, options, &err) < 0) {
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
    prctl(PR_SET_DUMPABLE, 1); /* for leak checkers */
    return status;
}
