/* reap.c: owns the end of a session on purpose: HUP, TERM, KILL to the foreground and the leader's
 * group, then the hunt for all others (reap_hunt.c). While that goes on the leader is not reaped,
 * so that its number, which is also the group's, can't be given to another process. Everything here
 * has a deadline. */
#include "parts/reap/reap.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "parts/reap/reap_kill.h"
#include "session/internal.h"
#include "sys/cgroup.h"
#include "sys/proc.h"
#include "sys/pty.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

struct reap { /* of the registry */
    struct list kills; /* that are under way */
};

struct asker {
    struct list link; /* of its kill; then unused */
    struct deferred deferred;
    reap_fn *fn;
    void *arg;
    struct reap_result result;
};

static struct reap *reap_of(const struct registry *registry)
{
    return registry->part[PART_REAP];
}

static struct kill *kill_of(const struct session *session) /* NULL: it is not being ended */
{
    return session->part[PART_REAP];
}

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
        const struct bearer *all = bearers_of(descendants_now(session->registry),
                                              session_number(session), &count);
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

static struct asker *asker_new(reap_fn *fn, void *arg)
{
    struct asker *asker = xcalloc(1, sizeof *asker);
    list_init(&asker->link);
    asker->fn = fn;
    asker->arg = arg;
    return asker;
}

static void asker_on_told(void *arg)
{
    struct asker *asker = arg;
    asker->fn(asker->arg, &asker->result);
    free(asker);
}

/* At the end of the turn. */
static void asker_tell(struct registry *registry, struct asker *asker,
                       const struct reap_result *result)
{
    list_remove(&asker->link);
    asker->result = *result;
    asker->deferred = (struct deferred){.fn = asker_on_told, .arg = asker};
    registry_defer(registry, &asker->deferred);
}

static struct reap_result result_of(const struct session *session)
{
    struct reap_result result = {.number = session_number(session), .exit_code = -1};
    if (session_has_exit(session, &result.exit_code, &result.signo) &&
        session_state(session) == SESSION_KILLED)
        result.ended_by = result.signo;
    return result;
}

static void kill_drop(struct kill *kill)
{
    struct registry *registry = kill->registry;
    struct reap_result result = kill->session
                                    ? result_of(kill->session)
                                    : (struct reap_result){.number = kill->number, .exit_code = -1};
    hunt_count_survivors(kill, &result);
    while (!list_is_empty(&kill->askers))
        asker_tell(registry, LIST_OWNER(kill->askers.next, struct asker, link), &result);
    loop_timer_stop(&kill->timer);
    descendants_drop(&kill->ask);
    list_remove(&kill->link);
    if (kill->cgroup)
        cgroup_remove(kill->cgroup);
    cgroup_free(kill->cgroup);
    bearers_fini(&kill->hunted);
    bearers_fini(&kill->strays);
    if (kill->session)
        kill->session->part[PART_REAP] = NULL;
    free(kill);
    registry_kick(registry);
}

void kill_finish(struct kill *kill)
{
    BUG_UNLESS(kill->stage >= KILL_HUNT_TERM);
    struct session *session = kill->session;
    if (session && session->exited && kill->hunted.count == 0 &&
        mark_fits(descendants_mark(kill->registry)))
        descendants_are_gone(session);
    kill_drop(kill);
    if (!session)
        return;
    /* what can't be ended does not keep the daemon from stopping */
    if (session->registry->stopping != STOP_NOT)
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
    /* it is another user's by now: the kernel hangs up on it for us */
    if (status == -EPERM && !kill->denied) {
        kill->denied = true;
        kill->until_ms = kill_now_ms(kill) + KILL_DENIED_MS;
        session_hang_up(session);
    }
    loop_timer_set_ms(&kill->timer, KILL_PAUSE_LAST_MS);
}

static void begin_ladder(struct kill *kill)
{
    /* while all parents live */
    mark_strays(descendants_mark(kill->registry), kill->number, session_pid(kill->session),
                &kill->strays);
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

/* --- what the core tells --- */

static void on_leader_ended(struct session *session)
{
    struct kill *kill = kill_of(session);
    if (kill && kill->stage < KILL_HUNT_TERM)
        hunt_begin(kill);
}

static bool holds_leader(const struct session *session)
{
    return kill_of(session) != NULL;
}

/* There is a process: what was asked for before is done now. */
static void reap_on_began(struct session *session)
{
    struct kill *kill = kill_of(session);
    int signo = session_take_pending_signal(session);
    if (kill && kill->stage == KILL_WAITS_FOR_PID)
        begin_ladder(kill);
    if (signo)
        signal_groups(session, signo);
}

static void reap_free(struct session *session)
{
    if (kill_of(session))
        kill_drop(kill_of(session));
}

/* --- beginning --- */

static struct kill *kill_new(struct registry *registry, uint64_t number)
{
    struct kill *kill = xcalloc(1, sizeof *kill);
    kill->registry = registry;
    kill->number = number;
    list_init(&kill->askers);
    list_append(&reap_of(registry)->kills, &kill->link);
    loop_timer_init(&kill->timer, registry->loop, kill_on_timer, kill);
    kill->ask = (struct descendants_ask){.number = number, .fn = hunt_on_found, .arg = kill};
    list_init(&kill->ask.link);
    return kill;
}

static struct kill *kill_begin(struct session *session, enum session_killer killer)
{
    struct kill *kill = kill_new(session->registry, session_number(session));
    kill->session = session;
    session->part[PART_REAP] = kill;
    if (!session->exited) {
        atomic_store(&session->journal->header->killed_by, (uint32_t)killer);
        part_killed(session, session_killer_word(killer), 0);
    }
    return kill;
}

static void add_asker(struct kill *kill, reap_fn *fn, void *arg)
{
    if (fn)
        list_append(&kill->askers, &asker_new(fn, arg)->link);
}

static void send_one(struct session *session, int signo, reap_fn *fn, void *arg)
{
    if (session_pid(session) <= 0)
        session_set_pending_signal(session, signo);
    atomic_store(&session->journal->header->kill_signal, signo);
    signal_groups(session, signo);
    struct reap_result result = result_of(session);
    if (fn)
        asker_tell(session->registry, asker_new(fn, arg), &result);
}

static void ladder(struct session *session, enum session_killer killer, bool hard, reap_fn *fn,
                   void *arg)
{
    bool fresh = !kill_of(session);
    struct kill *kill = fresh ? kill_begin(session, killer) : kill_of(session);
    bool harder = hard && !kill->hard;
    kill->hard |= hard;
    add_asker(kill, fn, arg);
    if (kill->stage >= KILL_HUNT_TERM || (!fresh && !harder))
        return; /* what is under way will do */
    if (session->finished)
        hunt_begin(kill); /* for what it has left */
    else if (session->exited || session_pid(session) <= 0)
        kill->stage = KILL_WAITS_FOR_PID; /* or for the drain: on_leader_ended */
    else
        begin_ladder(kill);
}

void reap_kill(struct session *session, int signo, enum session_killer killer, reap_fn *fn,
               void *arg)
{
    BUG_UNLESS(signo >= 0 && !session->gone);
    if (signo > 0) {
        part_killed(session, session_killer_word(killer), signo);
        send_one(session, signo, fn, arg);
        return;
    }
    if (killer == KILLER_REQUEST)
        declared_killed(session);
    ladder(session, killer, false, fn, arg);
}

void reap_kill_hard(struct session *session, enum session_killer killer, reap_fn *fn, void *arg)
{
    BUG_UNLESS(!session->gone);
    ladder(session, killer, true, fn, arg);
}

static struct kill *find_without_session(const struct registry *registry, uint64_t number)
{
    const struct list *kills = &reap_of(registry)->kills;
    for (const struct list *at = kills->next; at != kills; at = at->next)
        if (LIST_OWNER(at, struct kill, link)->number == number)
            return LIST_OWNER(at, struct kill, link);
    return NULL;
}

void reap_kill_left(struct registry *registry, uint64_t number, reap_fn *fn, void *arg)
{
    BUG_UNLESS(!registry_by_number(registry, number));
    struct kill *kill = find_without_session(registry, number);
    if (!kill) {
        kill = kill_new(registry, number);
        hunt_begin(kill);
    }
    add_asker(kill, fn, arg);
}

/* --- the row --- */

static void reap_init(struct registry *registry)
{
    struct reap *reap = xcalloc(1, sizeof *reap);
    list_init(&reap->kills);
    registry->part[PART_REAP] = reap;
}

/* Those who wait for a kill that is under way are told how far it came. */
static void reap_close(struct registry *registry)
{
    struct reap *reap = reap_of(registry);
    while (!list_is_empty(&reap->kills))
        kill_drop(LIST_OWNER(reap->kills.next, struct kill, link));
}

static void reap_fini(struct registry *registry)
{
    BUG_UNLESS(list_is_empty(&reap_of(registry)->kills));
    free(reap_of(registry));
    registry->part[PART_REAP] = NULL;
}

static bool reap_is_idle(const struct registry *registry)
{
    return list_is_empty(&reap_of(registry)->kills);
}

static void reap_end(struct session *session, enum session_killer killer)
{
    reap_kill(session, 0, killer, NULL, NULL);
}

const struct part reap_part = {
    .init = reap_init,
    .close = reap_close,
    .fini = reap_fini,
    .is_idle = reap_is_idle,
    .began = reap_on_began,
    .ended = on_leader_ended,
    .holds_leader = holds_leader,
    .free = reap_free,
    .end = reap_end,
};
