/* session.c: owns a session's making and unmaking, its facts, and what happens to it at the end of a turn. */
#include "session/session.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "base/value.h"
#include "session/internal.h"
#include "sys/proc.h"
#include "sys/pty.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void on_drain(void *arg)
{
    session_dirty(arg);
}

static void on_hold(void *arg)
{
    struct session *session = arg;
    if (session->held)
        session_release_hold(session);
    else
        session_flush_input(session);
}

struct session *session_new(struct registry *registry, struct journal *journal, const int fds[KEEP_FD_COUNT])
{
    struct session *session = xcalloc(1, sizeof *session);
    session->registry = registry;
    session->journal = journal;
    struct list *nodes[] = {&session->order, &session->dirty, &session->more, &session->aged, &session->waits, &session->typed};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
        list_init(nodes[i]);
    session->out = (struct stream){.session = session, .fd = fds[KEEP_FD_MASTER] >= 0 ? fds[KEEP_FD_MASTER] : fds[KEEP_FD_OUT]};
    session->errors = (struct stream){.session = session, .fd = fds[KEEP_FD_ERR], .is_stderr = true};
    session->in_fd = fds[KEEP_FD_IN];
    session->part_fd = fds[KEEP_FD_INPUT_R];
    session->pidfd = -1;
    session->seen_head = journal_head(journal);
    session->created_ns = session->last_output_ns = session->last_input_ns = loop_now_ns(registry->loop);
    loop_timer_init(&session->drain, registry->loop, on_drain, session);
    loop_timer_init(&session->hold, registry->loop, on_hold, session);
    loop_timer_init(&session->lifetime, registry->loop, NULL, session);
    loop_timer_init(&session->idle, registry->loop, NULL, session);
    loop_timer_init(&session->usage, registry->loop, NULL, session);
    return session;
}

void session_free(struct session *session)
{
    waiter_end_all(session);
    part_free(session);
    ready_fini(session);
    fd_close(&session->part_fd);
    loop_timer_stop(&session->drain);
    loop_timer_stop(&session->hold);
    limits_stop(session);
    fd_close(&session->pidfd);
    session_io_close(session);
    list_remove(&session->dirty);
    list_remove(&session->aged);
    session_trim_input(session);
    journal_free(session->journal);
    free(session->program);
    times_free(session->times);
    free(session);
}

void session_dirty(struct session *session)
{
    if (session->gone || !list_is_empty(&session->dirty))
        return;
    list_append(&session->registry->dirty, &session->dirty);
    registry_kick(session->registry);
}

void session_look(struct session *session)
{
    uint64_t head = journal_head(session->journal);
    uint64_t seen_head = session->seen_head;
    bool output = head != seen_head;
    session->seen_head = head;
    if (output)
        times_note(&session->times, clock_real_ms(), seen_head);
    part_answer(session); /* first: a program that waits for an answer is not ready */
    ready_look(session, output);
    if (session->ready != EVIDENCE_NONE && part_prompt(session)) /* before anybody hears of it */
        ready_forget(session);
    part_look(session, seen_head);
    session_drain(session);
    if (session->finished)
        session_trim_input(session);
    waiter_look(session);
    part_late_look(session);
}

void session_set_pid(struct session *session, pid_t pid, int pidfd)
{
    struct journal_header *header = session->journal->header;
    struct proc_stat stat;
    if (atomic_load(&header->pid) != pid || header->pid_start_ticks == 0) /* else a predecessor has looked, and the process is the same */
        header->pid_start_ticks = proc_stat(pid, &stat) ? stat.start_ticks : 0;
    atomic_store(&header->pid, (int32_t)pid);
    atomic_store(&header->state, SESSION_RUNNING);
    fd_close(&session->pidfd);
    session->keeper_knows = true;
    session->pidfd = pidfd >= 0 ? pidfd : proc_pidfd(pid);
    ready_start(session);
}

int session_take_part_fd(struct session *session)
{
    int fd = session->part_fd;
    session->part_fd = -1;
    return fd;
}

/* There may have been no descriptor left for it when the program began. Its number is still its own: the start says so, or the keeper,
 * which reaps a child of its own only when the exit is acknowledged. */
int session_pidfd(struct session *session)
{
    struct proc_stat stat;
    pid_t pid = session_pid(session);
    uint64_t start_ticks = session->journal->header->pid_start_ticks;
    if (session->pidfd >= 0 || pid <= 0 || session->exited)
        return session->pidfd;
    int pidfd = proc_pidfd(pid);
    bool same = start_ticks ? proc_stat(pid, &stat) && stat.start_ticks == start_ticks : session->own_child;
    if (!same)
        fd_close(&pidfd);
    return session->pidfd = pidfd;
}

/* Facts. */

uint64_t session_number(const struct session *session)
{
    return session->journal->header->number;
}

const char *session_name(const struct session *session)
{
    return session->journal->header->name;
}

struct journal *session_journal(struct session *session)
{
    return session->journal;
}

enum session_state session_state(const struct session *session)
{
    return (enum session_state)atomic_load(&session->journal->header->state);
}

bool session_is_live(const struct session *session)
{
    return !session->finished;
}

bool session_is_tty(const struct session *session)
{
    return session->journal->header->tty;
}

bool session_has_exit(const struct session *session, int *exit_code, int *signo)
{
    const struct journal_header *header = session->journal->header;
    if (!session->finished)
        return false;
    int term_signal = atomic_load(&header->term_signal);
    if (exit_code)
        *exit_code = atomic_load(&header->exit_code);
    if (signo)
        *signo = term_signal > 0 ? term_signal : 0;
    return true;
}

pid_t session_pid(const struct session *session)
{
    return atomic_load(&session->journal->header->pid);
}

const char *session_state_word(enum session_state state)
{
    static const char *const words[] = {"running", "running", "exited", "signaled", "killed", "lost"};
    return (size_t)state < sizeof words / sizeof words[0] ? words[state] : "lost";
}

const char *session_killer_word(unsigned killed_by)
{
    static const char *const words[] = {NULL, "request", "stop", "memory", "processes", "cpu_time", "open_files", "lifetime", "idle"};
    return killed_by < sizeof words / sizeof words[0] ? words[killed_by] : "limit";
}

int session_get_size(const struct session *session, int *rows, int *cols)
{
    if (!session_is_tty(session))
        return -1;
    if (session->out.fd >= 0 && pty_get_size(session->out.fd, rows, cols) == 0)
        return 0;
    *rows = session->journal->header->rows;
    *cols = session->journal->header->cols;
    return 0;
}

/* Acts. */

static int ended_error(const struct session *session, struct err *err)
{
    return err_set(err, ERR_ENDED, "'%s' (session %llu) has ended; start a new one", session_name(session),
                   (unsigned long long)session_number(session));
}

int session_interrupt(struct session *session, struct err *err)
{
    if (session->exited || session->finished)
        return ended_error(session, err);
    if (session_pid(session) <= 0) {
        session->pending_signal = SIGINT;
        return 0;
    }
    int pidfd = session_pidfd(session), status = pidfd < 0 ? -errno : proc_signal_group(pidfd, session_pid(session), SIGINT);
    if (status != 0 && status != -ESRCH)
        return err_set(err, ERR_SYSTEM, "'%s' can't be interrupted: %s; try again, or kill it", session_name(session), strerror(-status));
    return 0;
}

int session_resize(struct session *session, int rows, int cols, struct err *err)
{
    if (!session_is_tty(session))
        return err_set(err, ERR_NOT_AVAILABLE, "'%s' has no terminal to resize; start it with one (ue exec -t)", session_name(session));
    if (rows < 1 || rows > 1000 || cols < 1 || cols > 1000)
        return err_set(err, ERR_ARGUMENTS, "'%dx%d' is no size of a terminal; give 1x1 to 1000x1000", rows, cols);
    if (session->finished || session->out.fd < 0)
        return ended_error(session, err);
    struct part_resize resize = {.rows = rows, .cols = cols};
    session_get_size(session, &resize.old_rows, &resize.old_cols);
    int status = pty_resize(session->out.fd, rows, cols);
    if (status != 0)
        return err_set(err, ERR_SYSTEM, "'%s' can't be resized: %s; try again", session_name(session), strerror(-status));
    resize.same = session->journal->header->rows == rows && session->journal->header->cols == cols;
    session->journal->header->rows = rows;
    session->journal->header->cols = cols;
    part_resized(session, &resize);
    return 0;
}

int session_rename(struct session *session, const char *name, struct err *err)
{
    if (!value_session_name(name))
        return err_set(err, ERR_BAD_NAME, "'%.80s' is no session name; use up to 64 of A-Z a-z 0-9 _ . - and not only digits", name);
    struct registry *registry = session->registry;
    const struct session *holder = index_by_name(registry, name);
    if (holder && holder != session && (session_is_live(holder) || !session_is_live(session)))
        return err_set(err, ERR_NAME_TAKEN, "'%s' is the name of session %llu; choose another or rename that one", name,
                       (unsigned long long)session_number(holder));
    table_remove(&registry->tables[TABLE_NAME], session);
    char old_name[JOURNAL_NAME_MAX + 1];
    memcpy(old_name, session_name(session), sizeof old_name);
    char *field = session->journal->header->name; /* its last byte is always 0, so a successor never runs over the end */
    strncpy(field, name, JOURNAL_NAME_MAX);
    index_take_name(registry, session);
    part_renamed(session, old_name);
    return 0;
}

void session_end_read(struct session *session)
{
    if (!session->finished)
        return;
    atomic_store(&session->journal->header->end_read_real_ms, clock_real_ms());
    tombs_place(session, true);
    part_end_read(session);
}

uint64_t session_offset_at(struct session *session, int64_t real_ms)
{
    uint64_t head = journal_head(session->journal);
    int64_t ended_ms = atomic_load(&session->journal->header->ended_real_ms);
    return ended_ms > 0 && real_ms > ended_ms ? head : times_offset(session->times, real_ms, head, 0);
}

void session_follow(struct session *session, bool followed)
{
    session->followed = followed;
    if (session->paused)
        session_resume(session);
}

void session_touch(struct session *session)
{
    atomic_store(&session->journal->header->last_used_real_ms, clock_real_ms());
    if (session->finished && !atomic_load(&session->journal->header->end_read_real_ms))
        tombs_place(session, true);
    if (session->paused)
        session_resume(session);
}

void session_attach(struct session *session, int by)
{
    session->attached += (unsigned)by;
    session->registry->attached += (unsigned)by;
}

unsigned session_attached(const struct session *session)
{
    return session->attached;
}
