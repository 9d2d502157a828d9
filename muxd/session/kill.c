/* kill.c: owns the end of a session on purpose: HUP, TERM, KILL to the foreground and the leader's group, then the hunt for every
 * descendant until nothing is left. It goes by looks at all processes, which many kills share (looks.c); the first one comes before the
 * first signal, while deaths have not yet taken away who descends from whom. While a hunt goes on the leader is not reaped, so that its
 * number, which names the session and the group, can't belong to anybody else. */
#include "base/log.h"
#include "base/mem.h"
#include "session/internal.h"
#include "session/kin.h"
#include "session/looks.h"
#include "sys/cgroup.h"
#include "sys/proc.h"
#include "sys/pty.h"
#include <signal.h>
#include <stdlib.h>

enum stage { KILL_WAITS_FOR_PID, KILL_FIRST_LOOK, KILL_HUP, KILL_TERM, KILL_KILL, KILL_HUNT_TERM, KILL_HUNT_KILL };

#define HUNT_FIRST_MS 1
#define HUNT_LAST_MS 50
#define LOOKS 6
#define HOPS_MAX 50 /* others may fork as fast */
#define HUNT_MAX_MS 5000 /* who survives SIGKILL for this long sleeps in the kernel: it is counted and left */

struct asker {
    struct list link;
    kill_fn *fn;
    void *arg;
};

struct kill {
    struct list link; /* of the registry */
    struct session *session;
    enum stage stage;
    struct list askers;
    struct loop_timer timer;
    struct look_ask ask;
    struct cgroup *cgroup; /* where the hunted are put, so that what they fork dies with them; NULL: none */
    int64_t hunt_until_ms; /* of the stage; CLOCK_MONOTONIC by the loop */
    int64_t pause_ms;
    int survivors;
    int looks; /* at /proc that must find nothing, one after the other: who forks fast may hop over a look */
    uint64_t deaths;       /* of adopted processes at the last look: one that died since may have been such a hop */
    int hops;
    bool hard; /* no graces */
    bool asked_to_end; /* the hunted have had their SIGTERM */
};

static int64_t now_ms(const struct kill *kill)
{
    return loop_now_ns(kill->session->registry->loop) / NS_PER_MS;
}

static int64_t grace_ms(const struct kill *kill)
{
    return kill->session->registry->cfg->muxd.kill_grace_ms;
}

/* The leader, its group, and who is in the foreground of its terminal. False: no descriptor was left to do that with. */
static bool signal_groups(struct session *session, int signo)
{
    pid_t leader = session_pid(session);
    if (leader <= 1 || session->exited)
        return true;
    if (session_pidfd(session) < 0)
        return false;
    if (session_is_tty(session) && session->out.fd >= 0) {
        pid_t foreground = pty_foreground(session->out.fd);
        if (foreground > 1 && foreground != leader)
            kin_signal_group(session, foreground, signo);
    }
    if (proc_signal_group(session->pidfd, leader, signo) != 0)
        proc_signal(session->pidfd, signo); /* it may have gone to another group */
    return true;
}

static void tell_askers(struct kill *kill, const struct kill_result *result)
{
    while (!list_is_empty(&kill->askers)) {
        struct asker *asker = LIST_OWNER(kill->askers.next, struct asker, link);
        struct note *note = registry_note(kill->session->registry, NOTE_KILLED, result->number);
        note->killed.fn = asker->fn;
        note->killed.arg = asker->arg;
        note->killed.result = *result;
        list_remove(&asker->link);
        free(asker);
    }
}

static struct kill_result result_of(const struct session *session, int survivors)
{
    struct kill_result result = {.number = session_number(session), .exit_code = -1, .survivors = survivors};
    if (session_has_exit(session, &result.exit_code, &result.signo) && session_state(session) == SESSION_KILLED)
        result.ended_by = result.signo;
    return result;
}

static void drop(struct kill *kill)
{
    struct session *session = kill->session;
    struct kill_result result = result_of(session, kill->survivors);
    tell_askers(kill, &result);
    loop_timer_stop(&kill->timer);
    looks_drop(&kill->ask);
    list_remove(&kill->link);
    looks_done(session->registry);
    if (kill->cgroup)
        cgroup_remove(kill->cgroup);
    cgroup_free(kill->cgroup);
    session->kill = NULL;
    free(kill);
    registry_kick(session->registry);
}

static void finish(struct kill *kill)
{
    struct session *session = kill->session;
    if (kill->survivors > 0)
        log_warn("%d processes of session %llu survived SIGKILL", kill->survivors, (unsigned long long)session_number(session));
    drop(kill);
    session_acknowledge(session);
    session_dirty(session);
}

/* Everything found goes into a group of the kernel first, where there is one: what it forks from now on dies with it. */
static void strike(struct kill *kill, const struct family *family)
{
    if (!kill->cgroup)
        kill->cgroup = cgroup_new(kill->session->registry->word, session_number(kill->session));
    for (size_t i = 0; kill->cgroup && i < family->count; i++)
        kin_into_cgroup(kill->cgroup, &family->members[i]);
    if (kill->cgroup)
        cgroup_kill(kill->cgroup);
    family_signal(family, SIGKILL);
}

static void ask_to_end(struct kill *kill, const struct family *family)
{
    kill->asked_to_end = true;
    family_signal(family, SIGTERM);
    family_signal(family, SIGCONT);
}

/* Where the kernel doesn't tell who was started meanwhile, several looks have to find nothing. */
static bool is_over(struct kill *kill, const struct look *look)
{
    uint64_t deaths = kill->session->registry->orphan_deaths;
    bool hopped = !look->sure && (look->spawning || kill->deaths != deaths) && kill->hops < HOPS_MAX;
    kill->deaths = deaths;
    kill->hops += hopped;
    if (look->family.count > 0 || hopped)
        kill->looks = LOOKS;
    else
        kill->looks = look->sure ? 0 : kill->looks - (kill->looks > 0);
    return look->family.count == 0 && kill->looks == 0 && !look->blind;
}

static void hunt(struct kill *kill, const struct look *look)
{
    const struct family *family = &look->family;
    kill->survivors = (int)family->count;
    bool over_time = now_ms(kill) >= kill->hunt_until_ms;
    if ((family->count > 0 || look->blind) && kill->stage == KILL_HUNT_TERM && over_time) {
        kill->stage = KILL_HUNT_KILL;
        kill->hunt_until_ms = now_ms(kill) + HUNT_MAX_MS;
        kill->pause_ms = HUNT_FIRST_MS;
        over_time = false;
    }
    if (kill->stage == KILL_HUNT_TERM && !kill->asked_to_end)
        ask_to_end(kill, family);
    if (family->count > 0 && kill->stage == KILL_HUNT_KILL)
        strike(kill, family);
    bool over = is_over(kill, look);
    if (over)
        kin_left_nobody(kill->session);
    if (over || over_time) {
        if (!over && look->blind)
            log_warn("whether processes of session %llu survived can't be seen: no descriptors are left; raise the limit on open files",
                     (unsigned long long)session_number(kill->session));
        finish(kill);
        return;
    }
    if (kill->survivors == 0)
        kill->pause_ms = HUNT_FIRST_MS; /* only to be sure */
    loop_timer_set_ms(&kill->timer, kill->pause_ms);
    kill->pause_ms = kill->pause_ms * 2 > HUNT_LAST_MS ? HUNT_LAST_MS : kill->pause_ms * 2;
}

static void begin_hunt(struct kill *kill)
{
    bool hard = kill->hard || kill->stage == KILL_KILL;
    kill->stage = hard ? KILL_HUNT_KILL : KILL_HUNT_TERM;
    kill->hunt_until_ms = now_ms(kill) + (hard ? HUNT_MAX_MS : grace_ms(kill));
    kill->pause_ms = HUNT_FIRST_MS;
    looks_ask(kill->session->registry, &kill->ask);
}

static void step(struct kill *kill)
{
    static const int signals[] = {[KILL_HUP] = SIGHUP, [KILL_TERM] = SIGTERM, [KILL_KILL] = SIGKILL};
    struct session *session = kill->session;
    int signo = signals[kill->stage];
    atomic_store(&session->journal->header->kill_signal, signo);
    bool sent = signal_groups(session, signo);
    if (signo != SIGKILL) { /* a stopped program acts on it only when it goes on */
        signal_groups(session, SIGCONT);
        loop_timer_set_ms(&kill->timer, grace_ms(kill));
    } else if (!sent) {
        loop_timer_set_ms(&kill->timer, HUNT_LAST_MS); /* again */
    }
}

static void on_timer(void *arg)
{
    struct kill *kill = arg;
    if (kill->stage >= KILL_HUNT_TERM) {
        looks_ask(kill->session->registry, &kill->ask);
    } else if (!kill->session->exited) {
        kill->stage += kill->stage < KILL_KILL;
        step(kill);
    }
}

static void begin_ladder(struct kill *kill)
{
    kill->stage = kill->hard ? KILL_KILL : KILL_HUP;
    step(kill);
}

static void on_look(void *arg, const struct look *look)
{
    struct kill *kill = arg;
    const struct session *session = kill->session;
    if (kill->stage >= KILL_HUNT_TERM) {
        hunt(kill, look);
        return;
    }
    for (size_t i = 0; i < look->family.count; i++)
        if (look->family.members[i].pid != session_pid(session))
            kill->looks = LOOKS;
    if (kill->stage == KILL_FIRST_LOOK && session->exited)
        kill->stage = KILL_WAITS_FOR_PID; /* for the drain: leader_ended */
    else if (kill->stage == KILL_FIRST_LOOK)
        begin_ladder(kill);
}

/* Drained: the hunt for what it left begins. */
static void leader_ended(struct session *session)
{
    if (session->kill && session->kill->stage < KILL_HUNT_TERM)
        begin_hunt(session->kill);
}

/* The number guards the hunt. */
static bool wants_leader(const struct session *session)
{
    return session->kill != NULL;
}

/* There is a process now: what was asked for before is done. */
static void started(struct session *session)
{
    if (session->kill && session->kill->stage == KILL_WAITS_FOR_PID)
        begin_ladder(session->kill);
    if (session->pending_signal)
        signal_groups(session, session->pending_signal);
    session->pending_signal = 0;
}

/* The session goes or was never there: who waits for its death is told. */
static void session_goes(struct session *session)
{
    if (session->kill)
        drop(session->kill);
}

static struct kill *begin(struct session *session, enum session_killer killer)
{
    struct registry *registry = session->registry;
    struct kill *kill = xcalloc(1, sizeof *kill);
    kill->session = session;
    session->kill = kill;
    list_init(&kill->askers);
    list_append(&registry->kills, &kill->link);
    loop_timer_init(&kill->timer, registry->loop, on_timer, kill);
    if (!session->exited) {
        atomic_store(&session->journal->header->killed_by, (uint32_t)killer);
        part_killed(session, session_killer_word(killer), 0);
    }
    kill->ask = (struct look_ask){.number = session_number(session), .fn = on_look, .arg = kill};
    list_init(&kill->ask.link);
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
    note->killed.result = result_of(session, 0);
}

static void ladder(struct session *session, enum session_killer killer, bool hard, kill_fn *fn, void *arg)
{
    bool fresh = !session->kill;
    struct kill *kill = fresh ? begin(session, killer) : session->kill;
    bool harder = hard && !kill->hard;
    kill->hard |= hard;
    add_asker(kill, fn, arg);
    if (kill->stage >= KILL_HUNT_TERM || kill->stage == KILL_FIRST_LOOK || (!fresh && !harder))
        return; /* it ends as it is */
    if (session->finished) { /* what it left behind */
        begin_hunt(kill);
    } else if (session->exited || session_pid(session) <= 0) {
        kill->stage = KILL_WAITS_FOR_PID; /* or for the drain: leader_ended */
    } else if (fresh) {
        kill->stage = KILL_FIRST_LOOK;
        looks_ask(session->registry, &kill->ask);
    } else {
        begin_ladder(kill);
    }
}

void registry_kill(struct registry *registry, struct session *session, int signo, enum session_killer killer, kill_fn *fn, void *arg)
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

void registry_kill_hard(struct registry *registry, struct session *session, enum session_killer killer, kill_fn *fn, void *arg)
{
    (void)registry;
    ladder(session, killer, true, fn, arg);
}

static bool kills_are_over(const struct registry *registry)
{
    return list_is_empty(&registry->kills);
}

const struct part reap_part = {
    .fini = looks_fini,
    .is_idle = kills_are_over,
    .turn_end = looks_turn_end,
    .began = started,
    .ended = leader_ended,
    .holds_leader = wants_leader,
    .free = session_goes,
};
