/* session.c: owns what a session says of itself. */
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

bool session_is_open(const struct session *session)
{
    return session->out.fd >= 0 || session->errors.fd >= 0;
}

bool session_reads_secret(const struct session *session)
{
    struct pty_mode mode;
    return session_is_tty(session) && session->out.fd >= 0 && !session->exited &&
           pty_get_mode(session->out.fd, &mode) == 0 && mode.canonical && !mode.echo;
}

bool session_reads_lines(const struct session *session)
{
    struct pty_mode mode;
    return session_is_tty(session) && session->out.fd >= 0 && pty_get_mode(session->out.fd, &mode) == 0 &&
           mode.canonical;
}
