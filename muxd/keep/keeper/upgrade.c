/* upgrade.c: owns the keeper's state on its way through exec: a sealed memfd with numbers of
 * descriptors that stay open. The process stays the same, so it stays the parent of its programs. A
 * newer reader takes older states, and an older reader newer states of the same version (new fields
 * stand at the ends, where it ignores them), so going back works too. An upgrade replaces two
 * programs, the keeper's and the worker's, together or not at all. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "keep/keeper/kept.h"
#include "keep/own_args.h"
#include "keep/sentinel.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "muxdkeep"
#define VERSION 1
#define TRIAL_MS 10000
#define PROVE_MS 20000
#define RESUME_PAUSE_MS 10
#define RESUME_TRIES 500

struct state_head {
    char magic[8];
    uint32_t version, head_size, slot_size, fd_count, slots;
    int32_t listener, listener_given, sentinel, sentinel_fd, worker_before, stopping;
    /* the worker's program before the upgrade: what a keeper that goes back executes. -1: by its
     * path */
    int32_t worker_exe;
    int64_t nofile_soft, core_soft, oom_score_adj, generation;
};
struct state_slot {
    uint64_t session;
    int32_t pid, pidfd, status_fd, state, dropped, foreign, how[2];
    int32_t fds[KEEP_FD_COUNT]; /* the last member: fd_count of the head says how many */
};

static struct state_slot slot_record(const struct slot *slot)
{
    struct state_slot record = {.session = slot->session,
                                .pid = slot->pid,
                                .pidfd = slot->pidfd,
                                .status_fd = slot->status_fd,
                                .state = slot->state,
                                .dropped = slot->dropped,
                                .foreign = slot->foreign,
                                .how = {slot->how[0], slot->how[1]}};
    memcpy(record.fds, slot->fds, sizeof record.fds);
    return record;
}

static struct state_head head_record(const struct keeper *keeper, int worker_exe)
{
    return (struct state_head){.magic = MAGIC,
                               .version = VERSION,
                               .head_size = sizeof(struct state_head),
                               .slot_size = sizeof(struct state_slot),
                               .fd_count = KEEP_FD_COUNT,
                               .slots = (uint32_t)keeper->slots.count,
                               .listener = keeper->listener,
                               .listener_given = keeper->listener_given,
                               .sentinel = keeper->sentinel,
                               .sentinel_fd = keeper->sentinel_fd,
                               .worker_before = keeper->worker_before,
                               .stopping = keeper->stopping,
                               .worker_exe = worker_exe,
                               .nofile_soft = keeper->was.nofile_soft,
                               .core_soft = keeper->was.core_soft,
                               .oom_score_adj = keeper->was.oom_score_adj,
                               .generation = keeper->generation};
}

static int upgrade_save(struct keeper *keeper, int worker_exe)
{
    struct state_head head = head_record(keeper, worker_exe);
    int fd = memfd_create("muxd-keeper", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool good = fd >= 0 && fd_write_all(fd, &head, sizeof head) == sizeof head;
    for (struct slot *slot = slots_next(&keeper->slots, NULL); slot && good;
         slot = slots_next(&keeper->slots, slot)) {
        struct state_slot record = slot_record(slot);
        good = fd_write_all(fd, &record, sizeof record) == sizeof record;
    }
    if (!good ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
        fd_close(&fd);
    return fd;
}

static void restore_slot(struct keeper *keeper, const struct state_slot *record, uint32_t nfds)
{
    struct slot *slot = slots_take(&keeper->slots, record->session);
    if (!slot)
        return;
    for (uint32_t i = 0; i < KEEP_FD_COUNT && i < nfds; i++)
        slot->fds[i] = record->fds[i];
    slot->pidfd = record->pidfd;
    slot->status_fd = record->status_fd;
    slot->state = (uint8_t)record->state;
    slot->dropped = record->dropped;
    slot->foreign = record->foreign;
    slot->how[0] = record->how[0];
    slot->how[1] = record->how[1];
    if (record->pid > 0)
        slots_set_pid(&keeper->slots, slot, record->pid);
    programs_watch(keeper, slot);
}

/* keeper NULL: only checks whether it could take over. False with errno. */
static bool upgrade_load(int fd, struct keeper *keeper)
{
    struct state_head head;
    bool came = fd_pread_all(fd, &head, sizeof head, 0) == sizeof head;
    errno = EPROTO;
    if (!came || memcmp(head.magic, MAGIC, sizeof head.magic) != 0 || head.version != VERSION ||
        head.head_size < sizeof head || head.head_size > 65536 || head.slots > SLOTS_MAX ||
        head.fd_count > 64 ||
        head.slot_size < offsetof(struct state_slot, fds) + head.fd_count * sizeof(int32_t) ||
        head.slot_size > 65536)
        return false;
    for (uint32_t i = 0; i < head.slots; i++) {
        struct state_slot record;
        size_t size = head.slot_size < sizeof record ? head.slot_size : sizeof record;
        if (fd_pread_all(fd, &record, size, (off_t)head.head_size + (off_t)head.slot_size * i) !=
            (ssize_t)size) {
            errno = EPROTO;
            return false;
        }
        if (keeper)
            restore_slot(keeper, &record, head.fd_count);
    }
    if (!keeper)
        return true;
    keeper->listener = head.listener;
    keeper->listener_given = head.listener_given;
    keeper->old_worker_exe = head.worker_exe;
    keeper->listened = true; /* a daemon is upgraded only while it serves */
    keeper->sentinel = head.sentinel;
    keeper->sentinel_fd = head.sentinel_fd;
    keeper->worker_before = head.worker_before;
    keeper->stopping = head.stopping;
    keeper->was = (struct as_was){head.nofile_soft, head.core_soft, head.oom_score_adj};
    keeper->generation = head.generation;
    return true;
}

static void set_cloexec(struct keeper *keeper, bool on)
{
    SLOTS_EACH(&keeper->slots, slot) {
        for (int i = 0; i < KEEP_FD_COUNT; i++)
            fd_set_cloexec(slot->fds[i], on); /* the kernel refuses -1, as it should */
        fd_set_cloexec(slot->pidfd, on);
        fd_set_cloexec(slot->status_fd, on);
    }
    fd_set_cloexec(keeper->listener, on);
    fd_set_cloexec(keeper->sentinel_fd, on);
}

/* The programs that take over what we hold. */
struct going {
    int exe;         /* the keeper's; -1: the one on disk */
    int worker_exe;  /* the worker's, for a keeper that goes back */
    int back;        /* the keeper's to go back to; -1: this is the way back */
    int error, tried; /* why it went back; else 0 */
};

/* Becomes another program that holds all that we do. Returns only on failure, with everything as
 * before. */
static int upgrade_execute(struct keeper *keeper, const struct going *going)
{
    char option[] = "--resume", value[64], *args[OWN_ARGS_MAX];
    BUG_UNLESS(keeper->worker == 0);
    int state = upgrade_save(keeper, going->worker_exe);
    if (state < 0)
        return errno;
    const int taken[] = {state, going->worker_exe, going->back};
    set_cloexec(keeper, false);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        fd_set_cloexec(taken[i], false);
    snprintf(value, sizeof value, "%d:%d:%d:%d", state, going->back, going->error, going->tried);
    own_args(args, keeper->options.keeper_argv, option, value);
    if (going->exe >= 0)
        execveat(going->exe, "", args, environ, AT_EMPTY_PATH);
    else
        execv(keeper->options.path, args);
    int failure = errno;
    close(state);
    set_cloexec(keeper, true);
    for (size_t i = 1; i < sizeof taken / sizeof *taken; i++)
        fd_set_cloexec(taken[i], true);
    return failure;
}

/* 0, or why an upgrade is not even tried: an errno. What the keeper lacks would be lost with the
 * worker, which an upgrade replaces. */
static int why_not(struct keeper *keeper)
{
    const struct keeper_options *options = &keeper->options;
    if (keeper->trial != 0 || keeper->upgrade_now || keeper->prove_until_ms != 0 ||
        keeper->stopping || keeper->ending)
        return EBUSY;
    if (!options->path)
        return ENOENT;
    if (access(options->path, X_OK) != 0 || access(options->worker_path, X_OK) != 0)
        return errno;
    return keeper->lacks ? EMFILE : 0;
}

/* The new keeper's program looks at our state and then executes the new worker's (main.c), so that
 * both have run before we give up anything. */
static void __attribute__((__noreturn__)) try_new(const struct keeper_options *options, int state)
{
    char option[] = "--check", value[16], *args[OWN_ARGS_MAX];
    snprintf(value, sizeof value, "%d", state);
    fd_set_cloexec(state, false);
    keeper_unblock_signals();
    own_args(args, options->keeper_argv, option, value);
    execv(options->path, args);
    _exit(127);
}

void upgrade_begin(struct keeper *keeper)
{
    int state = -1, error = why_not(keeper);
    if (error == 0 && (state = upgrade_save(keeper, -1)) < 0)
        error = errno;
    pid_t pid = error == 0 ? fork() : -1;
    if (pid == 0)
        try_new(&keeper->options, state);
    if (pid < 0)
        talk_upgrade_failed(keeper, error != 0 ? error : errno, KEEP_UPGRADE_TRIAL);
    else {
        keeper->trial = pid;
        keeper->trial_until_ms = clock_mono_ms() + TRIAL_MS;
    }
    fd_close(&state);
}

void upgrade_trial_over(struct keeper *keeper, bool good)
{
    BUG_UNLESS(keeper->trial != 0);
    keeper->trial = 0;
    if (!good) /* trial_until_ms 0: its time was over, and upgrade_timers has killed it */
        talk_upgrade_failed(keeper, keeper->trial_until_ms == 0 ? ETIMEDOUT : ENOEXEC,
                            KEEP_UPGRADE_TRIAL);
    keeper->trial_until_ms = 0;
    keeper->upgrade_now = good;
}

static void go(struct keeper *keeper)
{
    keeper->upgrade_now = false;
    /* what it knows stands in the journals, and supervise_kill takes its last messages */
    supervise_kill(keeper);
    keeper->failed_error = upgrade_execute(
        keeper, &(struct going){.exe = -1, .worker_exe = keeper->worker_exe, .back = keeper->exe});
    keeper->failed_tried = KEEP_UPGRADE_EXEC;
    supervise_start(keeper);
}

static void forget_old(struct keeper *keeper)
{
    fd_close(&keeper->old_exe);
    fd_close(&keeper->old_worker_exe);
}

void upgrade_fall_back(struct keeper *keeper, int error, int tried)
{
    keeper->prove_until_ms = 0;
    supervise_kill(keeper);
    keeper->failed_error = upgrade_execute(
        keeper, &(struct going){keeper->old_exe, keeper->old_worker_exe, -1, error, tried});
    keeper->failed_tried = KEEP_UPGRADE_EXEC;
    forget_old(keeper);
}

void upgrade_proven(struct keeper *keeper)
{
    keeper->prove_until_ms = 0;
    forget_old(keeper);
}

void upgrade_timers(struct keeper *keeper, int64_t now_ms)
{
    if (keeper->trial != 0 && keeper->trial_until_ms != 0 && now_ms >= keeper->trial_until_ms) {
        keeper->trial_until_ms = 0;
        kill(keeper->trial, SIGKILL);
    }
    if (keeper->prove_until_ms != 0 && now_ms >= keeper->prove_until_ms) {
        if (keeper->talk == TALK_DONE)
            upgrade_proven(keeper);
        else {
            upgrade_fall_back(keeper, ETIMEDOUT, KEEP_UPGRADE_WORKER);
            supervise_start(keeper);
        }
    }
    if (keeper->upgrade_now && !keeper->ending)
        go(keeper);
}

bool keeper_numbers(const char *text, int numbers[], int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        numbers[i] = (int)strtol(text, &end, 10);
        if (end == text || *end != (i < count - 1 ? ':' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

int keeper_check(int state_fd)
{
    return upgrade_load(state_fd, NULL) ? 0 : 1;
}

/* The numbers behind "--resume". */
enum { RESUME_STATE, RESUME_BACK, RESUME_ERROR, RESUME_TRIED, RESUME_NUMBERS };

/* We can't read the state, but the old keeper can, and it starts the old worker. */
static void go_back(const struct keeper_options *options, const int number[RESUME_NUMBERS])
{
    char option[] = "--resume", value[64], *args[OWN_ARGS_MAX];
    if (number[RESUME_BACK] < 0)
        return;
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

/* On the way forward the worker's program is the one on disk, and the old one is kept until that
 * has proved itself; on the way back it is the old one. */
static void choose_worker(struct keeper *keeper, int back)
{
    keeper->old_exe = back;
    if (back < 0) {
        keeper->worker_exe = keeper->old_worker_exe;
        keeper->old_worker_exe = -1;
    } else {
        /* -1: the worker is executed by its path; if that fails we go back */
        keeper->worker_exe = open(keeper->options.worker_path, O_PATH | O_CLOEXEC);
        fd_set_cloexec(back, true);
        keeper->prove_until_ms = clock_mono_ms() + PROVE_MS;
    }
    fd_set_cloexec(keeper->worker_exe, true);
    fd_set_cloexec(keeper->old_worker_exe, true);
}

int keeper_resume(const struct keeper_options *options, const char *state)
{
    int number[RESUME_NUMBERS];
    if (!keeper_numbers(state, number, RESUME_NUMBERS)) {
        keeper_say("'%s' is no state of a keeper; this option is for upgrades only", state);
        return 1;
    }
    if (!upgrade_load(number[RESUME_STATE], NULL))
        go_back(options, number);
    struct keeper *keeper = try_hard(options);
    if (!keeper)
        go_back(options, number);
    if (!keeper || !upgrade_load(number[RESUME_STATE], keeper)) {
        keeper_say("can't take over after the upgrade: %s", strerror(errno));
        return 1;
    }
    set_cloexec(keeper, true);
    close(number[RESUME_STATE]);
    choose_worker(keeper, number[RESUME_BACK]);
    keeper->failed_error = number[RESUME_ERROR];
    keeper->failed_tried = number[RESUME_TRIED];
    programs_look_at_all(keeper);
    supervise_start(keeper);
    return keeper_loop(keeper);
}
