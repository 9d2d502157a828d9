/* programs.c: owns session programs from their fork to their reaping. The keeper waits
 * for its children here, except for the worker (supervise.c). It looks at an exit with WNOWAIT and
 * reaps only when the worker has it in the journal: until then the zombie keeps its pid, so that no
 * signal can hit another process by mistake. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "keep/keeper/exit_info.h"
#include "keep/keeper/kept.h"
#include "keep/keeper/lean_fork.h"
#include "keep/plan.h"
#include "keep/sentinel.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_AT_ALL_MS 50

static void restore_limit(__rlimit_resource_t resource, int64_t soft)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0)
        return;
    rlim_t wanted = soft < 0 ? RLIM_INFINITY : (rlim_t)soft;
    wanted = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    if (limit.rlim_cur == wanted)
        return;
    limit.rlim_cur = wanted;
    setrlimit(resource, &limit);
}

/* By hand: each child would have to copy the pages that stdio needs for it. */
static void restore_oom_score(int64_t was)
{
    char text[24], *at = text + sizeof text;
    uint64_t rest = was < 0 ? -(uint64_t)was : (uint64_t)was;
    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (was < 0)
        *--at = '-';
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, at, (size_t)(text + sizeof text - at)) < 0)
        return; /* exec closes it */
    close(fd);
}

/* In the child. Undoes what we changed for ourselves; it does no harm if that fails. */
static void __attribute__((__noreturn__))
become_program(const struct as_was *was, int64_t oom_score_adj, const int fds[], int status_fd)
{
    prctl(PR_SET_DUMPABLE, 1); /* /proc/self belongs to root without it */
    if (was->oom_score_adj != oom_score_adj)
        restore_oom_score(was->oom_score_adj);
    restore_limit(RLIMIT_CORE, was->core_soft);
    restore_limit(RLIMIT_NOFILE, was->nofile_soft);
    keeper_unblock_signals();
    plan_execute(fds[0], fds + 1, status_fd);
}

static void programs_refuse(struct keeper *keeper, uint64_t session, int step, int error)
{
    talk_odd(keeper,
             (struct keep_msg){.type = KEEP_FAILED, .session = session, .arg = {step, error}});
}

static void failed(struct keeper *keeper, struct slot *slot, int step, int error)
{
    slot->state = SLOT_FAILED;
    slot->how[0] = step;
    slot->how[1] = error;
    slots_owe(&keeper->slots, slot, SLOT_OWES_FAILED);
}

void programs_watch(struct keeper *keeper, struct slot *slot)
{
    int place = slots_place(&keeper->slots, slot);
    if (slot->status_fd >= 0)
        keeper_watch(keeper, slot->status_fd, WATCH_STATUS, place, false);
    if (slot->pidfd >= 0 && slot->state != SLOT_EXITED)
        keeper_watch(keeper, slot->pidfd, WATCH_PIDFD, place, false);
}

/* fds: plan, stdio, status. In the child they may have other numbers. */
static pid_t fork_program(struct slot *slot, int fds[LEAN_FORK_FDS], int other_end)
{
    pid_t pid = lean_fork(fds, &slot->lean_fork);
    if (pid >= 0)
        return pid;
    pid = fork();
    if (pid == 0)
        close(other_end); /* so that the child sees the keeper's death at its end */
    return pid;
}

static int programs_start(struct keeper *keeper, struct slot *slot, const int fds[4])
{
    int status[2];
    BUG_UNLESS(slot->pid == 0 && slot->status_fd < 0);
    if (pipe2(status, O_CLOEXEC) != 0)
        return errno;
    int given[LEAN_FORK_FDS] = {fds[0], fds[1], fds[2], fds[3], status[1]};
    pid_t pid = fork_program(slot, given, status[0]);
    if (pid == 0)
        become_program(&keeper->was, keeper->oom_score_adj, given, given[4]);
    int error = errno;
    close(status[1]);
    if (pid < 0) {
        close(status[0]);
        return error;
    }
    fd_set_nonblock(status[0], true);
    slot->state = SLOT_STARTING;
    slot->owes = 0;
    slot->status_fd = status[0];
    slot->pidfd = pidfd_open(pid, 0); /* the right process: only we reap it */
    slots_set_pid(&keeper->slots, slot, pid);
    programs_watch(keeper, slot);
    return 0;
}

void programs_spawn(struct keeper *keeper, uint64_t session, int fds[], size_t nfds)
{
    struct slot *slot = slots_take(&keeper->slots, session);
    if (keeper->sentinel_fd < 0) /* it could not be forked until now */
        sentinel_restart(keeper);
    if (!slot)
        programs_refuse(keeper, session, PLAN_FORK, ENFILE);
    else if (slot->pid != 0 || slot->dropped)
        programs_refuse(keeper, session, PLAN_FORK, EBUSY);
    else if (nfds != 4)
        failed(keeper, slot, PLAN_READ,
               nfds == 0 ? EMFILE : EPROTO); /* none: there was no room for them here */
    else {
        int error = programs_start(keeper, slot, fds);
        if (error != 0)
            failed(keeper, slot, PLAN_FORK, error);
    }
    for (size_t i = 0; i < nfds; i++)
        fd_close(&fds[i]);
}

void programs_adopt(struct keeper *keeper, uint64_t session, pid_t pid, int pidfd)
{
    struct slot *slot = slots_take(&keeper->slots, session);
    if (!slot || slot->pid != 0 || pid <= 0) {
        fd_close(&pidfd);
        return;
    }
    slot->foreign = true;
    slot->state = SLOT_RUNNING;
    slot->pidfd = pidfd;
    slots_set_pid(&keeper->slots, slot, pid);
    programs_watch(keeper, slot);
    sentinel_add(keeper->sentinel_fd, pid, pidfd);
}

/* The slot has no process any more. */
static void programs_forget(struct keeper *keeper, struct slot *slot)
{
    if (slot->pid != 0)
        sentinel_remove(keeper->sentinel_fd, slot->pid);
    if (slot->pidfd >= 0)
        keeper_unwatch(keeper, slot->pidfd);
    fd_close(&slot->pidfd);
    slots_set_pid(&keeper->slots, slot, 0);
    slot->foreign = false;
}

static void programs_reap(struct keeper *keeper, struct slot *slot)
{
    siginfo_t info;
    BUG_UNLESS(slot->used && slot->pid > 0);
    if (!slot->foreign)
        while (waitid(P_PID, (id_t)slot->pid, &info, WEXITED) != 0 && errno == EINTR)
            ;
    programs_forget(keeper, slot);
    slot->state = SLOT_IDLE;
    slot->owes = 0;
    if (slot->dropped)
        slots_release(&keeper->slots, slot);
}

void programs_status(struct keeper *keeper, struct slot *slot)
{
    int words[2];
    ssize_t n;
    do
        n = read(slot->status_fd, words, sizeof words);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return;
    keeper_unwatch(keeper, slot->status_fd);
    fd_close(&slot->status_fd);
    lean_fork_over(&slot->lean_fork);
    if (n == (ssize_t)sizeof words) {
        kill(slot->pid, SIGKILL); /* it is about to _exit: this makes the wait short */
        bool dropped = slot->dropped;
        programs_reap(keeper, slot);
        if (!dropped)
            failed(keeper, slot, words[0], words[1]);
        return;
    }
    slot->state = SLOT_RUNNING;
    sentinel_add(keeper->sentinel_fd, slot->pid, slot->pidfd); /* it bears its mark by now */
    slots_owe(&keeper->slots, slot, SLOT_OWES_SPAWNED);
}

/* False while it lives. We can't wait for a foreign one: its pidfd tells that it has ended and, on
 * newer kernels, how. */
static bool how_it_ended(const struct slot *slot, int how[2])
{
    how[0] = how[1] = 0;
    if (slot->foreign) {
        struct pollfd ended = {.fd = slot->pidfd, .events = POLLIN};
        if (slot->pidfd >= 0 && poll(&ended, 1, 0) == 0)
            return false;
        exit_info(slot->pid, slot->pidfd, how);
        return true;
    }
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)slot->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return errno == ECHILD; /* reaped elsewhere: how it ended is lost */
    how[0] = info.si_code;
    how[1] = info.si_status;
    return info.si_pid != 0;
}

void programs_look(struct keeper *keeper, struct slot *slot)
{
    int how[2];
    if (slot->pid == 0 || slot->state == SLOT_EXITED || !how_it_ended(slot, how))
        return;
    if (slot->state == SLOT_STARTING) {
        lean_fork_over(&slot->lean_fork);
        programs_status(keeper, slot); /* it is dead, so the pipe is complete */
        if (slot->state != SLOT_RUNNING)
            return;
    }
    if (slot->pidfd >= 0)
        keeper_unwatch(keeper, slot->pidfd);
    slot->state = SLOT_EXITED;
    slot->how[0] = how[0];
    slot->how[1] = how[1];
    if (slot->dropped || keeper->ending)
        programs_reap(keeper, slot);
    else
        slots_owe(&keeper->slots, slot, SLOT_OWES_EXITED);
}

/* A zombie that leads no session: an orphan that fell to us as the sub-reaper. */
static void reap_orphan(struct keeper *keeper, pid_t pid)
{
    siginfo_t info;
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG) != 0)
        return;
    if (pid == keeper->trial)
        trials_over(keeper, info.si_code == CLD_EXITED && info.si_status == 0);
    else if (pid == keeper->sentinel)
        sentinel_restart(keeper);
}

void programs_look_at(struct keeper *keeper, pid_t pid)
{
    siginfo_t info = {.si_pid = 0};
    if (pid <= 0 || pid == keeper->worker ||
        waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid)
        return;
    struct slot *slot = slots_by_pid(&keeper->slots, pid);
    if (slot && !slot->foreign)
        programs_look(keeper, slot);
    else
        reap_orphan(keeper, pid);
}

/* The kernel shows the oldest zombie first; one that waits for its acknowledgement hides younger
 * ones until then. Leaders don't depend on this: they have pidfds; nor do those that we ask for. */
void programs_look_at_all(struct keeper *keeper)
{
    keeper->all_at_ms = 0;
    keeper->hidden = false;
    for (;;) {
        siginfo_t info = {.si_pid = 0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
            break;
        struct slot *slot = slots_by_pid(&keeper->slots, info.si_pid);
        keeper->hidden = slot && slot->state == SLOT_EXITED;
        if (info.si_pid == keeper->worker)
            programs_look_later(keeper);
        if (keeper->hidden || info.si_pid == keeper->worker)
            break;
        programs_look_at(keeper, info.si_pid);
    }
    programs_look_at(keeper, keeper->trial);
    programs_look_at(keeper, keeper->sentinel);
    if (!keeper->slots.unwatched)
        return;
    keeper->slots.unwatched = false;
    SLOTS_EACH(&keeper->slots, slot)
        if (slot->pid != 0 && slot->pidfd < 0) {
            keeper->slots.unwatched = true;
            programs_look(keeper, slot);
        }
}

/* The kernel goes through all children for this, so a burst of deaths shares one look. It finds
 * those whose SIGCHLD was merged with another's; the others were looked at by the pid in theirs. */
void programs_look_later(struct keeper *keeper)
{
    if (keeper->all_at_ms == 0)
        keeper->all_at_ms = clock_mono_ms() + LOOK_AT_ALL_MS;
}

void programs_ack(struct keeper *keeper, uint64_t session, pid_t pid)
{
    struct slot *slot = slots_find(&keeper->slots, session);
    if (slot && slot->state == SLOT_FAILED && !slot->queued)
        slot->state = SLOT_IDLE;
    if (!slot || slot->state != SLOT_EXITED || slot->pid != pid)
        return;
    programs_reap(keeper, slot);
    if (keeper->hidden)
        programs_look_at_all(keeper);
}

void programs_drop(struct keeper *keeper, uint64_t session, int64_t mask)
{
    struct slot *slot = slots_find(&keeper->slots, session);
    if (!slot)
        return;
    for (int tag = 0; tag < KEEP_FD_COUNT; tag++)
        if (mask & 1 << tag)
            fd_close(&slot->fds[tag]);
    if (mask != 0)
        return;
    slot->dropped = true;
    slot_close_fds(slot);
    if (slot->state == SLOT_EXITED)
        programs_reap(keeper, slot);
    else if (slot->pid == 0)
        slots_release(&keeper->slots, slot);
}

int programs_signal(struct keeper *keeper, int signo)
{
    int left = 0;
    SLOTS_EACH(&keeper->slots, slot) {
        if (slot->pid == 0 || slot->state == SLOT_EXITED)
            continue;
        left++;
        if (signo == 0)
            continue;
        if (slot->foreign) /* its number may belong to another process by now */
            pidfd_send_signal(slot->pidfd, signo, NULL, 0);
        else if (kill(-slot->pid, signo) != 0)
            kill(slot->pid, signo); /* before its setsid */
    }
    return left;
}
