/* session_acts.c: owns what people and agents do to a session beside typing: signals, sizes, names,
 * and that it was read. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/value.h"
#include "session/internal.h"
#include "sys/proc.h"
#include "sys/pty.h"
#include "term/modes.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

static int ended_error(const struct session *session, struct err *err)
{
    return err_set(err, ERR_ENDED, "'%s' (session %llu) has ended; start a new one",
                   session_name(session), (unsigned long long)session_number(session));
}

void session_set_pending_signal(struct session *session, int signo)
{
    BUG_UNLESS(signo > 0 && session_pid(session) <= 0);
    session->pending_signal = signo;
}

int session_take_pending_signal(struct session *session)
{
    int signo = session->pending_signal;
    session->pending_signal = 0;
    return signo;
}

int session_interrupt(struct session *session, struct err *err)
{
    if (session->exited || session->finished)
        return ended_error(session, err);
    if (session_pid(session) <= 0) {
        session_set_pending_signal(session, SIGINT);
        return 0;
    }
    int pidfd = session_pidfd(session),
        status = pidfd < 0 ? -errno : proc_signal_group(pidfd, session_pid(session), SIGINT);
    if (status != 0 && status != -ESRCH)
        return err_set(err, ERR_SYSTEM, "'%s' can't be interrupted: %s; try again, or kill it",
                       session_name(session), strerror(-status));
    return 0;
}

int session_resize(struct session *session, int rows, int cols, struct err *err)
{
    if (!session_is_tty(session))
        return err_set(err, ERR_NOT_AVAILABLE,
                       "'%s' has no terminal to resize; start it with one (ue exec -t)",
                       session_name(session));
    if (rows < 1 || rows > 1000 || cols < 1 || cols > 1000)
        return err_set(err, ERR_ARGUMENTS,
                       "'%dx%d' is no size of a terminal; give 1x1 to 1000x1000", rows, cols);
    if (session->finished || session->out.fd < 0)
        return ended_error(session, err);
    struct part_resize resize = {.rows = rows, .cols = cols};
    bool many = modes_has(atomic_load(&session->journal->header->modes), MODE_COLUMNS);
    session_get_own_size(session, &resize.old_rows, &resize.old_cols);
    int status = pty_resize(session->out.fd, rows, many ? MODES_COLUMNS : cols);
    if (status != 0)
        return err_set(err, ERR_SYSTEM, "'%s' can't be resized: %s; try again",
                       session_name(session), strerror(-status));
    resize.same = session->journal->header->rows == rows && session->journal->header->cols == cols;
    session->journal->header->rows = rows;
    session->journal->header->cols = cols;
    part_resized(session, &resize);
    return 0;
}

void session_set_columns(struct session *session, bool many)
{
    struct journal_header *header = session->journal->header;
    int rows, cols;
    if (session->finished || session->out.fd < 0 ||
        pty_get_size(session->out.fd, &rows, &cols) < 0 || rows < 1)
        return;
    if (many)
        header->cols = cols;
    else if (cols != MODES_COLUMNS || header->cols < 1)
        return; /* the program has given it another size meanwhile */
    int status = pty_resize(session->out.fd, rows, many ? MODES_COLUMNS : header->cols);
    if (status != 0)
        log_debug("session %llu: the size of its terminal can't be set: %s",
                  (unsigned long long)session_number(session), strerror(-status));
}

int session_rename(struct session *session, const char *name, struct err *err)
{
    if (!value_session_name(name))
        return err_set(
            err, ERR_BAD_NAME,
            "'%.80s' is no session name; use up to 64 of A-Z a-z 0-9 _ . - and not only digits",
            name);
    struct registry *registry = session->registry;
    const struct session *holder = index_by_name(registry, name);
    if (holder && holder != session && (session_is_live(holder) || !session_is_live(session)))
        return err_set(err, ERR_NAME_TAKEN,
                       "'%s' is the name of session %llu; choose another or rename that one", name,
                       (unsigned long long)session_number(holder));
    BUG_UNLESS(!session->gone);
    table_remove(&registry->tables[TABLE_NAME], session);
    char old_name[JOURNAL_NAME_MAX + 1];
    memcpy(old_name, session_name(session), sizeof old_name);
    /* its last byte is always 0, so a successor never runs over the end */
    char *field = session->journal->header->name;
    strncpy(field, name, JOURNAL_NAME_MAX);
    index_take_name(registry, session);
    part_renamed(session, old_name);
    return 0;
}

void session_end_read(struct session *session)
{
    if (!session->finished)
        return;
    ended_note_read(session);
    ended_place(session, true);
    part_end_read(session);
}

void session_touch(struct session *session)
{
    atomic_store(&session->journal->header->last_used_real_ms, clock_real_ms());
    if (session->finished && !atomic_load(&session->journal->header->end_read_real_ms))
        ended_place(session, true);
    if (session->paused)
        session_resume(session);
}

uint64_t session_offset_at(struct session *session, int64_t real_ms)
{
    uint64_t head = journal_head(session->journal);
    int64_t ended_ms = atomic_load(&session->journal->header->ended_real_ms);
    return ended_ms > 0 && real_ms > ended_ms ? head
                                              : times_offset(session->times, real_ms, head, 0);
}
