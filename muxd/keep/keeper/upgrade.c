/* upgrade.c: owns the change to other programs, and the way back. An upgrade replaces two programs,
 * the keeper's and the worker's, together or not at all. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "keep/keeper/kept.h"
#include "keep/own_args.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROVE_MS 20000
#define RESUME_PAUSE_MS 10
#define RESUME_TRIES 500

/* The numbers behind "--resume". Releases before the trial had an answer of its own give and take
 * the first four only, and so does every way back. */
enum {
    RESUME_STATE,
    RESUME_BACK,  /* the keeper's program to go back to; -1: this is the way back */
    RESUME_ERROR, /* why it went back; else 0 */
    RESUME_TRIED,
    RESUME_WORKER, /* the worker's program that was tried; -1: by its path */
    RESUME_MIND,   /* to the minder; -1: none */
    RESUME_PID,    /* of the process that is the parent of the programs */
    RESUME_NUMBERS
};
#define RESUME_OLD_NUMBERS RESUME_WORKER

/* Becomes the keeper's program exe, which holds all that we do. number: of "--resume", but for the
 * state; worker_exe: for a keeper that goes back. Returns only on failure, an errno, with
 * everything as before. */
static int upgrade_execute(struct keeper *keeper, int exe, int worker_exe,
                           int number[RESUME_NUMBERS])
{
    char option[] = "--resume", value[96], *args[OWN_ARGS_MAX];
    BUG_UNLESS(keeper->worker == 0);
    int state = state_save(keeper, worker_exe);
    if (state < 0)
        return errno;
    const int taken[] = {state, worker_exe, number[RESUME_BACK], number[RESUME_WORKER],
                         number[RESUME_MIND]};
    state_set_cloexec(keeper, false);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        fd_set_cloexec(taken[i], false);
    int size = snprintf(value, sizeof value, "%d:%d:%d:%d", state, number[RESUME_BACK],
                        number[RESUME_ERROR], number[RESUME_TRIED]);
    if (number[RESUME_BACK] >= 0)
        snprintf(value + size, sizeof value - (size_t)size, ":%d:%d:%d", number[RESUME_WORKER],
                 number[RESUME_MIND], (int)getpid());
    own_args(args, keeper->options.keeper_argv, option, value);
    keeper_execute(exe, args);
    int failure = errno;
    close(state);
    state_set_cloexec(keeper, true);
    for (size_t i = 1; i < sizeof taken / sizeof *taken; i++)
        fd_set_cloexec(taken[i], true);
    return failure;
}

static void go(struct keeper *keeper)
{
    keeper->upgrade_now = false;
    /* what it knows stands in the journals, and supervise_kill takes its last messages */
    supervise_kill(keeper);
    if (keeper->stopped)
        keeper_end(keeper, 0);
    /* a stop was quicker: the next worker goes on with it */
    keeper->failed_error = keeper->stopping ? ECANCELED : minder_start(keeper) ? 0 : errno;
    if (keeper->failed_error == 0)
        keeper->failed_error = upgrade_execute(
            keeper, keeper->new_exe, keeper->worker_exe,
            (int[]){[RESUME_BACK] = keeper->exe,
                    [RESUME_WORKER] = keeper->new_worker_exe,
                    [RESUME_MIND] = keeper->mind,
                    [RESUME_PID] = 0});
    keeper->failed_tried = KEEP_UPGRADE_EXEC;
    minder_dismiss(keeper);
    trials_forget(keeper);
    if (!keeper->ending)
        supervise_start(keeper);
}

void upgrade_fall_back(struct keeper *keeper, int error, int tried)
{
    keeper->prove_until_ms = 0;
    supervise_kill(keeper);
    minder_dismiss(keeper);
    keeper->failed_error =
        upgrade_execute(keeper, keeper->old_exe, keeper->old_worker_exe,
                        (int[]){[RESUME_BACK] = -1,
                                [RESUME_ERROR] = error,
                                [RESUME_TRIED] = tried,
                                [RESUME_WORKER] = -1,
                                [RESUME_MIND] = -1,
                                [RESUME_PID] = 0});
    keeper->failed_tried = KEEP_UPGRADE_EXEC;
    upgrade_proven(keeper); /* nothing is left that could be */
}

void upgrade_proven(struct keeper *keeper)
{
    keeper->prove_until_ms = 0;
    fd_close(&keeper->old_exe);
    fd_close(&keeper->old_worker_exe);
}

/* It has all sessions and listens, and no client waits in vain: nobody has asked it yet. */
static bool is_idle(const struct keeper *keeper)
{
    struct pollfd clients = {.fd = keeper->listener, .events = POLLIN};
    return keeper->talk == TALK_DONE && keeper->up && poll(&clients, 1, 0) == 0;
}

void upgrade_timers(struct keeper *keeper, int64_t now_ms)
{
    trials_timers(keeper, now_ms);
    if (keeper->prove_until_ms != 0 && now_ms >= keeper->prove_until_ms) {
        if (is_idle(keeper))
            upgrade_proven(keeper);
        else {
            upgrade_fall_back(keeper, ETIMEDOUT, KEEP_UPGRADE_WORKER);
            supervise_start(keeper);
        }
    }
    if (keeper->upgrade_now && !keeper->ending)
        go(keeper);
}

/* We can't read the state, but the old keeper can, and it starts the old worker. */
static void go_back(const struct keeper_options *options, const int number[RESUME_NUMBERS])
{
    char option[] = "--resume", value[64], *args[OWN_ARGS_MAX];
    if (number[RESUME_BACK] < 0)
        return;
    minder_well(number[RESUME_MIND]);
    snprintf(value, sizeof value, "%d:-1:%d:%d", number[RESUME_STATE], EPROTO, KEEP_UPGRADE_STATE);
    own_args(args, options->keeper_argv, option, value);
    execveat(number[RESUME_BACK], "", args, environ, AT_EMPTY_PATH);
}

/* All sessions depend on it, so it waits while the kernel is short of something. */
static struct keeper *try_hard(const struct keeper_options *options)
{
    struct keeper *keeper = keeper_new(options);
    const struct timespec pause = {.tv_nsec = RESUME_PAUSE_MS * 1000000L};
    for (int i = 0; !keeper && i < RESUME_TRIES; i++) {
        nanosleep(&pause, NULL);
        keeper = keeper_new(options);
    }
    return keeper;
}

/* On the way forward the worker's program is the one that was tried, and the old one is kept until
 * that has proved itself; on the way back it is the old one. */
static void choose_worker(struct keeper *keeper, int back, int worker_exe)
{
    keeper->old_exe = back;
    if (back < 0) {
        keeper->worker_exe = keeper->old_worker_exe;
        keeper->old_worker_exe = -1;
    } else {
        /* -1: the worker is executed by its path; if that fails we go back */
        keeper->worker_exe = worker_exe >= 0
                                 ? worker_exe
                                 : open(keeper->options.worker_path, O_PATH | O_CLOEXEC);
        fd_set_cloexec(back, true);
        keeper->prove_until_ms = clock_mono_ms() + PROVE_MS;
    }
    fd_set_cloexec(keeper->worker_exe, true);
    fd_set_cloexec(keeper->old_worker_exe, true);
}

/* False: these are no numbers for us, or for another process, which a launcher has left waiting. */
static bool read_numbers(const char *state, int number[RESUME_NUMBERS])
{
    if (own_numbers(state, number, RESUME_NUMBERS))
        return number[RESUME_PID] == getpid();
    number[RESUME_WORKER] = number[RESUME_MIND] = -1;
    return own_numbers(state, number, RESUME_OLD_NUMBERS);
}

int keeper_resume(const struct keeper_options *options, const char *state)
{
    int number[RESUME_NUMBERS];
    if (!read_numbers(state, number)) {
        keeper_say("'%s' is no state for this keeper; this option is for upgrades only", state);
        return 1;
    }
    if (!state_load(number[RESUME_STATE], NULL))
        go_back(options, number);
    struct keeper *keeper = try_hard(options);
    if (!keeper)
        go_back(options, number);
    if (!keeper || !state_load(number[RESUME_STATE], keeper)) {
        keeper_say("can't take over after the upgrade: %s", strerror(errno));
        return 1;
    }
    state_set_cloexec(keeper, true);
    close(number[RESUME_STATE]);
    choose_worker(keeper, number[RESUME_BACK], number[RESUME_WORKER]);
    keeper->failed_error = number[RESUME_ERROR];
    keeper->failed_tried = number[RESUME_TRIED];
    keeper->mind = number[RESUME_MIND];
    fd_set_cloexec(keeper->mind, true);
    minder_begun(keeper);
    keeper->old_sentinel = true;
    programs_look_at_all(keeper);
    supervise_start(keeper);
    return keeper_loop(keeper);
}
