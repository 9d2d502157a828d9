/* reap_kill.c: owns the end of a session on purpose: HUP, TERM, KILL to the foreground and the
 * leader's group, then the hunt for all others (reap_hunt.c). While that goes on the leader is not
 * reaped, so that its number, which is the group's, can't be anybody else's. Everything here has a
 * deadline. */
#include "base/bug.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/internal.h"
#include "session/reap_kill.h"
#include "sys/cgroup.h"
#include "sys/proc.h"
#include "sys/pty.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

struct asker {
    struct list link;
    kill_fn *fn;
    void *arg;
};

int64_t kill_now_ms(const struct kill *kill)
{
    return loop_now_ns(kill->registry->loop) / NS_PER_MS;
}

int64_t kill_grace_ms(const struct kill *kill)
{
    return kill->registry->cfg->muxd.kill_grace_ms;
}

/* --- groups --- */

/* The kernel's session is the leader's as long as that is not reaped. */
static bool kill_is_member(const struct session *session, pid_t pid, pid_t pgrp)
{
    struct proc_stat stat;
    return proc_stat(pid, &stat) && stat.pgrp == pgrp && stat.session == session_pid(session) &&
           !proc_is_dead(&stat);
}

static void signal_foreground(struct session *session, pid_t pgrp, int signo)
{
    pid_t member = kill_is_member(session, pgrp, pgrp) ? pgrp : 0;
    if (!member) { /* its leader has ended before the others */
        size_t count;
        const struct bearer *all = bearers_of(reap_now(session->registry), session_number(session),
                                              &count);
        for (size_t i = 0; i < count && !member; i++)
            member = kill_is_member(session, all[i].pid, pgrp) ? all[i].pid : 0;
    }
    int pidfd = member ? proc_pidfd(member) : -1;
    /* While that member lives the group's number is taken; the look comes after its descriptor. */
    if (pidfd >= 0 && kill_is_member(session, member, pgrp))
        proc_signal_group(pidfd, pgrp, signo);
    fd_close(&pidfd);
}

/* The leader, its group, and who is in the foreground of its terminal. 0, or what the leader's
 * signal met. */
static int signal_groups(struct session *session, int signo)
{
    pid_t leader = session_pid(session);
    if (leader <= 1 || session->exited)
        return 0;
    if (session_pidfd(session) < 0)
        return -errno;
    if (session_is_tty(session) && session->out.fd >= 0) {
        pid_t foreground = pty_foreground(session->out.fd);
        if (foreground > 1 && foreground != leader)
            signal_foreground(session, foreground, signo);
    }
    if (proc_signal_group(session->pidfd, leader, signo) != 0)
        proc_signal(session->pidfd, signo); /* not yet past setsid */
    return proc_signal(session->pidfd, 0);
}

/* --- the end of a kill --- */

static void tell_askers(struct kill *kill, const struct kill_result *result)
{
    while (!list_is_empty(&kill->askers)) {
        struct asker *asker = LIST_OWNER(kill->askers.next, struct asker, link);
        struct note *note = registry_note(kill->registry, NOTE_KILLED, result->number);
        note->killed.fn = asker->fn;
        note->killed.arg = asker->arg;
        note->killed.result = *result;
        list_remove(&asker->link);
        free(asker);
    }
}

static struct kill_result result_of(const struct session *session)
{
    struct kill_result result = {.number = session_number(session), .exit_code = -1};
    if (session_has_exit(session, &result.exit_code, &result.signo) &&
        session_state(session) == SESSION_KILLED)
        result.ended_by = result.signo;
    return result;
}

static void kill_drop(struct kill *kill)
{
    struct registry *registry = kill->registry;
    struct kill_result result = kill->session
                                    ? result_of(kill->session)
                                    : (struct kill_result){.number = kill->number, .exit_code = -1};
    hunt_count_survivors(kill, &result);
    tell_askers(kill, &result);
    loop_timer_stop(&kill->timer);
    reap_drop(&kill->ask);
    list_remove(&kill->link);
    if (kill->cgroup)
        cgroup_remove(kill->cgroup);
    cgroup_free(kill->cgroup);
    bearers_fini(&kill->hunted);
    bearers_fini(&kill->strays);
    if (kill->session)
        kill->session->kill = NULL;
    free(kill);
    registry_kick(registry);
}

void kill_finish(struct kill *kill)
{
    BUG_UNLESS(kill->stage >= KILL_HUNT_TERM);
    struct session *session = kill->session;
    if (session)
        session->left_nobody = session->exited && kill->hunted.count == 0 &&
                               mark_fits(reap_mark(session->registry));
    kill_drop(kill);
    if (!session)
        return;
    if (session->registry->stopping !=
        STOP_NOT) /* what can't be ended doesn't keep the daemon either */
        session_exited(session, 0, 0);
    session_acknowledge(session);
    session_dirty(session);
}

/* --- the ladder --- */

static void kill_step(struct kill *kill)
{
    static const int signals[] = {
        [KILL_HUP] = SIGHUP, [KILL_TERM] = SIGTERM, [KILL_KILL] = SIGKILL};
    struct session *session = kill->session;
    int signo = signals[kill->stage];
    atomic_store(&session->journal->header->kill_signal, signo);
    int status = signal_groups(session, signo);
    if (signo != SIGKILL) { /* a stopped program acts on it only when it goes on */
        signal_groups(session, SIGCONT);
        loop_timer_set_ms(&kill->timer, kill_grace_ms(kill));
        return;
    }
    if (status == -EPERM &&
        !kill->denied) { /* it is another user's by now: the kernel hangs up on it for us */
        kill->denied = true;
        kill->until_ms = kill_now_ms(kill) + KILL_DENIED_MS;
        session_hang_up(session);
    }
    loop_timer_set_ms(&kill->timer, KILL_PAUSE_LAST_MS);
}

static void begin_ladder(struct kill *kill)
{
    mark_strays(reap_mark(kill->registry), kill->number, session_pid(kill->session),
                &kill->strays); /* while all parents live */
    kill->stage = kill->hard ? KILL_KILL : KILL_HUP;
    kill->until_ms = kill_now_ms(kill) + (kill->hard ? 0 : 2 * kill_grace_ms(kill)) + KILL_MAX_MS;
    kill_step(kill);
}

static void kill_on_timer(void *arg)
{
    struct kill *kill = arg;
    if (kill->stage >= KILL_HUNT_TERM) {
        hunt_on_timer(kill);
    } else if (!kill->session->exited && kill->stage == KILL_KILL &&
               kill_now_ms(kill) >= kill->until_ms) {
        hunt_begin(kill); /* its leader is one of the hunted now */
    } else if (!kill->session->exited) {
        kill->stage += kill->stage < KILL_KILL;
        kill_step(kill);
    }
}

void kill_leader_ended(struct session *session)
{
    if (session->kill && session->kill->stage < KILL_HUNT_TERM)
        hunt_begin(session->kill);
}

bool kill_wants_leader(const struct session *session)
{
    return session->kill != NULL;
}

void kill_started(struct session *session)
{
    if (session->kill && session->kill->stage == KILL_WAITS_FOR_PID)
        begin_ladder(session->kill);
    if (session->pending_signal)
        signal_groups(session, session->pending_signal);
    session->pending_signal = 0;
}

void kill_forget(struct session *session)
{
    if (session->kill)
        kill_drop(session->kill);
}

/* --- beginning --- */

static struct kill *kill_new(struct registry *registry, uint64_t number)
{
    struct kill *kill = xcalloc(1, sizeof *kill);
    kill->registry = registry;
    kill->number = number;
    list_init(&kill->askers);
    list_append(&registry->kills, &kill->link);
    loop_timer_init(&kill->timer, registry->loop, kill_on_timer, kill);
    kill->ask = (struct reap_ask){.number = number, .fn = hunt_on_found, .arg = kill};
    list_init(&kill->ask.link);
    return kill;
}

static struct kill *kill_begin(struct session *session, enum session_killer killer)
{
    struct kill *kill = kill_new(session->registry, session_number(session));
    kill->session = session;
    session->kill = kill;
    if (!session->exited) {
        atomic_store(&session->journal->header->killed_by, (uint32_t)killer);
        part_killed(session, session_killer_word(killer), 0);
    }
    return kill;
}

static void add_asker(struct kill *kill, kill_fn *fn, void *arg)
{
    if (!fn)
        return;
    struct asker *asker = xcalloc(1, sizeof *asker);
    asker->fn = fn;
    asker->arg = arg;
    list_append(&kill->askers, &asker->link);
}

static void send_one(struct session *session, int signo, kill_fn *fn, void *arg)
{
    if (session_pid(session) <= 0)
        session->pending_signal = signo;
    atomic_store(&session->journal->header->kill_signal, signo);
    signal_groups(session, signo);
    if (!fn)
        return;
    struct note *note = registry_note(session->registry, NOTE_KILLED, session_number(session));
    note->killed.fn = fn;
    note->killed.arg = arg;
    note->killed.result = result_of(session);
}

static void ladder(struct session *session, enum session_killer killer, bool hard, kill_fn *fn,
                   void *arg)
{
    bool fresh = !session->kill;
    struct kill *kill = fresh ? kill_begin(session, killer) : session->kill;
    bool harder = hard && !kill->hard;
    kill->hard |= hard;
    add_asker(kill, fn, arg);
    if (kill->stage >= KILL_HUNT_TERM || (!fresh && !harder))
        return;            /* it ends as it is */
    if (session->finished) /* what it left behind */
        hunt_begin(kill);
    else if (session->exited || session_pid(session) <= 0)
        kill->stage = KILL_WAITS_FOR_PID; /* or for the drain: kill_leader_ended */
    else
        begin_ladder(kill);
}

void registry_kill(struct registry *registry, struct session *session, int signo,
                   enum session_killer killer, kill_fn *fn, void *arg)
{
    (void)registry;
    if (signo > 0) {
        part_killed(session, session_killer_word(killer), signo);
        send_one(session, signo, fn, arg);
        return;
    }
    if (killer == KILLER_REQUEST)
        declared_killed(session);
    ladder(session, killer, false, fn, arg);
}

void registry_kill_hard(struct registry *registry, struct session *session,
                        enum session_killer killer, kill_fn *fn, void *arg)
{
    (void)registry;
    ladder(session, killer, true, fn, arg);
}

void kill_fini(struct registry *registry)
{
    while (!list_is_empty(&registry->kills))
        kill_drop(LIST_OWNER(registry->kills.next, struct kill, link));
}

static struct kill *find_without_session(const struct registry *registry, uint64_t number)
{
    for (const struct list *at = registry->kills.next; at != &registry->kills; at = at->next)
        if (LIST_OWNER(at, struct kill, link)->number == number)
            return LIST_OWNER(at, struct kill, link);
    return NULL;
}

void registry_kill_left(struct registry *registry, uint64_t number, kill_fn *fn, void *arg)
{
    BUG_UNLESS(!registry_by_number(registry, number));
    struct kill *kill = find_without_session(registry, number);
    if (!kill) {
        kill = kill_new(registry, number);
        hunt_begin(kill);
    }
    add_asker(kill, fn, arg);
}

static bool kills_are_over(const struct registry *registry)
{
    return list_is_empty(&registry->kills);
}

static void reap_start(struct registry *registry)
{
    reap_init(registry, registry->state_dir);
}

static void reap_forget(struct session *session, bool told)
{
    (void)told;
    reap_removed(session);
}

const struct part reap_part = {
    .init = reap_start,
    .close = kill_fini,
    .fini = reap_fini,
    .is_idle = kills_are_over,
    .turn_end = reap_turn_end,
    .began = kill_started,
    .ended = kill_leader_ended,
    .holds_leader = kill_wants_leader,
    .forget = reap_forget,
    .free = kill_forget,
};
