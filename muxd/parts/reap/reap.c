/* reap.c: owns the end of a session on purpose: HUP, TERM, KILL to the foreground and the leader's
 * group, then the hunt for all others (reap_hunt.c). While that goes on the leader is not reaped,
 * so that its number, which is also the group's, can't be given to another process. Everything here
 * has a deadline. */
#include "parts/reap/reap.h"
#include "base/bug.h"
#include "base/log.h"
#include "base/mem.h"
#include "parts/reap/reap_kill.h"
#include "session/internal.h"
#include "sys/proc.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

/* --- the ladder --- */

static void kill_step(struct kill *kill)
{
    static const int signals[] = {
        [KILL_HUP] = SIGHUP, [KILL_TERM] = SIGTERM, [KILL_KILL] = SIGKILL};
    struct session *session = kill->session;
    int signo = signals[kill->stage];
    atomic_store(&session->journal->header->kill_signal, signo);
    int status = groups_signal(session, signo);
    if (signo != SIGKILL) { /* a stopped program acts on it only when it goes on */
        groups_signal(session, SIGCONT);
        kill_wait(kill, kill_grace_ms(kill));
        return;
    }
    kill_set_until(kill, KILL_MAX_MS);
    if (status == -EPERM) /* it is another user's by now: the kernel hangs up on it for us */
        kill_deny(kill);
    kill_wait(kill, KILL_PAUSE_LAST_MS);
}

static void begin_ladder(struct kill *kill)
{
    /* while all parents live */
    mark_strays(descendants_mark(kill->registry), kill->number, session_pid(kill->session),
                &kill->strays);
    kill->stage = kill->hard ? KILL_KILL : KILL_HUP;
    kill_step(kill);
}

void kill_on_timer(void *arg)
{
    struct kill *kill = arg;
    if (kill->stage >= KILL_HUNT_TERM) {
        hunt_on_timer(kill);
    } else if (!kill->session->exited && kill_is_late(kill)) {
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
        groups_signal(session, signo);
}

static void reap_free(struct session *session)
{
    if (kill_of(session))
        kill_drop(kill_of(session));
}

/* --- beginning --- */

static struct kill *kill_begin(struct session *session, enum session_killer killer)
{
    struct kill *kill = kill_new(session->registry, session_number(session));
    kill->session = session;
    session->part[PART_REAP] = kill;
    if (!session->exited && atomic_load(&session->journal->header->killed_by) == KILLER_NONE) {
        atomic_store(&session->journal->header->killed_by, (uint32_t)killer);
        part_killed(session, session_killer_word(killer), 0);
    }
    return kill;
}

static void send_one(struct session *session, int signo, reap_fn *fn, void *arg)
{
    if (session_pid(session) <= 0)
        session_set_pending_signal(session, signo);
    atomic_store(&session->journal->header->kill_signal, signo);
    groups_signal(session, signo);
    struct reap_result result = kill_result_of(session);
    kill_tell(session->registry, fn, arg, &result);
}

static void ladder(struct session *session, enum session_killer killer, bool hard, reap_fn *fn,
                   void *arg)
{
    bool fresh = !kill_of(session);
    struct kill *kill = fresh ? kill_begin(session, killer) : kill_of(session);
    bool harder = hard && !kill->hard;
    kill->hard |= hard;
    kill_add_asker(kill, fn, arg);
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
    kill_add_asker(kill, fn, arg);
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

const struct reap_result *reap_stopped(const struct registry *registry)
{
    return &reap_of(registry)->stopped;
}

/* The worker has died in the middle of a kill: it goes on, or those that it had stopped would stay
 * so for ever. */
static void reap_adopt(struct session *session)
{
    const struct journal_header *header = session->journal->header;
    uint32_t killer = atomic_load(&header->killed_by);
    struct proc_stat stat;
    if (killer == KILLER_NONE)
        return;
    if (!session->finished)
        ladder(session, (enum session_killer)killer, false, NULL, NULL);
    else if (proc_stat(session_pid(session), &stat) && stat.state == 'Z' &&
             stat.start_ticks == header->pid_start_ticks) /* which the hunt would have reaped */
        ladder(session, (enum session_killer)killer, true, NULL, NULL);
}

static void end_left(void *arg, uint64_t number, const pid_t *pids, size_t count)
{
    log_info("ends what session %llu of an earlier daemon has left: %zu processes, among them %d",
             (unsigned long long)number, count, (int)pids[0]);
    reap_kill_left(arg, number, NULL, NULL);
}

static void reap_boot(struct registry *registry)
{
    if (registry->cfg->muxd.leftovers == CONFIG_LEFTOVERS_END)
        registry_each_left(registry, end_left, registry);
}

static bool end_children(void *arg, struct session *session)
{
    (void)arg;
    if (session->finished && session_children_left(session) != 0)
        ladder(session, KILLER_STOP, false, NULL, NULL);
    return true;
}

static void reap_stopping(struct registry *registry)
{
    if (registry->cfg->muxd.leftovers == CONFIG_LEFTOVERS_END) {
        registry_each_left(registry, end_left, registry);
        registry_each(registry, false, end_children, NULL);
    }
    reap_sweep(registry);
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
    .boot = reap_boot,
    .stopping = reap_stopping,
    .began = reap_on_began,
    .adopt = reap_adopt,
    .ended = on_leader_ended,
    .holds_leader = holds_leader,
    .free = reap_free,
    .end = reap_end,
};
