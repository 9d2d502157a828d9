/* spawn.c: owns the birth of a session. The worker may die after any step: it makes journal and
 * terminal, the keeper holds them and is asked to spawn, it answers with the pid, and only then the
 * session runs. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/mem.h"
#include "base/strv.h"
#include "base/value.h"
#include "keep/plan.h"
#include "session/birth.h"
#include "session/descendants.h"
#include "session/sandbox.h"
#include "session/shell.h"
#include "sys/pty.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int choose_name(struct registry *registry, const struct session_spec *spec,
                       char out[JOURNAL_NAME_MAX + 1], struct err *err)
{
    if (!spec->name) {
        bool given = spec->default_name && value_session_name(spec->default_name);
        char *base = given ? xstrdup(spec->default_name) : shell_default_name(NULL, spec->argv);
        index_pick_name(registry, base, out);
        free(base);
        return 0;
    }
    if (!value_session_name(spec->name))
        return err_set(
            err, ERR_BAD_NAME,
            "'%.80s' is no session name; use up to 64 of A-Z a-z 0-9 _ . - and not only digits",
            spec->name);
    const struct session *holder = index_by_name(registry, spec->name);
    if (holder && session_is_live(holder))
        return err_set(
            err, ERR_NAME_TAKEN,
            "'%s' is the name of session %llu, which runs; choose another or end that one",
            spec->name, (unsigned long long)session_number(holder));
    strncpy(out, spec->name, JOURNAL_NAME_MAX);
    out[JOURNAL_NAME_MAX] = 0;
    return 0;
}

static int check_sizes(const struct registry *registry, const struct session_spec *spec,
                       struct err *err)
{
    const struct config_limits *limits = &registry->cfg->limits;
    uint64_t argv = strv_bytes((const char *const *)spec->argv),
             env = strv_bytes((const char *const *)spec->env);
    if (argv > (uint64_t)limits->argv_bytes)
        return err_set(
            err, ERR_TOO_LARGE,
            "the arguments have %llu bytes and [limits] 'argv' is %lld; use a file or raise it",
            (unsigned long long)argv, (long long)limits->argv_bytes);
    if (env > (uint64_t)limits->environment_bytes)
        return err_set(err, ERR_TOO_LARGE,
                       "the environment has %llu bytes and [limits] 'environment' is %lld; unset "
                       "something or raise it",
                       (unsigned long long)env, (long long)limits->environment_bytes);
    return 0;
}

/* A new pipe: our end, which doesn't block, and theirs. */
static int make_pipe(int *ours, int *theirs, bool we_write, struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return limit_err(err, ERR_SYSTEM, LIMIT_SESSION, errno, "no pipe for the session");
    *ours = ends[we_write ? 1 : 0];
    *theirs = ends[we_write ? 0 : 1];
    if (fd_set_nonblock(*ours, true) != 0)
        return err_set(err, ERR_SYSTEM, "the session's pipe can't be set up: %s; try again",
                       strerror(errno));
    return 0;
}

static int make_pipes(struct birth *birth, bool stdin_open, struct err *err)
{
    int code = make_pipe(&birth->fds[KEEP_FD_OUT], &birth->stdio[1], false, err);
    if (!code)
        code = make_pipe(&birth->fds[KEEP_FD_ERR], &birth->stdio[2], false, err);
    if (!code && stdin_open)
        return make_pipe(&birth->fds[KEEP_FD_IN], &birth->stdio[0], true, err);
    if (!code && (birth->stdio[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
        return limit_err(err, ERR_SYSTEM, LIMIT_SESSION, errno, "'/dev/null' can't be opened");
    return code;
}

static int make_tty(struct birth *birth, int rows, int cols, struct err *err)
{
    int slave;
    int code = pty_open(rows, cols, &birth->fds[KEEP_FD_MASTER], &slave, err);
    if (code)
        return code;
    birth->stdio[0] = slave;
    for (int i = 1; i < 3; i++)
        if ((birth->stdio[i] = fcntl(slave, F_DUPFD_CLOEXEC, 3)) < 0)
            return limit_err(err, ERR_SYSTEM, LIMIT_SESSION, errno,
                             "no descriptor for the session");
    return 0;
}

static int make_journal(const struct registry *registry, const struct session_spec *spec,
                        struct birth *birth, struct err *err)
{
    const struct config_limits *limits = &registry->cfg->limits;
    bool takes_input = spec->tty || spec->stdin_open;
    struct journal_make make = {.number = birth->number,
                                .name = birth->name,
                                .tty = spec->tty,
                                .stdin_open = takes_input,
                                .rows = spec->tty ? spec->rows : 0,
                                .cols = spec->tty ? spec->cols : 0,
                                .ring_bytes = (size_t)limits->journal_bytes,
                                .head_bytes = (size_t)limits->head_bytes,
                                .input_bytes = takes_input ? (size_t)limits->input_queue_bytes : 0,
                                .log_bytes = takes_input ? (size_t)limits->input_log_bytes : 0,
                                .kept_bytes = spec->kept_bytes,
                                .cmd = spec->cmd ? spec->cmd : spec->argv[0],
                                .cwd = spec->cwd,
                                .declared = spec->declared};
    struct buf facts = BUF_INIT;
    spawn_facts(spec, &facts);
    make.facts = facts.data;
    int code = journal_new(&birth->journal, &make, err);
    buf_fini(&facts);
    if (code)
        return code;
    struct journal_header *header = birth->journal->header;
    header->on_slow = (uint8_t)spec->on_slow;
    header->request_hash = spec->request_hash;
    journal_set_follower(header, spec->follower);
    memcpy(header->limits, spec->limits, sizeof spec->limits);
    header->recorded = spec->record;
    atomic_store(&header->last_used_real_ms, clock_real_ms());
    return 0;
}

int birth_plan(struct registry *registry, const struct session_spec *spec, struct birth *birth,
               struct err *err)
{
    struct strv env = {0}, confined = {0};
    struct plan_limit limits[SESSION_LIMIT_COUNT + DESCENDANTS_LIMITS];
    char number[24];
    size_t nlimits = limits_plan(spec->limits, limits);
    snprintf(number, sizeof number, "%llu", (unsigned long long)birth->number);
    strv_add_all(&env, (const char *const *)spec->env);
    strv_env_set(&env, "MUXD_SESSION", birth->name);
    strv_env_set(&env, "MUXD_SESSION_ID", number);
    strv_env_set(&env, "MUXD_SOCKET", registry->socket_path);
    if (spec->sandbox && !spec->sandbox->network) /* CODEX.md 11: programs look for it */
        strv_env_set(&env, "CODEX_SANDBOX_NETWORK_DISABLED", "1");
    int code = spec->sandbox ? sandbox_argv(registry, spec, &confined, err) : 0;
    struct plan plan = {.argv = spec->sandbox ? confined.items : spec->argv,
                        .env = env.items,
                        .cwd = spec->cwd,
                        .tty = spec->tty,
                        .umask = spec->umask,
                        .limits = limits,
                        .nlimits = nlimits +
                                   descendants_plan(registry, birth->number, &limits[nlimits])};
    if (!code)
        code = plan_write(&plan, &birth->plan, err);
    strv_fini(&env);
    strv_fini(&confined);
    return code;
}

static void close_birth(struct birth *birth)
{
    for (int i = 0; i < KEEP_FD_COUNT; i++)
        fd_close(&birth->fds[i]);
    journal_free(birth->journal);
}

static int spawn_give_birth(struct registry *registry, const struct session_spec *spec,
                            struct birth *birth, struct err *err)
{
    birth->number = number_take(&registry->numbers);
    int code = spec->tty ? make_tty(birth, spec->rows, spec->cols, err)
                         : make_pipes(birth, spec->stdin_open, err);
    if (!code)
        code = make_journal(registry, spec, birth, err);
    birth->waits = !code && spec->sandbox && sandbox_must_wait(registry, spec);
    return code || birth->waits ? code : birth_plan(registry, spec, birth, err);
}

void birth_close_child(struct birth *birth)
{
    for (int i = 0; i < 3; i++)
        fd_close(&birth->stdio[i]);
    fd_close(&birth->plan);
}

void birth_hand_over(struct registry *registry, struct birth *birth)
{
    BUG_UNLESS(birth->plan >= 0 && birth->journal && birth->number >= KEEP_SESSION_MIN);
    int held[KEEP_FD_COUNT];
    memcpy(held, birth->fds, sizeof held);
    held[KEEP_FD_JOURNAL] = birth->journal->fd;
    link_spawn(registry->link, birth->number, birth->plan, birth->stdio, held);
    birth->plan = birth->stdio[0] = birth->stdio[1] = birth->stdio[2] = -1;
}

static int check_spec(struct registry *registry, const struct session_spec *spec, struct err *err)
{
    if (registry->stopping != STOP_NOT)
        return err_set(err, ERR_STOPPING, "muxd is stopping; try again in a moment");
    if (!registry->link)
        return err_set(err, ERR_SYSTEM, "the keeper is being replaced; try again");
    int code = config_check_lost(registry->cfg, err);
    if (!code)
        code = recover_transfer(registry, err);
    return code ? code : check_sizes(registry, spec, err);
}

int registry_create(struct registry *registry, const struct session_spec *spec, spawned_fn *spawned,
                    void *arg, struct session **out, struct err *err)
{
    struct birth birth = {.fds = KEEP_NO_FDS, .stdio = {-1, -1, -1}, .plan = -1};
    struct session *session = NULL;
    BUG_UNLESS(registry->handed_over && spec->argv && spec->argv[0] && spec->env);
    int code = check_spec(registry, spec, err);
    if (!code)
        code = choose_name(registry, spec, birth.name, err);
    if (!code)
        code = ended_make_room(
            registry,
            (uint64_t)(registry->cfg->limits.journal_bytes + registry->cfg->limits.head_bytes) +
                4 * spec->kept_bytes,
            err);
    if (!code)
        code = spawn_give_birth(registry, spec, &birth, err);
    if (code) {
        close_birth(&birth);
        goto out;
    }
    session = session_new(registry, birth.journal, birth.fds);
    session->birth.fn = spawned;
    session->birth.arg = arg;
    session->birth.program = xstrdup(spec->argv[0]);
    if (spec->tty)
        session_hold(session, registry->cfg->defaults.hold_ms);
    code = session_io_start(session, err);
    if (!code)
        code = part_admit(session, spec, err);
    if (code) {
        session_free(session);
        goto out;
    }
    index_add(registry, session);
    index_count_live(registry, 1);
    limit_passed(LIMIT_SESSION);
    if (birth.waits)
        sandbox_hold(registry, spec, &birth);
    else
        birth_hand_over(registry, &birth);
    *out = session;
out:
    birth_close_child(&birth);
    return code;
}

static void note_spawned(struct session *session, const struct err *err)
{
    if (!session->birth.fn)
        return;
    struct note *note = registry_note(session->registry, NOTE_SPAWNED, session_number(session));
    note->spawned.fn = session->birth.fn;
    note->spawned.arg = session->birth.arg;
    if (err)
        note->spawned.err = *err;
    session->birth.fn = NULL;
}

void registry_spawned(struct registry *registry, uint64_t number, pid_t pid, int pidfd)
{
    struct session *session = registry_by_number(registry, number);
    if (!session || session->finished) {
        fd_close(&pidfd);
        return;
    }
    bool first = session_state(session) == SESSION_STARTING;
    BUG_UNLESS(pid > 0);
    session_set_pid(session, pid, pidfd);
    limit_passed(LIMIT_PROGRAM);
    if (!first) /* the keeper repeats it after a hand-over */
        return;
    session_set_own_child(session, true);
    free(session->birth.program);
    session->birth.program = NULL;
    limits_start(session);
    note_spawned(session, NULL);
    part_began(session);
    declared_started(session);
    session_dirty(session);
}

void spawn_failed(struct session *session, const struct err *err)
{
    note_spawned(session, err);
    declared_failed(session, err);
    BUG_UNLESS(!session->exited);
    registry_forget(session->registry, session, false); /* as if it had never existed */
    index_give_back(session->registry, session_name(session));
}

static const char *exec_advice(int error)
{
    switch (error) {
    case ENOENT: return "give a program's path, or a name that is found in PATH";
    case EACCES: return "give a file that may be executed";
    case ENOEXEC: return "give a program, or a script with a #! line";
    case E2BIG: return "give fewer or shorter arguments";
    default: return "choose another program";
    }
}

void registry_spawn_failed(struct registry *registry, uint64_t number, int step, int error)
{
    struct session *session = registry_by_number(registry, number);
    /* after a hand-over it may count as running: the keeper knew its pid already */
    if (!session || session->exited)
        return;
    struct err err = {0};
    const char *program = session->birth.program ? session->birth.program
                                                 : journal_cmd(session->journal);
    if (step == PLAN_CHDIR)
        err_set(&err, ERR_SPAWN, "'%s': %s; choose another directory",
                journal_cwd(session->journal), strerror(error));
    else if (step == PLAN_EXEC)
        err_set(&err, ERR_SPAWN, "'%s': %s; %s", program, strerror(error), exec_advice(error));
    else
        limit_err(&err, ERR_SYSTEM, LIMIT_PROGRAM, error, "'%s' can't be started: %s", program,
                  plan_step_text(step));
    spawn_failed(session, &err);
}
