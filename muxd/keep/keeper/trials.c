/* trials.c: owns the question that stands before an upgrade (keep/trial.h), asked and answered. The
 * programs are opened once: what was tried is what is executed, whatever the paths lead to by
 * then. */
#include "base/beside.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "keep/keeper/kept.h"
#include "keep/own_args.h"
#include "keep/trial.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define TRIAL_MS 10000

/* 0, or why an upgrade is not even tried: an errno. What the keeper lacks would be lost with the
 * worker, which an upgrade replaces. */
static int why_not(const struct keeper *keeper)
{
    if (keeper->trial != 0 || keeper->upgrade_now || keeper->prove_until_ms != 0 ||
        keeper->mind >= 0)
        return EBUSY;
    if (keeper->stopping || keeper->ending)
        return ECANCELED;
    return keeper->lacks ? EMFILE : 0;
}

void trials_forget(struct keeper *keeper)
{
    fd_close(&keeper->new_exe);
    fd_close(&keeper->new_worker_exe);
    fd_close(&keeper->answer);
}

/* In the child, which becomes the new keeper's program, and then the new worker's, so that both
 * have run before we give up anything. */
static void __attribute__((__noreturn__))
try_new(struct keeper *keeper, int state, int answer)
{
    char option[] = "--trial", value[64], *args[OWN_ARGS_MAX];
    const int taken[] = {keeper->new_exe, keeper->new_worker_exe, state, answer};
    setpgid(0, 0); /* what a launcher leaves behind ends with it */
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        fd_set_cloexec(taken[i], false);
    SLOTS_EACH(&keeper->slots, slot)
        fd_set_cloexec(slot->fds[KEEP_FD_JOURNAL], false); /* the worker's program looks at them */
    keeper_unblock_signals();
    snprintf(value, sizeof value, "%d:%d:%d:%d", state, keeper->new_worker_exe, answer,
             keeper->nonce);
    own_args(args, keeper->options.keeper_argv, option, value);
    execveat(keeper->new_exe, "", args, environ, AT_EMPTY_PATH);
    trial_answer(answer, TRIAL_KEEPER, keeper->nonce, errno);
    _exit(127);
}

static int trials_open(struct keeper *keeper, int ends[2])
{
    char path[PATH_MAX];
    if (!beside_find(keeper->options.worker_path, keep_program_places, path))
        return ENOENT;
    keeper->new_exe = open(path, O_PATH | O_CLOEXEC);
    if (keeper->new_exe >= 0)
        keeper->new_worker_exe = open(keeper->options.worker_path, O_PATH | O_CLOEXEC);
    if (keeper->new_exe < 0 || keeper->new_worker_exe < 0 || pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    keeper->answer = ends[0];
    fd_set_nonblock(ends[0], true);
    if (getrandom(&keeper->nonce, sizeof keeper->nonce, 0) != sizeof keeper->nonce)
        return errno;
    keeper->nonce &= INT_MAX;
    return 0;
}

void trials_begin(struct keeper *keeper)
{
    int ends[2] = {-1, -1}, state = -1, error = why_not(keeper);
    if (error != 0) { /* one that is under way keeps its descriptors */
        talk_upgrade_failed(keeper, error, KEEP_UPGRADE_TRIAL);
        return;
    }
    error = trials_open(keeper, ends);
    if (error == 0 && (state = state_save(keeper, -1)) < 0)
        error = errno;
    pid_t pid = error == 0 ? fork() : -1;
    if (pid == 0)
        try_new(keeper, state, ends[1]);
    if (pid > 0) {
        keeper->trial = pid;
        keeper->trial_until_ms = clock_mono_ms() + TRIAL_MS;
    } else {
        talk_upgrade_failed(keeper, error != 0 ? error : errno, KEEP_UPGRADE_TRIAL);
        trials_forget(keeper);
    }
    fd_close(&ends[1]);
    fd_close(&state);
}

/* 0, or why this is not the answer that we wait for. */
static int trials_judge(const struct keeper *keeper, pid_t trial, enum trial_who who)
{
    struct trial_answer answer;
    if (read(keeper->answer, &answer, sizeof answer) != sizeof answer ||
        memcmp(answer.magic, TRIAL_MAGIC, sizeof answer.magic) != 0)
        return ENODATA;
    if (answer.version != TRIAL_VERSION)
        return EPROTO;
    /* another process than ours: as the keeper it would be nobody's parent */
    if (answer.who != who || answer.nonce != keeper->nonce || answer.pid != trial)
        return EBADMSG;
    return (int)answer.error;
}

void trials_over(struct keeper *keeper, bool good)
{
    BUG_UNLESS(keeper->trial != 0);
    bool late = keeper->trial_until_ms == 0; /* trials_timers has killed it */
    int tried = KEEP_UPGRADE_KEEPER, error = trials_judge(keeper, keeper->trial, TRIAL_KEEPER);
    if (error == 0) {
        tried = KEEP_UPGRADE_MUXD;
        error = trials_judge(keeper, keeper->trial, TRIAL_WORKER);
    }
    if (late)
        error = ETIMEDOUT;
    else if (error == 0)
        error = !good ? ECHILD : keeper->stopping ? ECANCELED : 0;
    kill(-keeper->trial, SIGKILL);
    keeper->trial = 0;
    keeper->trial_until_ms = 0;
    keeper->upgrade_now = error == 0;
    fd_close(&keeper->answer);
    if (error != 0) {
        talk_upgrade_failed(keeper, error, tried);
        trials_forget(keeper);
    }
}

void trials_timers(struct keeper *keeper, int64_t now_ms)
{
    if (keeper->trial == 0 || keeper->trial_until_ms == 0 || now_ms < keeper->trial_until_ms)
        return;
    keeper->trial_until_ms = 0;
    kill(keeper->trial, SIGKILL);
    kill(-keeper->trial, SIGKILL);
}

int keeper_check(int state_fd)
{
    return state_load(state_fd, NULL) ? 0 : 1;
}

enum { TRIAL_STATE, TRIAL_WORKER_EXE, TRIAL_ANSWER, TRIAL_NONCE, TRIAL_NUMBERS };

int keeper_trial(const struct keeper_options *options, const char *value)
{
    int number[TRIAL_NUMBERS];
    if (!own_numbers(value, number, TRIAL_NUMBERS))
        return 1;
    int answer = number[TRIAL_ANSWER], nonce = number[TRIAL_NONCE], exe = number[TRIAL_WORKER_EXE];
    int error = state_load(number[TRIAL_STATE], NULL) ? trial_why_cut() : errno;
    int journals = error == 0 ? state_journals(number[TRIAL_STATE]) : -1;
    if (error == 0 && journals < 0)
        error = errno;
    trial_answer(answer, TRIAL_KEEPER, nonce, error);
    if (error != 0)
        return 1;
    char option[] = "--answer", word[96], *args[OWN_ARGS_MAX];
    snprintf(word, sizeof word, "%d:%d:%d:%s", answer, nonce, journals, keep_protocol_word);
    own_args(args, options->keeper_argv + 1, option, word); /* --config among them */
    fd_set_cloexec(journals, false);
    execveat(exe, "", args, environ, AT_EMPTY_PATH);
    trial_answer(answer, TRIAL_WORKER, nonce, errno);
    return 1;
}
