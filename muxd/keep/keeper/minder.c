/* minder.c: owns the process that minds a new keeper: a copy of the old one with all that it
 * holds, made just before that becomes another program. It goes when the new keeper is about to
 * hand over to a worker that can start a keeper in need. If the new keeper ends or hangs before,
 * the minder is the keeper again, with the programs from before. The sessions are not its children
 * then, so it watches them as a keeper does that was made in place of a dead one. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "keep/keeper/kept.h"
#include <errno.h>
#include <poll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define BEGIN_MS 10000 /* for a new keeper to begin */
#define MIND_MS 40000  /* for its worker to take over; longer than it takes to go back by itself */
#define PAUSE_MS 10    /* between tries to send a word */
#define TRIES 200
#define BEGUN (-1)     /* words beside numbers of workers */
#define WELL 0

struct minded {
    int words;             /* from the new keeper and from its workers before they are executed */
    int keeper, worker;    /* pidfds; worker -1: none yet */
    int64_t until_ms;
};

/* The kernel may lack room for a moment, and a lost word would end a new keeper that is well. */
static void mind_send(int fd, int32_t word)
{
    for (int tries = 0; fd >= 0 && tries < TRIES; tries++) {
        if (send(fd, &word, sizeof word, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ||
            (errno != EAGAIN && !fd_is_short(errno)))
            return;
        poll(NULL, 0, PAUSE_MS);
    }
}

void minder_begun(const struct keeper *keeper) { mind_send(keeper->mind, BEGUN); }
void minder_worker(const struct keeper *keeper) { mind_send(keeper->mind, getpid()); }
void minder_well(int mind) { mind_send(mind, WELL); }

void minder_dismiss(struct keeper *keeper)
{
    minder_well(keeper->mind);
    fd_close(&keeper->mind);
}

/* Takes all words that are there. False: there will be no more. */
static bool take_words(struct minded *minded)
{
    int32_t word;
    ssize_t n;
    while ((n = recv(minded->words, &word, sizeof word, MSG_DONTWAIT)) == sizeof word) {
        if (word == WELL)
            _exit(0);
        if (word == BEGUN)
            minded->until_ms = clock_mono_ms() + MIND_MS;
        if (word > 0) {
            fd_close(&minded->worker);
            minded->worker = pidfd_open(word, 0);
        }
    }
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Returns when the new keeper has ended, hangs, or has become something else. */
static void wait_for_trouble(struct minded *minded)
{
    struct pollfd ends[2] = {{.fd = minded->words, .events = POLLIN},
                             {.fd = minded->keeper, .events = POLLIN}};
    for (;;) {
        int64_t left_ms = minded->until_ms - clock_mono_ms();
        bool ended = poll(ends, 2, left_ms > 0 ? (int)left_ms : 0) > 0 && ends[1].revents;
        bool more = take_words(minded); /* also its last ones */
        if (ended || !more || clock_mono_ms() >= minded->until_ms)
            return;
    }
}

static void mind_kill(int pidfd)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    if (pidfd < 0)
        return;
    pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
    while (poll(&ended, 1, -1) < 0 && errno == EINTR)
        ;
}

static void __attribute__((__noreturn__)) be_minder(struct keeper *keeper, struct minded *minded)
{
    minded->until_ms = clock_mono_ms() + BEGIN_MS;
    wait_for_trouble(minded);
    mind_kill(minded->keeper);
    mind_kill(minded->worker);
    fd_close(&minded->keeper);
    fd_close(&minded->worker);
    fd_close(&minded->words);
    trials_forget(keeper);
    keeper->failed_error = ECHILD;
    keeper->failed_tried = KEEP_UPGRADE_STATE;
    if (!keeper_again(keeper))
        _exit(1);
    keeper->sentinel = 0; /* no child of ours */
    SLOTS_EACH(&keeper->slots, slot) {
        slot->foreign = slot->pid != 0;
        programs_watch(keeper, slot);
    }
    supervise_start(keeper);
    _exit(keeper_loop(keeper));
}

bool minder_start(struct keeper *keeper)
{
    int pair[2];
    BUG_UNLESS(keeper->worker == 0 && keeper->mind < 0);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    struct minded minded = {.words = pair[0], .worker = -1, .keeper = pidfd_open(getpid(), 0)};
    pid_t pid = minded.keeper < 0 ? -1 : fork();
    if (pid == 0) {
        close(pair[1]);
        be_minder(keeper, &minded);
    }
    int error = errno;
    close(pair[0]);
    fd_close(&minded.keeper);
    if (pid > 0)
        keeper->mind = pair[1];
    else
        close(pair[1]);
    errno = error;
    return pid > 0;
}
