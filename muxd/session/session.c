/* session.c: owns what a session says of itself. */
#include "session/session.h"
#include "base/bug.h"
#include "session/internal.h"
#include "sys/pty.h"
#include "term/modes.h"

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
    static const char *const words[] = {"running",  "running", "exited",
                                        "signaled", "killed",  "lost"};
    return (size_t)state < sizeof words / sizeof words[0] ? words[state] : "lost";
}

const char *session_killer_word(unsigned killed_by)
{
    static const char *const words[] = {NULL,       "request",    "stop",     "memory", "processes",
                                        "cpu_time", "open_files", "lifetime", "idle"};
    return killed_by < sizeof words / sizeof words[0] ? words[killed_by] : "limit";
}

pid_t session_terminal_sid(const struct session *session)
{
    return session_is_tty(session) && session->out.fd >= 0 ? pty_session(session->out.fd) : 0;
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

int session_get_own_size(const struct session *session, int *rows, int *cols)
{
    const struct journal_header *header = session->journal->header;
    int code = session_get_size(session, rows, cols);
    if (code == 0 && *cols == MODES_COLUMNS && header->cols > 0 &&
        modes_has(atomic_load(&header->modes), MODE_COLUMNS))
        *cols = header->cols;
    return code;
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
    return session_is_tty(session) && session->out.fd >= 0 &&
           pty_get_mode(session->out.fd, &mode) == 0 && mode.canonical;
}

void session_attach(struct session *session, int by)
{
    BUG_UNLESS(by >= 0 || session->attached >= (unsigned)-by);
    session->attached += (unsigned)by;
    session->registry->attached += (unsigned)by;
}

unsigned session_attached(const struct session *session)
{
    return session->attached;
}
