/* control: owns the server's own acts: reload, stop, upgrade, and what only it knows of its
 * state. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/limit.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/fdio.h"
#include "guard/rules.h"
#include "cmd/approvals.h"
#include "cmd/describe.h"
#include "cmd/gate_default.h"
#include "parts/reap/reap.h"
#include "server/hooks.h"
#include "server/notify.h"
#include "server/server.h"
#include "sys/pattern.h"
#include "sys/proc.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <sys/stat.h>

static int check_rules(const struct config *config, struct err *err)
{
    for (size_t i = 0; i < config->nrules; i++) {
        const struct config_rule *rule = &config->rules[i];
        struct buf why = BUF_INIT;
        if (!rule_check_examples(rule, &why))
            err_set(err, ERR_CONFIG, "%s:%d: [rule %s] %s", config_rule_path(config, rule),
                    rule->line, rule->name, why.data);
        bool wrong = why.len > 0;
        buf_fini(&why);
        if (wrong)
            return ERR_CONFIG;
    }
    return 0;
}

int control_check_config(const struct config *config, struct err *err)
{
    for (size_t i = 0; i < config->nsessions; i++) {
        const struct config_session *session = &config->sessions[i];
        struct err why;
        struct pattern *pattern = session->ready_pattern
                                      ? pattern_new(session->ready_pattern,
                                                    strlen(session->ready_pattern), &why)
                                      : NULL;
        if (session->ready_pattern && !pattern)
            return err_set(err, ERR_CONFIG, "%s:%d: [session %s] ready_pattern: %s", config->path,
                           session->lines[CONFIG_ROW_session_ready_pattern], session->name,
                           why.text);
        pattern_free(pattern);
    }
    return check_rules(config, err);
}

void control_hold_config(struct server *server)
{
    const struct config *config = server->config;
    int fd = memfd_create("muxd-config", MFD_CLOEXEC);
    struct buf image = BUF_INIT;
    config_image(config, &image);
    if (fd < 0 || fd_write_all(fd, image.data ? image.data : "", image.len) != (ssize_t)image.len) {
        log_warn("the config in force can't be kept for a successor: %s", strerror(errno));
        fd_close(&fd);
    }
    buf_fini(&image);
    fd_close(&server->config_fd);
    server->config_fd = fd;
    server_hold_own(server);
}

struct config *control_held_config(struct server *server, struct err *err)
{
    struct stat st;
    if (server->config_fd < 0 || fstat(server->config_fd, &st) < 0 ||
        st.st_size > 2 * CONFIG_MAX_FILE + 1) {
        err_set(err, ERR_SYSTEM, "there is none");
        return NULL;
    }
    char *text = xmalloc((size_t)st.st_size + 1);
    ssize_t size = pread(server->config_fd, text, (size_t)st.st_size, 0);
    const char *name = server->config_path ? server->config_path : "config";
    struct config *config = size < 0 ? NULL : config_from_image(name, text, (size_t)size, err);
    if (size < 0)
        err_set(err, ERR_SYSTEM, "%s", strerror(errno));
    free(text);
    return config;
}

void control_use_config(struct server *server, struct config *fresh)
{
    struct config *old = server->config;
    BUG_UNLESS(fresh && fresh != old);
    server->config = fresh;
    server->cmd.config = fresh;
    log_set_level((enum log_level)fresh->muxd.log_level);
    connections_apply_limits(server);
    registry_reload(server->registry, fresh);
    hooks_reload(server->hooks);
    gate_default_reloaded(&server->cmd);
    config_free(old);
}

/* Notes for the answer what does not hold at once, as "[limits] journal". */
static void note_change(void *arg, const struct config_change *change)
{
    char text[200];
    if (change->reload == CONFIG_NOW || !change->key)
        return;
    snprintf(text, sizeof text, change->name ? "[%s %s] %s" : "[%s%s] %s", change->section,
             change->name ? change->name : "", change->key);
    struct json *into = arg;
    const char *when = change->reload == CONFIG_RESTART ? "after_restart" : "new_sessions";
    struct json *list = json_detach(into, when);
    list = json_add(into, when, list ? list : json_array_new());
    json_add_text(list, NULL, text);
    log_info("config: %s %s", text,
             change->reload == CONFIG_RESTART ? "waits for a restart of the daemon"
                                              : "holds for new sessions only");
}

/* The log may have been moved (logrotate(8)) or removed, and what we wrote to it would be lost. */
static void reopen_log(struct server *server)
{
    struct err err;
    if (path_private_dir(server->state_dir, PATH_CHOOSE_STATE, &err) < 0) {
        log_error("%s; ended sessions are not kept, and numbers may repeat after a restart",
                  err.text);
        if (!server->config->muxd.log)
            return; /* the log is in that directory */
    }
    if (log_open(server->log_path, (enum log_level)server->config->muxd.log_level, &err) < 0)
        log_error("%s; the log that is open stays in use", err.text);
}

static int reload(struct server *server, struct json *into, struct err *err)
{
    char *path = path_config(server->given_config);
    struct config *fresh = config_load(path, err);
    if (fresh && control_check_config(fresh, err) < 0) {
        config_free(fresh);
        fresh = NULL;
    }
    if (!fresh) {
        log_error("the config stays as it is: %s", err->text);
        free(path);
        return err->code;
    }
    size_t changes = config_diff(server->config, fresh, note_change, into);
    json_add_int(into, "changes", (int64_t)changes);
    free(server->config_path);
    server->config_path = path;
    control_use_config(server, fresh);
    control_hold_config(server);
    reopen_log(server);
    connections_bind_again(server); /* as the hint of LIMIT_SOCKET_WATCH promises */
    log_info("config '%s' read: %zu changes", path ? path : "(defaults)", changes);
    return 0;
}

static void count_nothing(void *arg, const struct config_change *change)
{
    (void)arg;
    (void)change;
}

static char *look_at_config(struct server *server, size_t *changes, struct err *mistake)
{
    char *path = path_config(server->given_config);
    struct config *fresh = config_load(path, mistake);
    *changes = 0;
    if (fresh && control_check_config(fresh, mistake) == 0) {
        *mistake = (struct err){0};
        *changes = config_diff(server->config, fresh, count_nothing, NULL);
    }
    config_free(fresh);
    return path;
}

void control_signal_reload(void *arg)
{
    struct err err;
    struct json *told = json_object_new(); /* unused: the log says the same */
    reload(arg, told, &err);
    json_free(told);
}

static void begin_stop(struct server *server)
{
    if (server->stopping)
        return;
    server->stopping = true;
    link_stopping(server->link);
    log_info("stopping: ends all sessions");
    notify_systemd("STOPPING=1");
    approvals_stop(&server->cmd);
    registry_stop_all(server->registry);
}

void control_signal_stop(void *arg)
{
    begin_stop(arg);
}

static void forget_stopper(void *arg)
{
    struct request **place = arg;
    *place = NULL;
}

static void control_stop(struct server *server, struct request *request)
{
    server->stoppers = xreallocarray(server->stoppers, server->nstoppers + 1,
                                     sizeof *server->stoppers);
    server->stoppers[server->nstoppers] = request;
    server->nstoppers++;
    for (size_t i = 0; i < server->nstoppers; i++) /* xreallocarray may have moved the array */
        if (server->stoppers[i])
            request_on_cancel(server->stoppers[i], forget_stopper, &server->stoppers[i]);
    begin_stop(server);
}

void control_all_ended(void *arg)
{
    struct server *server = arg;
    BUG_UNLESS(server->stopping);
    server->done = true;
}

static void tell_stoppers(struct server *server)
{
    BUG_UNLESS(server->done);
    const struct reap_result *survived = reap_stopped(server->registry);
    for (size_t i = 0; i < server->nstoppers; i++) {
        struct request *request = server->stoppers[i];
        if (request) {
            request_on_cancel(request, NULL, NULL);
            struct json *result = json_object_new();
            json_add_bool(result, "stopped", true);
            if (survived->survivors > 0)
                describe_survivors(result, survived);
            request_reply(request, result);
        }
    }
}

/* First the clients that asked for the stop are answered, then the keeper is told, then the loop
 * ends. A client that does not read is not waited for. The keeper is: without that message it
 * would start another worker. */
void control_finish(struct server *server)
{
    if (!server->done || !hooks_are_done(server->hooks))
        return;
    if (server->listen_io) {
        connections_stop_listening(server);
        tell_stoppers(server);
        connections_flush(server);
        link_stop(server->link);
    }
    link_flush(server->link);
    if (!link_wants_write(server->link))
        loop_stop(server->loop);
}

static void forget_upgrader(void *arg)
{
    struct server *server = arg;
    server->upgrader = NULL;
}

static void upgrade(struct server *server, struct request *request)
{
    struct err err;
    int error = limit_try_passing();
    if (server->upgrader || !server->link_io || error == ETOOMANYREFS) {
        if (server->upgrader)
            err_set(&err, ERR_NOT_AVAILABLE, "an upgrade is under way already");
        else if (!server->link_io)
            err_set(&err, ERR_NOT_AVAILABLE,
                    "muxd-keeper has died, and no other could be started yet; the log says why");
        else
            limit_err(&err, ERR_SYSTEM, LIMIT_HAND_OVER, error,
                      "there is no upgrade, as no worker could be given the sessions");
        request_fail(request, &err);
        return;
    }
    server->upgrader = request;
    server->upgrade_failed.code = ERR_NONE;
    request_on_cancel(request, forget_upgrader, server);
    log_info("upgrade asked for");
    link_upgrade(server->link);
    link_flush(server->link);
}

static void give_up_upgrade(struct server *server, const struct err *err)
{
    struct request *request = server->upgrader;
    server->upgrade_failed = *err;
    log_error("upgrade: %s", err->text);
    if (!request)
        return;
    server->upgrader = NULL;
    request_on_cancel(request, NULL, NULL);
    request_fail(request, err);
}

void control_keeper_lost(struct server *server)
{
    struct err err;
    if (!server->upgrader)
        return;
    err_set(&err, ERR_SYSTEM,
            "muxd-keeper has died while it tried the new programs; there is no upgrade, and the "
            "old ones go on");
    give_up_upgrade(server, &err);
}

void control_upgrade_failed(void *arg, int error)
{
    struct server *server = arg;
    struct err err;
    const char *tried = link_upgrade_text(server->link);
    if (error == ECANCELED)
        err_set(&err, ERR_STOPPING, "muxd is stopping, so there is no upgrade; `ue start` starts "
                                    "what is installed then");
    else
        err_set(&err, ERR_SYSTEM, "the new muxd did not come up (can't %s: %s); the old one goes "
                                  "on", tried, link_upgrade_why(error));
    give_up_upgrade(server, &err);
}

static void add_log_trouble(struct json *into)
{
    struct log_trouble trouble;
    char since[32];
    if (!log_trouble(&trouble))
        return;
    clock_format_iso(trouble.since_ms, since);
    json_add_text(into, "log_trouble", trouble.text);
    json_add_text(into, "log_trouble_since", since);
    if (trouble.lost > 0)
        json_add_int(into, "log_lines_lost", (int64_t)trouble.lost);
}

static void add_constraint(void *arg, const struct limit_text *text)
{
    char since[32];
    struct json *one = json_add_object(arg, NULL);
    clock_format_iso(text->since_ms, since);
    json_add_text(one, "limit", text->limit);
    json_add_text(one, "what", text->what);
    json_add_text(one, "raise", text->raise);
    json_add_text(one, "since", since);
}

/* Limits that are not tried again by themselves are looked at when someone asks. */
static void add_constraints(struct server *server, struct json *into)
{
    if (!loop_timer_is_set(&server->give_again) && !server->giving)
        limit_passed(LIMIT_HAND_OVER);
    if (proc_hides_others())
        limit_met(LIMIT_OTHERS, ENOENT);
    else
        limit_passed(LIMIT_OTHERS);
    limit_each(add_constraint, json_add_array(into, "constraints"));
}

static void status(struct server *server, struct json *into)
{
    char started[32];
    clock_format_iso(server->started_real_ms, started);
    json_add_text(into, "started", started);
    add_log_trouble(into);
    if (server->upgrade_failed.code)
        json_add_text(into, "upgrade_failed", server->upgrade_failed.text);
    add_constraints(server, into);
    if (link_keeper_pid(server->link) > 0 && !server->keeper_is_new)
        json_add_int(into, "keeper_pid", link_keeper_pid(server->link));
    json_add_int(into, "generation", server->generation);
    json_add_int(into, "connections", (int64_t)server->npeers);
    json_add_int(into, "connections_accepted", (int64_t)server->accepted);
    json_add_int(into, "connections_refused", (int64_t)server->refused);
    json_add_int(into, "output_unread_bytes", (int64_t)server->unread.held);
    expel_status(server, into);
}

const struct cmd_ops control_ops = {
    .reload = reload,
    .look_at_config = look_at_config,
    .stop = control_stop,
    .upgrade = upgrade,
    .status = status};
