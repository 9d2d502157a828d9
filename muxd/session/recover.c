/* recover.c: owns what happens after a worker has died: its sessions are rebuilt from their
 * journals; and after a keeper has died: its successor is given everything that it held. */
#include "base/bug.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/log.h"
#include "session/internal.h"
#include "session/descendants.h"
#include "sys/proc.h"
#include <errno.h>
#include <unistd.h>

/* The keeper knows descriptors by their tags; the transfer's are in slot 0. */
static void hold_transfer(struct registry *registry)
{
    static const int use[TRANSFER_FDS] = {KEEP_FD_TRANSFER, KEEP_FD_TRANSFER_R, KEEP_FD_TRANSFER_W,
                                          KEEP_FD_INPUT_R, KEEP_FD_INPUT_W};
    int own[TRANSFER_FDS], fds[KEEP_FD_COUNT] = KEEP_NO_FDS;
    transfer_fds(registry->transfer, own);
    for (int i = 0; i < TRANSFER_FDS; i++)
        fds[use[i]] = own[i];
    link_hold(registry->link, 0, fds);
}

int recover_transfer(struct registry *registry, struct err *err)
{
    if (registry->transfer)
        return 0;
    int code = transfer_new(&registry->transfer, err);
    if (!code) {
        hold_transfer(registry);
        number_begin(&registry->numbers, transfer_numbers(registry->transfer));
        descendants_begin(registry, transfer_mark(registry->transfer));
    }
    return code;
}

static void recover_close_all(int fds[KEEP_FD_COUNT])
{
    for (int i = 0; i < KEEP_FD_COUNT; i++)
        fd_close(&fds[i]);
}

/* Memory or descriptors are short, but nothing is lost: the keeper holds all sessions and starts
 * workers until one has room. */
static void __attribute__((__noreturn__)) leave_it_to_the_next(const struct err *err)
{
    log_error("can't take over now, the next worker tries again: %s", err->text);
    _exit(1);
}

static void adopt_transfer(struct registry *registry, int fds[KEEP_FD_COUNT])
{
    const int own[TRANSFER_FDS] = {fds[KEEP_FD_TRANSFER], fds[KEEP_FD_TRANSFER_R],
                                   fds[KEEP_FD_TRANSFER_W], fds[KEEP_FD_INPUT_R],
                                   fds[KEEP_FD_INPUT_W]};
    struct err err = {0};
    if (registry->transfer || transfer_adopt(&registry->transfer, own, &err) != 0) {
        if (err.code == ERR_LIMIT)
            leave_it_to_the_next(&err);
        if (!registry->transfer)
            log_error("what was on its way when the worker died is lost: %s", err.text);
        recover_close_all(fds);
    }
}

/* Nothing is read before the transfer has been repaired: descriptors are watched from
 * registry_handed_over on. */
void registry_adopt(struct registry *registry, uint64_t number, pid_t pid, int fds[])
{
    if (number == 0) {
        adopt_transfer(registry, fds);
        return;
    }
    if (part_take_slot(registry, number, fds))
        return;
    BUG_UNLESS(!registry->handed_over);
    struct journal *journal = NULL;
    struct err err = {0};
    int code = fds[KEEP_FD_JOURNAL] < 0 ? err_set(&err, ERR_SYSTEM, "the keeper has no journal")
                                        : journal_adopt(&journal, fds[KEEP_FD_JOURNAL], &err);
    if (journal) {
        fds[KEEP_FD_JOURNAL] = -1;
        if (journal->header->number != number || registry_by_number(registry, number))
            code = err_set(&err, ERR_SYSTEM, "its journal is that of session %llu",
                           (unsigned long long)journal->header->number);
    }
    if (code == ERR_LIMIT)
        leave_it_to_the_next(&err);
    if (code || !journal) {
        log_error("session %llu can't be taken over and is given up: %s",
                  (unsigned long long)number, err.text);
        journal_free(journal);
        recover_close_all(fds);
        link_drop(registry->link, number);
        number_skip_past(&registry->numbers, number);
        return;
    }
    struct session *session = session_new(registry, journal, fds);
    session_input_adopt(session);
    session_exit_adopt(session);
    index_add(registry, session);
    number_skip_past(&registry->numbers, number);
    if (!session->finished) {
        index_count_live(registry, 1);
        if (pid > 0)
            session_set_pid(session, pid, -1);
    }
}

static struct journal *find_journal(void *arg, uint64_t number)
{
    struct session *session = registry_by_number(arg, number);
    return session ? session->journal : NULL;
}

/* For a program that the keeper doesn't know, because the keeper that started it is dead. False: no
 * descriptor is left to find out whether the program lives. One that is gone has ended. */
static bool find_leader(struct session *session)
{
    const struct journal_header *header = session->journal->header;
    pid_t pid = session_pid(session);
    struct proc_stat stat;
    proc_was_blind();
    int pidfd = pid > 0 ? proc_pidfd(pid) : -1;
    bool blind = pid > 0 && pidfd < 0 && (errno == EMFILE || errno == ENFILE);
    bool same = pidfd >= 0 && proc_stat(pid, &stat) && stat.start_ticks == header->pid_start_ticks;
    if (same) {
        session_set_pid(session, pid, pidfd);
        return true;
    }
    fd_close(&pidfd);
    if (proc_was_blind() || blind)
        return false;
    session_exited(session, 0, 0);
    return true;
}

static void adopt_leader(struct session *session)
{
    struct err err;
    if (!find_leader(session)) {
        limit_err(&err, ERR_SYSTEM, LIMIT_HAND_OVER, EMFILE, "can't look at the programs");
        leave_it_to_the_next(&err);
    }
    if (!session->exited)
        link_adopt(session->registry->link, session_number(session), session_pid(session),
                   session->pidfd);
}

static void recover_revive(struct session *session)
{
    struct err err = {0};
    /* the predecessor could; without it nothing is read from this session */
    if (session_io_start(session, &err) != 0)
        leave_it_to_the_next(&err);
    followed_adopt(session);
    if (session->finished) {
        part_adopt(session);
        ended_place(session, false);
        return;
    }
    if (!session->keeper_knows)
        adopt_leader(session);
    else if (!session->exited) /* all sessions are in: now there is room for a pidfd */
        session_set_pid(session, session_pid(session), -1);
    limits_start(session);
    part_adopt(session);
    if (!session->exited)
        session_flush_input(session);
    session_dirty(session);
}

struct session *recover_from_disk(struct registry *registry, struct journal *journal)
{
    int none[KEEP_FD_COUNT] = KEEP_NO_FDS;
    struct session *session = session_new(registry, journal, none);
    session->from_disk = true;
    atomic_store(&journal->header->end_read_boot_ms, 0); /* of the boot before, perhaps */
    session_exit_adopt(session);
    index_add(registry, session);
    number_skip_past(&registry->numbers, session_number(session));
    return session;
}

static void recover_begin(struct session *session)
{
    /* the predecessor died before it had asked for the program */
    if (session_state(session) == SESSION_STARTING && session_pid(session) <= 0)
        registry_forget(session->registry, session, false);
    else
        recover_revive(session);
}

void registry_handed_over(struct registry *registry)
{
    struct err err = {0};
    BUG_UNLESS(!registry->handed_over);
    registry->handed_over = true;
    if (registry->transfer) {
        transfer_repair(registry->transfer, find_journal, registry);
        number_begin(&registry->numbers, transfer_numbers(registry->transfer));
        descendants_begin(registry, transfer_mark(registry->transfer));
    } else if (recover_transfer(registry, &err) != 0)
        log_error("%s", err.text); /* tried again by the next session */
    struct list *next;
    for (struct list *at = registry->order.next; at != &registry->order; at = next) {
        next = at->next;
        recover_begin(LIST_OWNER(at, struct session, order));
    }
}

void registry_exited(struct registry *registry, uint64_t number, pid_t pid, int how, int status)
{
    struct session *session = registry_by_number(registry, number);
    if (!session) {
        link_ack(registry->link, number, pid, 0);
        return;
    }
    if (session_pid(session) <= 0)
        atomic_store(&session->journal->header->pid, (int32_t)pid);
    session_exit_told(session, how, status);
}

/* False: the link is full. */
static bool give_session(struct registry *registry, struct session *session)
{
    int fds[KEEP_FD_COUNT] = KEEP_NO_FDS;
    bool runs = !session->exited && session_pid(session) > 0;
    fds[KEEP_FD_JOURNAL] = session->journal->fd;
    fds[session_is_tty(session) ? KEEP_FD_MASTER : KEEP_FD_OUT] = session->out.fd;
    fds[KEEP_FD_ERR] = session->errors.fd;
    fds[KEEP_FD_IN] = session->input.fd;
    part_hold_session(session, fds);
    return link_give(registry->link, session_number(session), fds, session_pid(session),
                     runs ? session->pidfd : -1);
}

void registry_give(struct registry *registry)
{
    if (!registry->link)
        return;
    if (registry->transfer)
        hold_transfer(registry);
    part_hold(registry);
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        struct session *session = LIST_OWNER(at, struct session, order);
        session->to_give = !session->from_disk; /* a successor reads those from the disk itself */
    }
}

/* A program without a pidfd can't be given. */
static bool can_give(struct session *session)
{
    return session->exited || session->own_child || session_pid(session) <= 0 ||
           session->pidfd >= 0 || find_leader(session);
}

enum given registry_give_more(struct registry *registry)
{
    enum given given = GIVEN_ALL;
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        struct session *session = LIST_OWNER(at, struct session, order);
        if (!session->to_give)
            continue;
        if (!can_give(session))
            given = GIVEN_NOT_NOW;
        else if (give_session(registry, session))
            session->to_give = false;
        else
            return GIVEN_SOME;
    }
    return given;
}

/* The keeper died before it told us of the fork, or before it forked. A program that it had not yet
 * executed is not executed any more (plan_execute.c). */
static void find_started(struct session *session)
{
    int pidfd = -1;
    pid_t pid = descendants_find_leader(session, &pidfd);
    if (pid > 0) {
        registry_spawned(session->registry, session_number(session), pid, pidfd);
        session_set_own_child(session, false);
        return;
    }
    struct err err;
    err_set(&err, ERR_SYSTEM, "'%s' can't be started: the keeper died; try again",
            session_name(session));
    spawn_failed(session, &err);
}

/* Programs become children of init or of another reaper; the new keeper watches them by pidfd. */
void registry_keeper_lost(struct registry *registry, struct link *fresh)
{
    registry->link = fresh;
    if (!fresh)
        return;
    struct list *next;
    for (struct list *at = registry->order.next; at != &registry->order; at = next) {
        next = at->next;
        struct session *session = LIST_OWNER(at, struct session, order);
        session_exit_keeper_lost(session);
        session_set_own_child(session, false);
        if (!session->finished && session_state(session) == SESSION_STARTING)
            find_started(session);
    }
}
