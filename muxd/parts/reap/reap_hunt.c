/* reap_hunt.c: owns the hunt for all processes that bear the session's mark, until none is left or
 * nothing more can be done. They are stopped before they are killed, so that none forks away. */
#include "base/bug.h"
#include "base/log.h"
#include "parts/reap/reap_kill.h"
#include "session/internal.h"
#include "sys/cgroup.h"
#include "sys/proc.h"
#include <errno.h>
#include <signal.h>

void hunt_count_survivors(const struct kill *kill, struct reap_result *result)
{
    for (size_t i = 0; i < kill->hunted.count; i++) {
        const struct bearer *one = &kill->hunted.all[i];
        if (!mark_lives(descendants_mark(kill->registry), one))
            continue;
        struct reap_survivor shown = {.pid = one->pid};
        proc_command(one->pid, shown.command, sizeof shown.command);
        if (kill->number == MARK_NONE)
            log_warn("process %d (%s) could not be ended", (int)shown.pid, shown.command);
        else
            log_warn("process %d (%s) of session %llu could not be ended", (int)shown.pid,
                     shown.command, (unsigned long long)kill->number);
        if (result->survivors < REAP_SHOWN)
            result->shown[result->survivors] = shown;
        result->survivors++;
    }
}

/* All are stopped. What they forked before that has been found, or dies with the cgroup, where
 * there is one. */
static bool hunt_strike(struct kill *kill)
{
    const struct mark *mark = descendants_mark(kill->registry);
    size_t denied = 0;
    if (!kill->cgroup)
        kill->cgroup = cgroup_new(kill->registry->word, kill->number);
    for (size_t i = 0; kill->cgroup && i < kill->hunted.count; i++)
        if (mark_lives(mark, &kill->hunted.all[i]))
            cgroup_put(kill->cgroup, kill->hunted.all[i].pid);
    if (kill->cgroup)
        cgroup_kill(kill->cgroup);
    /* Children before their parents: a stopped group whose last parent dies is woken by the kernel
     * (setpgid(2)). */
    for (size_t i = kill->hunted.count; i-- > 0;)
        denied += mark_signal(mark, &kill->hunted.all[i], SIGKILL) == -EPERM;
    return denied == kill->hunted.count;
}

static void hunt_ask_to_end(struct kill *kill)
{
    /* a stopped program acts on SIGTERM only when it goes on */
    static const int signals[] = {SIGTERM, SIGCONT};
    for (size_t i = 0; i < kill->hunted.count; i++)
        for (int k = 0; k < 2; k++)
            mark_signal(descendants_mark(kill->registry), &kill->hunted.all[i], signals[k]);
}

static void hunt_look_around(struct kill *kill)
{
    kill->ask.stop = kill->stage == KILL_HUNT_KILL;
    descendants_ask(kill->registry, &kill->ask);
}

static void hunt_enter(struct kill *kill, enum kill_stage stage)
{
    kill->stage = stage;
    kill->denied = false;
    kill->until_ms = 0;
    kill->pause_ms = KILL_PAUSE_FIRST_MS;
    hunt_look_around(kill);
}

void hunt_begin(struct kill *kill)
{
    BUG_UNLESS(kill->stage < KILL_HUNT_TERM);
    hunt_enter(kill, kill->hard || kill->stage == KILL_KILL ? KILL_HUNT_KILL : KILL_HUNT_TERM);
}

static void hunt_take_found(struct kill *kill, const struct bearer *all, size_t count)
{
    const struct mark *mark = descendants_mark(kill->registry);
    bearers_set(&kill->hunted, all, count);
    if (kill->session)
        descendants_orphans(kill->session, &kill->hunted, &kill->strays);
    else if (kill->number == MARK_NONE)
        descendants_all_orphans(kill->registry, &kill->strays);
    for (size_t i = 0; i < kill->strays.count; i++)
        if (mark_lives(mark, &kill->strays.all[i]))
            bearers_add(&kill->hunted, &kill->strays.all[i]);
    if (kill->strays.count > 0)
        mark_descend(mark, kill->number, &kill->hunted);
    for (size_t i = 0; i < kill->hunted.count; i++)
        if (kill->hunted.all[i].start_ticks)
            bearers_add(&kill->strays, &kill->hunted.all[i]);
}

/* Whoever was found was stopped by that pass, so nobody is left here without SIGKILL. */
void hunt_on_found(void *arg, const struct bearer *all, size_t count)
{
    struct kill *kill = arg;
    hunt_take_found(kill, all, count);
    if (kill->hunted.count == 0) {
        kill_finish(kill);
        return;
    }
    if (kill->stage == KILL_HUNT_TERM) {
        hunt_ask_to_end(kill);
        kill_set_until(kill, kill_grace_ms(kill));
    } else {
        bool denied = hunt_strike(kill);
        kill_set_until(kill, KILL_MAX_MS);
        if (denied)
            kill_deny(kill);
    }
    kill_wait(kill, kill->last ? KILL_PAUSE_LAST_MS : kill->pause_ms);
}

/* While one of those that are known lives, it is not over, and no pass is needed to see that. */
void hunt_on_timer(struct kill *kill)
{
    size_t at = 0;
    bool late = kill_is_late(kill);
    while (at < kill->hunted.count &&
           !mark_lives(descendants_mark(kill->registry), &kill->hunted.all[at]))
        at++;
    if (kill->last) {
        kill_finish(kill);
    } else if (late && kill->stage == KILL_HUNT_TERM) {
        hunt_enter(kill, KILL_HUNT_KILL);
    } else if (late || at == kill->hunted.count) {
        kill->last = late;
        hunt_look_around(kill);
    } else {
        kill->pause_ms = kill->pause_ms * 2 > KILL_PAUSE_LAST_MS ? KILL_PAUSE_LAST_MS
                                                                 : kill->pause_ms * 2;
        kill_wait(kill, kill->pause_ms);
    }
}
