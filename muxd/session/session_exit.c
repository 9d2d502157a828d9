/* session_exit.c: owns a program's end: the decision that all of its output has been read, and what
 * stands in the journal then. */
#include "base/bug.h"
#include "base/clock.h"
#include "session/descendants.h"
#include "session/internal.h"
#include <signal.h>

/* After the exit, programs that it has left may hold the other end open and go on writing. What the
 * leader wrote is in the kernel by then, and no more than this (the largest size of a pipe for
 * ordinary users). */
#define KERNEL_BYTES (1u << 20)
#define DRAIN_IDLE_NS (50 * NS_PER_MS)
#define DRAIN_TOTAL_NS (200 * NS_PER_MS)

void session_exited(struct session *session, int how, int status)
{
    if (session->exited)
        return;
    session->exited = true;
    session->exit.how = how;
    session->exit.status = status;
    session->exit.ns = loop_now_ns(session->registry->loop);
    session->exit.head = journal_head(session->journal);
    limits_stop(session);
    session_input_close(session);
    if (session->prompt.policy)
        readiness_leader_gone(session->prompt.policy);
    session->exit.deserted = descendants_deserted(session); /* before the last read */
    session_io_read_rest(session);
    session_dirty(session);
}

void session_exit_told(struct session *session, int how, int status)
{
    session->unacknowledged = true;
    session_exited(session, how, status);
    session_acknowledge(session);
}

void session_exit_adopt(struct session *session)
{
    enum session_state state = session_state(session);
    session->finished = session->exited = state != SESSION_STARTING && state != SESSION_RUNNING;
}

void session_exit_keeper_lost(struct session *session)
{
    session->unacknowledged = false;
    session_io_take_let_go(session);
}

static bool is_drained(struct session *session)
{
    if (!session_is_open(session))
        return true;
    int64_t now = loop_now_ns(session->registry->loop);
    int64_t total = session->exit.ns + DRAIN_TOTAL_NS;
    bool enough = session->caught_up ||
                  journal_head(session->journal) - session->exit.head >= KERNEL_BYTES;
    if (!enough)
        return false; /* there is more to read at once */
    if (session->exit.deserted && session->caught_up)
        return true;
    int64_t last = session->last_output_ns > session->exit.ns ? session->last_output_ns
                                                              : session->exit.ns;
    int64_t due = last + DRAIN_IDLE_NS < total ? last + DRAIN_IDLE_NS : total;
    if (now >= due)
        return true;
    loop_timer_set_ns(&session->exit.drain, due);
    return false;
}

static enum session_state final_state(const struct session *session, int *exit_code, int *signo)
{
    struct journal_header *header = session->journal->header;
    *signo = session->exit.how == CLD_EXITED ? -1 : session->exit.status;
    *exit_code = session->exit.how == CLD_EXITED ? session->exit.status
                                                 : 128 + session->exit.status;
    if (session->exit.how == 0) { /* the exit status is not known */
        *signo = *exit_code = -1;
        return SESSION_LOST;
    }
    enum session_killer blame = limits_blame(session, *exit_code, *signo);
    if (blame != KILLER_NONE && atomic_load(&header->killed_by) == KILLER_NONE)
        atomic_store(&header->killed_by, blame);
    if (atomic_load(&header->killed_by) != KILLER_NONE)
        return SESSION_KILLED;
    if (*signo <= 0)
        return SESSION_EXITED;
    if (*signo == atomic_load(&header->kill_signal)) {
        atomic_store(&header->killed_by, KILLER_REQUEST);
        return SESSION_KILLED;
    }
    return SESSION_SIGNALED;
}

/* The order is a promise to a successor: everything about the end stands in the journal before the
 * state says that it has ended, and only then the keeper may reap. */
static void session_exit_finish(struct session *session)
{
    struct journal_header *header = session->journal->header;
    BUG_UNLESS(session->exited && !session->finished);
    int exit_code, signo;
    enum session_state state = final_state(session, &exit_code, &signo);
    loop_timer_stop(&session->exit.drain);
    atomic_store(&header->exit_code, exit_code);
    atomic_store(&header->term_signal, signo);
    atomic_store(&header->ended_real_ms, clock_real_ms());
    atomic_store(&header->drained, 1);
    declared_ended(session);
    atomic_store(&header->state, state);
    BUG_UNLESS(state != SESSION_STARTING && state != SESSION_RUNNING);
    session->finished = true;
    index_count_live(session->registry, -1);
    ended_place(session, false);
    part_ended(session);
    session_acknowledge(session);
}

/* Programs that it has left keep their terminal or pipes, and what they write still goes to the
 * journal: closing it would kill them. */
void session_drain(struct session *session)
{
    session_resume(session); /* somebody may have ended it meanwhile */
    if (session->exited && !session->finished && is_drained(session))
        session_exit_finish(session);
    if (!session->finished)
        return;
    if (!session->unacknowledged)
        session_close_pidfd(session);
    ended_place(session, false);
}

void session_acknowledge(struct session *session)
{
    if (!session->unacknowledged || !session->finished || part_holds_leader(session))
        return;
    session->unacknowledged = false;
    unsigned let_go = session_io_take_let_go(session);
    if (session->registry->link)
        link_ack(session->registry->link, session_number(session), session_pid(session), let_go);
}
