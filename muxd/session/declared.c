/* declared.c: owns the sessions that the config describes: their start, their environment, and that
 * they come back. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strv.h"
#include "config/env_policy.h"
#include "session/input.h"
#include "session/internal.h"
#include "session/shell.h"
#include "session/wish.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKOFF_FIRST_MS 1000
#define BACKOFF_MAX_MS 60000
#define ALIVE_LONG_MS 60000 /* who lived this long begins anew with the short pause */
#define ON_START_HOLD_MS 60000

struct declared { /* what is known about a [session NAME] beyond its text */
    struct list link;
    struct registry *registry;
    char *name;
    struct loop_timer restart;
    int64_t backoff_ms;
    uint64_t after; /* the ended session after which it comes back; 0: none */
    bool fresh;     /* new in the config since the last boot or reload */
    bool looked;    /* at what a predecessor has left of it */
    bool listed;
};

static struct declared *declared_find(struct registry *registry, const char *name)
{
    for (struct list *at = registry->declared.next; name && at != &registry->declared;
         at = at->next) {
        struct declared *declared = LIST_OWNER(at, struct declared, link);
        if (strcmp(declared->name, name) == 0)
            return declared;
    }
    return NULL;
}

static void declared_forget(struct declared *declared)
{
    loop_timer_stop(&declared->restart);
    list_remove(&declared->link);
    free(declared->name);
    free(declared);
}

/* For a successor: that it comes back, and when. boot_ms 0: not any more. */
static void note_again(struct declared *declared, int64_t boot_ms)
{
    struct session *ended = declared->after
                                ? registry_by_number(declared->registry, declared->after)
                                : NULL;
    if (ended) {
        ended->journal->header->again_pause_ms = declared->backoff_ms;
        atomic_store(&ended->journal->header->again_boot_ms, boot_ms);
    }
    if (boot_ms == 0)
        declared->after = 0;
}

static void declared_try_again(struct declared *declared)
{
    declared->backoff_ms = declared->backoff_ms ? 2 * declared->backoff_ms : BACKOFF_FIRST_MS;
    if (declared->backoff_ms > BACKOFF_MAX_MS)
        declared->backoff_ms = BACKOFF_MAX_MS;
    loop_timer_set_ms(&declared->restart, declared->backoff_ms);
    note_again(declared, clock_boot_ms() + declared->backoff_ms);
}

static void declared_stop(struct declared *declared)
{
    loop_timer_stop(&declared->restart);
    note_again(declared, 0);
}

static void on_restart(void *arg)
{
    struct declared *declared = arg;
    struct session *session;
    struct err err = {0};
    int code = registry_start_declared(declared->registry, declared->name, NULL, NULL, NULL,
                                       &session, &err);
    if (code == 0 || code == ERR_NAME_TAKEN || code == ERR_STOPPING)
        return;
    log_warn("[session %s] can't be started: %s", declared->name, err.text);
    declared_try_again(declared);
}

static struct declared *declared_new(struct registry *registry, const char *name, bool fresh)
{
    struct declared *declared = xcalloc(1, sizeof *declared);
    declared->registry = registry;
    declared->name = xstrdup(name);
    declared->fresh = fresh;
    loop_timer_init(&declared->restart, registry->loop, on_restart, declared);
    list_append(&registry->declared, &declared->link);
    return declared;
}

void declared_load(struct registry *registry)
{
    const struct config *cfg = registry->cfg;
    if (!registry->declared.next)
        list_init(&registry->declared);
    for (struct list *at = registry->declared.next; at != &registry->declared; at = at->next)
        LIST_OWNER(at, struct declared, link)->listed = false;
    for (size_t i = 0; i < cfg->nsessions; i++) {
        struct declared *declared = declared_find(registry, cfg->sessions[i].name);
        if (!declared)
            declared = declared_new(registry, cfg->sessions[i].name, true);
        declared->listed = true;
    }
    struct list *next;
    for (struct list *at = registry->declared.next; at != &registry->declared; at = next) {
        next = at->next;
        if (!LIST_OWNER(at, struct declared, link)->listed)
            declared_forget(LIST_OWNER(at, struct declared, link));
    }
}

void declared_free(struct registry *registry)
{
    while (!list_is_empty(&registry->declared))
        declared_forget(LIST_OWNER(registry->declared.next, struct declared, link));
}

/* A session that was killed on request or by a stop is not restarted. */
static bool was_dismissed(const struct session *session)
{
    uint32_t killer = atomic_load(&session->journal->header->killed_by);
    return killer == KILLER_REQUEST || killer == KILLER_STOP;
}

static bool comes_back(const struct session *session, const struct config_session *config)
{
    if (!config || config->restart == CONFIG_RESTART_NEVER || was_dismissed(session))
        return false;
    return config->restart == CONFIG_RESTART_ALWAYS ||
           atomic_load(&session->journal->header->exit_code) != 0;
}

void declared_ended(struct session *session)
{
    struct registry *registry = session->registry;
    struct declared *declared = declared_find(registry, journal_declared(session->journal));
    if (!declared || registry->stopping != STOP_NOT ||
        !comes_back(session, config_session_find(registry->cfg, declared->name)))
        return;
    if (clock_boot_ms() - session->journal->header->created_boot_ms >= ALIVE_LONG_MS)
        declared->backoff_ms = 0;
    declared->after = session_number(session);
    declared_try_again(declared);
}

void declared_killed(struct session *session)
{
    struct declared *declared = declared_find(session->registry,
                                              journal_declared(session->journal));
    atomic_store(&session->journal->header->again_boot_ms, 0);
    if (declared)
        declared_stop(declared);
}

void declared_started(struct session *session)
{
    struct declared *declared = declared_find(session->registry,
                                              journal_declared(session->journal));
    if (declared)
        declared_stop(declared);
}

void declared_failed(struct session *session, const struct err *err)
{
    struct registry *registry = session->registry;
    struct declared *declared = declared_find(registry, journal_declared(session->journal));
    if (!declared)
        return;
    log_warn("[session %s] can't be started: %s", declared->name, err->text);
    const struct config_session *config = config_session_find(registry->cfg, declared->name);
    if (config && config->restart != CONFIG_RESTART_NEVER && registry->stopping == STOP_NOT &&
        !was_dismissed(session))
        declared_try_again(declared);
}

void registry_was_booted(struct registry *registry, const struct config *held)
{
    for (size_t i = 0; i < held->nsessions; i++) {
        struct declared *declared = declared_find(registry, held->sessions[i].name);
        if (!declared)
            declared = declared_new(registry, held->sessions[i].name, false);
        declared->fresh = false;
    }
}

/* A predecessor has noted in the ended session that it comes back; one of an older release did not,
 * and there the last one decides. */
static bool declared_resume(void *arg, struct session *session)
{
    struct registry *registry = arg;
    const struct journal_header *header = session->journal->header;
    struct declared *declared = declared_find(registry, journal_declared(session->journal));
    if (!declared || declared->looked || !session->finished || session->from_disk)
        return true;
    if (header->minor < JOURNAL_MINOR_AGAIN) {
        if (!declared->fresh && index_by_name(registry, declared->name) == session)
            declared_ended(session);
        return true;
    }
    const struct config_session *config = config_session_find(registry->cfg, declared->name);
    int64_t at_ms = atomic_load(&header->again_boot_ms);
    if (at_ms == 0 || !config || config->restart == CONFIG_RESTART_NEVER)
        return true;
    int64_t left_ms = at_ms - clock_boot_ms(), pause_ms = header->again_pause_ms;
    declared->after = session_number(session);
    declared->backoff_ms = pause_ms < BACKOFF_FIRST_MS ? BACKOFF_FIRST_MS
                           : pause_ms > BACKOFF_MAX_MS ? BACKOFF_MAX_MS
                                                       : pause_ms;
    loop_timer_set_ms(&declared->restart, left_ms < 0                      ? 0
                                          : left_ms > declared->backoff_ms ? declared->backoff_ms
                                                                           : left_ms);
    return true;
}

/* Of what is fresh in the config: an ended session of that name was started before, and its
 * `restart` decides. */
static void boot_one(struct declared *declared, const struct config_session *config)
{
    struct session *holder = index_by_name(declared->registry, declared->name);
    const char *of = holder ? journal_declared(holder->journal) : NULL;
    if (holder && session_is_live(holder))
        return;
    /* from_disk: it ended before a reboot */
    if (of && !holder->from_disk && strcmp(of, declared->name) == 0)
        declared_ended(holder);
    else if (config->start == CONFIG_START_BOOT)
        on_restart(declared);
}

void registry_boot(struct registry *registry)
{
    part_boot(registry);
    registry_each(registry, false, declared_resume, registry);
    struct list *next;
    for (struct list *at = registry->declared.next; at != &registry->declared; at = next) {
        struct declared *declared = LIST_OWNER(at, struct declared, link);
        next = at->next;
        const struct config_session *config = config_session_find(registry->cfg, declared->name);
        bool fresh = declared->fresh;
        declared->fresh = false;
        declared->looked = true;
        if (!config)
            declared_forget(declared); /* of what was booted before, and is no more */
        else if (fresh)
            boot_one(declared, config);
    }
}

bool registry_is_declared(const struct registry *registry, const char *name, bool *on_demand)
{
    const struct config_session *config = config_session_find(registry->cfg, name);
    if (on_demand)
        *on_demand = config && config->start != CONFIG_START_MANUAL;
    return config != NULL;
}

static char **make_env(const struct config *cfg, const struct config_session *config,
                       char *const *context)
{
    struct strv env = {0};
    env_policy_filter(&cfg->env_policy, (const char *const *)(context ? context : environ), &env);
    if (config->tty) {
        strv_env_set(&env, "TERM", cfg->defaults.term);
        strv_env_set(&env, "COLORTERM", "truecolor");
    }
    env_policy_overlay(&env, &config->env);
    return strv_take(&env);
}

static void fill_limits(const struct config_session *config, int64_t limits[SESSION_LIMIT_COUNT])
{
    limits[SESSION_MEMORY] = config->memory_bytes;
    limits[SESSION_PROCESSES] = config->processes;
    limits[SESSION_CPU_TIME] = config->cpu_time_ms;
    limits[SESSION_OPEN_FILES] = config->open_files;
    limits[SESSION_LIFETIME] = config->lifetime_ms;
    limits[SESSION_IDLE] = config->idle_ms;
}

/* Queued before all other input, and held until the program reads. */
static void queue_on_start(struct session *session, const struct config_session *config)
{
    struct err err = {0};
    if (config->on_start.size == 0 || !session_is_tty(session))
        return;
    session_hold(session, ON_START_HOLD_MS);
    const struct author author = {.who = INPUT_BY_MUXD, .uid = getuid(), .pid = getpid()};
    const struct input input = {
        .data = config->on_start.data, .size = config->on_start.size, .author = &author};
    if (session_input(session, &input, &err) != 0)
        log_warn("[session %s] on_start can't be typed: %s", config->name, err.text);
}

int registry_start_declared(struct registry *registry, const char *name, char *const *env_context,
                            spawned_fn *spawned, void *arg, struct session **out, struct err *err)
{
    const struct config_session *config = config_session_find(registry->cfg, name);
    if (!config)
        return err_set(err, ERR_NO_SUCH_SESSION,
                       "no [session %s] in the config; add one or give a command", name);
    char **env = make_env(registry->cfg, config, env_context), **argv = NULL;
    struct wish wish;
    wish_of_session(&wish, config);
    char *shown = config->cmd ? xstrdup(config->cmd) : strv_quoted(config->argv.items);
    int code = 0;
    if (config->argv.count > 0)
        argv = strv_dup((const char *const *)config->argv.items);
    else
        code = shell_argv(config->shell, config->login, config->cmd, env, &argv, err);
    if (!code) {
        struct session_spec spec = {.name = config->name,
                                    .cmd = shown,
                                    .argv = argv,
                                    .env = env,
                                    .cwd = wish.cwd,
                                    .tty = config->tty,
                                    .rows = config->rows,
                                    .cols = config->cols,
                                    .umask = path_umask(),
                                    .on_slow = config->on_slow == CONFIG_ON_SLOW_PAUSE ? SLOW_PAUSE
                                                                                       : SLOW_DROP,
                                    .declared = config->name,
                                    .policy = config->profile,
                                    .record = config->record};
        fill_limits(config, spec.limits);
        if (wish_confines(&wish))
            spec.sandbox = &wish.confine;
        code = registry_create(registry, &spec, spawned, arg, out, err);
    }
    if (!code)
        queue_on_start(*out, config);
    strv_free(env);
    strv_free(argv);
    free(shown);
    wish_fini(&wish);
    return code;
}
