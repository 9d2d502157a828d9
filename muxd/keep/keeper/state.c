/* state.c: owns the keeper's state on its way through exec: a sealed memfd with numbers of
 * descriptors that stay open. The process stays the same, so it stays the parent of its programs. A
 * newer reader takes older states, and an older reader newer states of the same version (new fields
 * stand at the ends, where it ignores them), so going back works too. */
#include "base/fdio.h"
#include "keep/keeper/kept.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC "muxdkeep"
#define VERSION 1

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

int state_save(struct keeper *keeper, int worker_exe)
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

bool state_load(int fd, struct keeper *keeper)
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

void state_set_cloexec(struct keeper *keeper, bool on)
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

int state_journals(int state)
{
    struct state_head head = {0};
    int list = memfd_create("muxd-journals", MFD_CLOEXEC);
    bool good = list >= 0 && fd_pread_all(state, &head, sizeof head, 0) == sizeof head;
    off_t at = (off_t)head.head_size + (off_t)offsetof(struct state_slot, fds[KEEP_FD_JOURNAL]);
    for (uint32_t i = 0; good && i < head.slots; i++, at += head.slot_size) {
        int32_t fd;
        good = fd_pread_all(state, &fd, sizeof fd, at) == sizeof fd &&
               (fd < 0 || fd_write_all(list, &fd, sizeof fd) == sizeof fd);
    }
    if (!good)
        fd_close(&list);
    return list;
}
