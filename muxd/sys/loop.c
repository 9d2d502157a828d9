/* loop: owns the epoll set, the heap of timers, and two descriptors of its own in the set: one
 * for signals, one by which threads wake it. A freed io goes to the dead list and its memory
 * stays until the turn ends, so that handlers may free themselves and each other. */
#include "sys/loop.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/mem.h"
#include "sys/offload.h"
#include "sys/timers.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { EVENTS_A_TURN = 256, SIGNALS_A_TURN = 8, TIMER_SLACK_NS = 1000 };

struct loop_io {
    struct loop *loop;
    struct loop_io *next_dead;
    loop_io_fn *fn;
    void *arg;
    int fd;
    unsigned events;
    bool in_set, dead;
};

struct hook {
    loop_fn *fn;
    void *arg;
};

struct loop {
    int epoll, signal_fd, wake_fd;
    bool ms_only; /* no epoll_pwait2 here: timers are late by up to a millisecond */
    bool stopped, in_turn, once_more;
    struct loop_io *signal_io, *wake_io, *dead;
    struct offload *offload;
    size_t ios; /* alive, the loop's own two not counted */
    int64_t now_ns;
    struct timers timers;
    struct hook *turn_end;
    size_t turn_ends;
    sigset_t signals;
    struct hook on_signal[NSIG];
};

/* --- descriptors --- */

static uint32_t epoll_mask(unsigned events)
{
    return (events & LOOP_READ ? EPOLLIN : 0) | (events & LOOP_WRITE ? EPOLLOUT : 0) |
           (events & LOOP_EDGE ? (uint32_t)EPOLLET : 0);
}

int loop_io_set(struct loop_io *io, unsigned events)
{
    BUG_UNLESS(!io->dead && !(events & ~(unsigned)(LOOP_READ | LOOP_WRITE | LOOP_EDGE)));
    struct epoll_event event = {.events = epoll_mask(events), .data.ptr = io};
    bool wanted = (events & (LOOP_READ | LOOP_WRITE)) != 0;
    int operation = !wanted ? EPOLL_CTL_DEL : io->in_set ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    /* an edge has to be armed again, even for the same events */
    if (io->in_set && io->events == events && !(events & LOOP_EDGE))
        return 0;
    if ((wanted || io->in_set) && epoll_ctl(io->loop->epoll, operation, io->fd, &event) < 0)
        return -1;
    io->in_set = wanted;
    io->events = wanted ? events : 0;
    return 0;
}

struct loop_io *loop_io_new(struct loop *loop, int fd, unsigned events, loop_io_fn *fn, void *arg)
{
    BUG_UNLESS(fn);
    struct loop_io *io = xcalloc(1, sizeof *io);
    io->loop = loop;
    io->fd = fd;
    io->fn = fn;
    io->arg = arg;
    if (loop_io_set(io, events) < 0) {
        int saved = errno;
        free(io);
        errno = saved;
        return NULL;
    }
    loop->ios++;
    return io;
}

void loop_io_free(struct loop_io *io)
{
    if (!io)
        return;
    /* A descriptor closed too early may live on as a duplicate and would go on reporting to freed
     * memory. */
    if (loop_io_set(io, 0) < 0)
        BUG("descriptor %d was closed before its loop_io: %s", io->fd, strerror(errno));
    BUG_UNLESS(io->loop->ios > 0 || io == io->loop->signal_io || io == io->loop->wake_io);
    io->dead = true;
    io->next_dead = io->loop->dead;
    io->loop->dead = io;
    io->loop->ios--;
}

static void bury_dead(struct loop *loop)
{
    while (loop->dead) {
        struct loop_io *io = loop->dead;
        loop->dead = io->next_dead;
        free(io);
    }
}

static void dispatch_io(const struct epoll_event *event)
{
    struct loop_io *io = event->data.ptr;
    unsigned events = (event->events & EPOLLIN ? LOOP_READ : 0) |
                      (event->events & EPOLLOUT ? LOOP_WRITE : 0);

    if (io->dead || !io->in_set)
        return;
    /* An earlier handler of this turn may have changed what this io waits for. */
    events &= io->events;
    if (event->events & (EPOLLHUP | EPOLLERR))
        events |= LOOP_HANGUP;
    if (events)
        io->fn(io->arg, events);
}

/* --- signals and threads --- */

static void on_signals(void *arg, unsigned events)
{
    struct loop *loop = arg;
    struct signalfd_siginfo infos[SIGNALS_A_TURN];
    ssize_t got = read(loop->signal_fd, infos, sizeof infos);
    (void)events;
    for (ssize_t i = 0; i < got / (ssize_t)sizeof *infos; i++) {
        BUG_UNLESS(infos[i].ssi_signo < NSIG && loop->on_signal[infos[i].ssi_signo].fn);
        const struct hook *hook = &loop->on_signal[infos[i].ssi_signo];
        hook->fn(hook->arg);
    }
}

int loop_signal(struct loop *loop, int signo, loop_fn *fn, void *arg)
{
    BUG_UNLESS(fn && signo > 0 && signo < NSIG && signo != SIGKILL && signo != SIGSTOP);
    loop->on_signal[signo] = (struct hook){fn, arg};
    sigaddset(&loop->signals, signo);
    /* blocked only when the descriptor receives it */
    if (signalfd(loop->signal_fd, &loop->signals, 0) < 0 ||
        pthread_sigmask(SIG_BLOCK, &loop->signals, NULL) != 0)
        return ERR_SYSTEM;
    return 0;
}

/* Runs in a thread. A write can fail only when the counter is full, and then the loop wakes
 * anyway. */
static void wake_from_thread(void *arg)
{
    eventfd_write(((struct loop *)arg)->wake_fd, 1);
}

static void on_wake(void *arg, unsigned events)
{
    struct loop *loop = arg;
    eventfd_t count;
    (void)events;
    eventfd_read(loop->wake_fd, &count);
    offload_finish(loop->offload, false);
}

int loop_offload(struct loop *loop, loop_fn *work, loop_fn *done, void *arg)
{
    BUG_UNLESS(work && done);
    int error = offload_put(loop->offload, work, done, arg);
    if (error) {
        limit_met(LIMIT_THREAD, error);
        return -error;
    }
    limit_passed(LIMIT_THREAD);
    return 0;
}

void loop_wait_offloaded(struct loop *loop)
{
    while (offload_count(loop->offload) > 0)
        offload_finish(loop->offload, true);
}

/* --- turns --- */

struct timers *loop_timers(struct loop *loop)
{
    return &loop->timers;
}

/* How long the wait may last; INT64_MAX: for ever. */
static int64_t wait_ns(struct loop *loop, int timeout_ms)
{
    int64_t wait = timeout_ms < 0 ? INT64_MAX : (int64_t)timeout_ms * 1000000;
    if (loop->once_more)
        return 0;
    if (loop->timers.count > 0) {
        int64_t left = loop->timers.heap[0]->due_ns - clock_mono_ns();
        if (left < wait)
            wait = left < 0 ? 0 : left;
    }
    return wait;
}

static int wait_events(struct loop *loop, struct epoll_event *events, int64_t ns)
{
    if (!loop->ms_only) {
        struct timespec wait = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
        int count = epoll_pwait2(loop->epoll, events, EVENTS_A_TURN, ns == INT64_MAX ? NULL : &wait,
                                 NULL);
        if (count >= 0 || errno == EINTR)
            return count;
        if (errno != ENOSYS && errno != EPERM)
            BUG("epoll_pwait2: %s", strerror(errno));
        /* before Linux 5.11, under valgrind, or behind an old seccomp filter */
        loop->ms_only = true;
    }
    int64_t ms = ns == INT64_MAX ? -1 : (ns + 999999) / 1000000;
    int count = epoll_wait(loop->epoll, events, EVENTS_A_TURN,
                           ms > 1000000000 ? 1000000000 : (int)ms);
    if (count < 0 && errno != EINTR)
        BUG("epoll_wait: %s", strerror(errno));
    return count;
}

bool loop_turn(struct loop *loop, int timeout_ms)
{
    struct epoll_event events[EVENTS_A_TURN];
    BUG_UNLESS(!loop->in_turn);

    int count = wait_events(loop, events, wait_ns(loop, timeout_ms));
    loop->in_turn = true;
    loop_update(loop);
    bool any = loop->once_more;
    loop->once_more = false;
    for (int i = 0; i < count; i++)
        dispatch_io(&events[i]);
    loop_update(loop);
    any = timers_run(&loop->timers, loop) || any || count > 0;
    for (size_t i = 0; any && i < loop->turn_ends; i++)
        if (loop->turn_end[i].fn)
            loop->turn_end[i].fn(loop->turn_end[i].arg);
    bury_dead(loop);
    loop->in_turn = false;
    return any;
}

void loop_run(struct loop *loop)
{
    for (loop->stopped = false; !loop->stopped;)
        loop_turn(loop, -1);
}

void loop_stop(struct loop *loop)
{
    loop->stopped = true;
}

void loop_once_more(struct loop *loop)
{
    loop->once_more = true;
}

int64_t loop_now_ns(const struct loop *loop)
{
    return loop->in_turn ? loop->now_ns : clock_mono_ns();
}

void loop_update(struct loop *loop)
{
    loop->now_ns = clock_mono_ns();
}

void loop_at_turn_end(struct loop *loop, loop_fn *fn, void *arg)
{
    BUG_UNLESS(fn);
    loop->turn_end = xreallocarray(loop->turn_end, loop->turn_ends + 1, sizeof *loop->turn_end);
    loop->turn_end[loop->turn_ends++] = (struct hook){fn, arg};
}

void loop_drop_turn_end(struct loop *loop, void *arg)
{
    /* the slot stays: the end of a turn may be under way */
    for (size_t i = 0; i < loop->turn_ends; i++)
        if (loop->turn_end[i].arg == arg)
            loop->turn_end[i] = (struct hook){NULL, NULL};
}

/* --- birth and death --- */

/* Frees everything, also of a loop that is made in part. */
static void loop_drop(struct loop *loop)
{
    loop_io_free(loop->signal_io);
    loop_io_free(loop->wake_io);
    bury_dead(loop);
    offload_free(loop->offload);
    fd_close(&loop->signal_fd);
    fd_close(&loop->wake_fd);
    fd_close(&loop->epoll);
    free(loop->turn_end);
    free(loop->timers.heap);
    free(loop);
}

static bool watch_own(struct loop *loop, struct err *err)
{
    loop->signal_io = loop_io_new(loop, loop->signal_fd, LOOP_READ, on_signals, loop);
    if (loop->signal_io)
        loop->wake_io = loop_io_new(loop, loop->wake_fd, LOOP_READ, on_wake, loop);
    loop->ios = 0;
    if (!loop->wake_io)
        limit_err(err, ERR_SYSTEM, LIMIT_CONNECTION, errno, "event loop: epoll_ctl");
    return loop->wake_io != NULL;
}

struct loop *loop_new(struct err *err)
{
    struct loop *loop = xcalloc(1, sizeof *loop);
    sigemptyset(&loop->signals);
    loop->offload = offload_new(wake_from_thread, loop);
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->signal_fd = signalfd(-1, &loop->signals, SFD_CLOEXEC | SFD_NONBLOCK);
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->epoll < 0 || loop->signal_fd < 0 || loop->wake_fd < 0)
        limit_err(err, ERR_SYSTEM, LIMIT_SESSION, errno, "event loop: no descriptors for it");
    else if (watch_own(loop, err)) {
        loop_update(loop);
        /* Looks at a terminal are 30 us apart; the usual slack of 50 us would triple that
         * (PR_SET_TIMERSLACK in prctl(2)). */
        prctl(PR_SET_TIMERSLACK, (unsigned long)TIMER_SLACK_NS, 0L, 0L, 0L);
        return loop;
    }
    loop_drop(loop);
    return NULL;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    BUG_UNLESS(!loop->in_turn);
    if (loop->ios != 0 || loop->timers.count != 0)
        BUG("the loop is freed with %zu descriptors and %zu timers in it", loop->ios,
            loop->timers.count);
    loop_wait_offloaded(loop);
    loop_drop(loop);
}
