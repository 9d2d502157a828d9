/* keeper.c: owns the keeper's process: its own hardening, its loop, its signals and its end. */
#include "keep/keeper/keeper.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "keep/keeper/kept.h"
#include "keep/keeper/lean_fork.h"
#include "keep/sentinel.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS_A_TURN 64
#define END_GRACE_MS 2000  /* between SIGHUP and SIGKILL to the programs */
#define END_KILLED_MS 1000 /* and from there until we go without having seen them dead */
#define STOP_MS 30000      /* for a worker to end all sessions after SIGTERM */
#define BLIND_MS 20        /* until a watch for which the kernel had no room is tried again */
#define OOM_SCORE_ADJ -900
#define LIBC_FIRST 32 /* real-time signals below SIGRTMIN, see nptl(7) */
#define LIBC_LAST 33
#define KERNEL_SIGSET_BYTES 8

/* zeroed memory: pages of unused slots cost nothing */
static struct keeper the_keeper;

void keeper_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char line[768];
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    dprintf(STDERR_FILENO, "muxd: keeper: %s\n", line);
}

void keeper_unblock_signals(void)
{
    const unsigned long none[2] = {0};
    /* not by libc, of which the child would need another page */
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, none, NULL, KERNEL_SIGSET_BYTES);
}

void keeper_watch(struct keeper *keeper, int fd, enum keeper_watch what, int place, bool write_too)
{
    struct epoll_event event = {.events = EPOLLIN | (write_too ? EPOLLOUT : 0),
                                .data.u64 = (uint64_t)what << 32 | (uint32_t)place};
    BUG_UNLESS(fd >= 0);
    int result = epoll_ctl(keeper->epoll, EPOLL_CTL_ADD, fd, &event);
    if (result != 0 && errno == EEXIST)
        result = epoll_ctl(keeper->epoll, EPOLL_CTL_MOD, fd, &event);
    if (result != 0)
        keeper->blind_at_ms = clock_mono_ms() + BLIND_MS;
}

void keeper_unwatch(struct keeper *keeper, int fd)
{
    epoll_ctl(keeper->epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* We may have inherited ignored signals and masks (nohup); children get the defaults. */
static int take_signals(void)
{
    static const int ours[] = {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR2};
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    struct sigaction current, standard = {.sa_handler = SIG_DFL};
    for (int signo = 1; signo < NSIG; signo++)
        if (sigaction(signo, NULL, &current) == 0 && current.sa_handler == SIG_IGN)
            sigaction(signo, &standard, NULL);
    /* libc does not let us reset the signals that it uses itself; the kernel does. All zero is
     * SIG_DFL. */
    const unsigned long none[8] = {0};
    for (int signo = LIBC_FIRST; signo <= LIBC_LAST; signo++)
        syscall(SYS_rt_sigaction, signo, none, NULL, KERNEL_SIGSET_BYTES);
    sigset_t blocked, wanted;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&blocked, faults[i]);
    sigemptyset(&wanted);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        sigaddset(&wanted, ours[i]);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int64_t soft_limit(__rlimit_resource_t resource)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return -1;
    return (int64_t)limit.rlim_cur;
}

static int64_t oom_score_adj(void)
{
    char text[16] = "";
    int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
    int64_t value = fd >= 0 && read(fd, text, sizeof text - 1) > 0 ? strtol(text, NULL, 10) : 0;
    fd_close(&fd);
    return value;
}

/* None of these steps has to succeed: an ordinary user, for one, may not lower the oom score. */
static void harden(struct keeper *keeper)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0)
        dprintf(fd, "%d", OOM_SCORE_ADJ);
    fd_close(&fd);
    keeper->oom_score_adj = oom_score_adj();
    fd_raise_nofile();
    struct rlimit core;
    if (getrlimit(RLIMIT_CORE, &core) == 0) {
        core.rlim_cur = 0;
        setrlimit(RLIMIT_CORE, &core);
    }
    prctl(PR_SET_DUMPABLE, 0); /* last: /proc/self belongs to root afterwards */
}

struct keeper *keeper_new(const struct keeper_options *options)
{
    struct keeper *keeper = &the_keeper;
    BUG_UNLESS(options->worker_path && options->worker_argv && options->keeper_argv);
    int filled; /* 0 to 2 must be open, or a session's descriptor would become stdio */
    while ((filled = open("/dev/null", O_RDWR)) >= 0 && filled <= STDERR_FILENO)
        ;
    fd_close(&filled);
    lean_fork_init();
    keeper->options = *options;
    keeper->link = keeper->listener = keeper->worker_pidfd = keeper->sentinel_fd =
        keeper->exit_status = keeper->worker_before = -1;
    keeper->old_exe = keeper->old_worker_exe = -1;
    keeper->new_exe = keeper->new_worker_exe = keeper->answer = keeper->mind = -1;
    keeper->worker_exe = options->worker_exe > STDERR_FILENO ? options->worker_exe : -1;
    keeper->was = (struct as_was){soft_limit(RLIMIT_NOFILE), soft_limit(RLIMIT_CORE),
                                  oom_score_adj()};
    keeper->exe = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    keeper->epoll = epoll_create1(EPOLL_CLOEXEC);
    keeper->signals = take_signals();
    if (keeper->exe < 0 || keeper->epoll < 0 || keeper->signals < 0 ||
        prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        fd_close(&keeper->exe);
        fd_close(&keeper->epoll);
        fd_close(&keeper->signals);
        return NULL;
    }
    fd_set_cloexec(keeper->worker_exe, true); /* the kernel refuses -1, as it should */
    harden(keeper);
    keeper_watch(keeper, keeper->signals, WATCH_SIGNALS, 0, false);
    return keeper;
}

bool keeper_again(struct keeper *keeper)
{
    fd_close(&keeper->epoll);
    fd_close(&keeper->signals);
    keeper->epoll = epoll_create1(EPOLL_CLOEXEC);
    keeper->signals = take_signals();
    if (keeper->epoll < 0 || keeper->signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return false;
    keeper_watch(keeper, keeper->signals, WATCH_SIGNALS, 0, false);
    return true;
}

void keeper_end(struct keeper *keeper, int status)
{
    if (keeper->ending)
        return;
    keeper->ending = 1;
    minder_dismiss(keeper);
    keeper->restart_at_ms = 0;
    SLOTS_EACH(&keeper->slots, slot)
        slot_close_fds(slot); /* terminals hang up */
    keeper->end_at_ms = clock_mono_ms() + END_GRACE_MS;
    keeper->exit_status = status;
    programs_signal(keeper, SIGHUP);
    programs_signal(keeper, SIGCONT);
}

/* True when there is nothing more to wait for. */
static bool keeper_ended(struct keeper *keeper, int64_t now_ms)
{
    if (!keeper->ending)
        return false;
    if (programs_signal(keeper, 0) == 0)
        return true;
    if (now_ms < keeper->end_at_ms)
        return false;
    keeper->end_at_ms = now_ms + END_KILLED_MS;
    programs_signal(keeper, SIGKILL);
    return ++keeper->ending > 2;
}

static void on_signal(struct keeper *keeper, int signo)
{
    if (signo == SIGUSR2)
        trials_begin(keeper);
    else if (signo == SIGHUP)
        supervise_signal(keeper, SIGHUP);
    else if (signo != SIGCHLD) {
        keeper->stopping = true;
        keeper->stop_told = keeper->generation;
        if (keeper->leave_until_ms == 0)
            keeper->leave_until_ms = clock_mono_ms() + STOP_MS;
        if (keeper->worker == 0)
            keeper_end(keeper, 0);
        else
            supervise_signal(keeper, SIGTERM);
    }
}

static void take_pending(struct keeper *keeper)
{
    struct signalfd_siginfo info[16];
    ssize_t n;
    bool children = false;
    while ((n = read(keeper->signals, info, sizeof info)) > 0)
        for (size_t i = 0; i < (size_t)n / sizeof *info; i++) {
            children |= info[i].ssi_signo == SIGCHLD;
            if (info[i].ssi_signo == SIGCHLD)
                programs_look_at(keeper, (pid_t)info[i].ssi_pid);
            else
                on_signal(keeper, (int)info[i].ssi_signo);
        }
    if (!children)
        return;
    supervise_look(keeper);
    programs_look_later(keeper); /* the kernel may have merged several deaths into one signal */
}

static void keeper_on_slot(struct keeper *keeper, uint64_t tag)
{
    struct slot *slot = &keeper->slots.all[(uint32_t)tag];
    if (!slot->used) /* released since epoll_wait */
        return;
    if (tag >> 32 == WATCH_STATUS && slot->status_fd >= 0)
        programs_status(keeper, slot);
    else if (tag >> 32 == WATCH_PIDFD)
        programs_look(keeper, slot);
}

static int wait_ms(const struct keeper *keeper, int64_t now_ms)
{
    const int64_t times[] = {keeper->restart_at_ms,  keeper->retry_at_ms,    keeper->end_at_ms,
                             keeper->trial_until_ms, keeper->prove_until_ms, keeper->leave_until_ms,
                             keeper->blind_at_ms,    keeper->all_at_ms};
    int64_t least = INT32_MAX;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (times[i] != 0 && times[i] - now_ms < least)
            least = times[i] > now_ms ? times[i] - now_ms : 0;
    return least == INT32_MAX ? -1 : (int)least;
}

/* The kernel had no room for a watch: makes all watches again and looks for what they would have
 * told. */
static void look_around_blindly(struct keeper *keeper)
{
    keeper->blind_at_ms = 0;
    keeper_watch(keeper, keeper->signals, WATCH_SIGNALS, 0, false);
    if (keeper->link >= 0)
        keeper_watch(keeper, keeper->link, WATCH_LINK, 0, keeper->want_write);
    if (keeper->worker_pidfd >= 0)
        keeper_watch(keeper, keeper->worker_pidfd, WATCH_WORKER, 0, false);
    SLOTS_EACH(&keeper->slots, slot) {
        programs_watch(keeper, slot);
        if (slot->status_fd >= 0)
            programs_status(keeper, slot);
        if (slot->used)
            programs_look(keeper, slot);
    }
    take_pending(keeper);
}

/* The link comes first: what a worker said before something ended must be known when we look at
 * that end. */
static void turn(struct keeper *keeper, const struct epoll_event *events, int n)
{
    bool signals = false;
    talk_take(keeper);
    for (int i = 0; i < n; i++) {
        uint64_t tag = events[i].data.u64;
        if (tag >> 32 == WATCH_SIGNALS)
            signals = true;
        else if (tag >> 32 == WATCH_STATUS || tag >> 32 == WATCH_PIDFD)
            keeper_on_slot(keeper, tag);
    }
    if (signals)
        take_pending(keeper);
    if (keeper->blind_at_ms != 0 && clock_mono_ms() >= keeper->blind_at_ms)
        look_around_blindly(keeper);
    supervise_look(keeper);
    int64_t now_ms = clock_mono_ms();
    if (keeper->all_at_ms != 0 && now_ms >= keeper->all_at_ms)
        programs_look_at_all(keeper);
    supervise_timers(keeper, now_ms);
    upgrade_timers(keeper, now_ms);
    talk_pump(keeper);
}

int keeper_loop(struct keeper *keeper)
{
    struct epoll_event events[EVENTS_A_TURN];
    BUG_UNLESS(keeper->epoll >= 0 && keeper->signals >= 0);
    while (!keeper_ended(keeper, clock_mono_ms())) {
        int n = epoll_wait(keeper->epoll, events, EVENTS_A_TURN, wait_ms(keeper, clock_mono_ms()));
        turn(keeper, events, n > 0 ? n : 0);
    }
    supervise_kill(keeper);
    sentinel_dismiss(keeper->sentinel_fd);
    prctl(PR_SET_DUMPABLE, 1); /* for a leak checker */
    return keeper->exit_status;
}
