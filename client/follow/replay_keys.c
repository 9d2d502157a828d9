/* replay_keys: owns the settings of the person's terminal while a recording plays. */
#include "base/bug.h"
#include "base/clock.h"
#include "client/follow/replay.h"
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static struct {
    struct termios before;
    volatile sig_atomic_t open, ended, stop;
    sigset_t wait_mask;
} keys;

static void replay_keys_on_end(int signo)
{
    if (signo == SIGTSTP)
        keys.stop = 1;
    else
        keys.ended = 1;
}

static void replay_keys_give_back(void)
{
    if (keys.open)
        tcsetattr(STDIN_FILENO, TCSANOW, &keys.before);
    keys.open = 0;
}

/* Single keys without echo; ^C still sends SIGINT. */
static void replay_keys_take(void)
{
    struct termios raw;
    if (tcgetattr(STDIN_FILENO, &keys.before) < 0)
        return;
    raw = keys.before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    keys.open = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

/* ^Z: restores the shell's settings, and takes the keys again when ue is continued. */
static void suspend(void)
{
    bool taken = keys.open;
    keys.stop = 0;
    replay_keys_give_back();
    raise(SIGSTOP);
    if (taken)
        replay_keys_take();
}

void replay_keys_open(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
    struct sigaction end = {.sa_handler = replay_keys_on_end}, old;
    sigset_t block;
    BUG_UNLESS(!keys.open);
    sigemptyset(&block);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaddset(&block, ends[i]);
    sigprocmask(SIG_BLOCK, &block, &keys.wait_mask);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ends[i], &end, NULL);
        sigdelset(&keys.wait_mask, ends[i]);
    }
    if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 &&
        tcgetpgrp(STDIN_FILENO) == getpgrp()) {
        atexit(replay_keys_give_back);
        replay_keys_take();
    }
}

void replay_keys_close(void)
{
    replay_keys_give_back();
}

int replay_keys_wait(int64_t due_ms)
{
    for (;;) {
        unsigned char key;
        int64_t left_ms = due_ms == INT64_MAX ? 0 : due_ms - clock_mono_ms();
        struct timespec left = {.tv_sec = left_ms > 0 ? left_ms / 1000 : 0,
                                .tv_nsec = left_ms > 0 ? left_ms % 1000 * 1000000 : 0};
        struct pollfd in = {.fd = keys.open ? STDIN_FILENO : -1, .events = POLLIN};
        int ready = ppoll(&in, 1, due_ms == INT64_MAX ? NULL : &left, &keys.wait_mask);
        if (keys.stop)
            suspend();
        if (keys.ended)
            return -1;
        if (ready == 0)
            return 0;
        if (ready < 0)
            continue;
        ssize_t n = read(STDIN_FILENO, &key, 1);
        if (n == 1 && key)
            return key;
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            replay_keys_give_back(); /* the terminal is gone; the recording plays on */
    }
}
