/* transfer: owns the two pipes and the state page through which all bytes go, and what a successor
 * does with what it finds there. transfer_move.c moves the bytes. */
#include "journal/transfer.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/log.h"
#include "base/mem.h"
#include "journal/transfer_state.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUT_PIPE_BYTES (256 * 1024)
#define FALLBACK_PIPE_BYTES 4096

static_assert(sizeof(struct transfer_state) == 80, "a successor of another build reads it");
static_assert(offsetof(struct transfer_state, in_session) == 32, "pinned");

static int transfer_fail(struct transfer *transfer, struct err *err, const char *what)
{
    int error = errno;
    transfer_free(transfer);
    return limit_err(err, ERR_SYSTEM, LIMIT_SESSION, error,
                     "can't make the pipes to the sessions: '%s'", what);
}

static bool map_state(struct transfer *transfer)
{
    void *state = mmap(NULL, sizeof *transfer->state, PROT_READ | PROT_WRITE, MAP_SHARED,
                       transfer->fds[TRANSFER_STATE], 0);
    if (state == MAP_FAILED)
        return false;
    transfer->state = state;
    return true;
}

static size_t capacity(int pipe_fd)
{
    int size = fcntl(pipe_fd, F_GETPIPE_SZ);
    return size > 0 ? (size_t)size : FALLBACK_PIPE_BYTES;
}

static void transfer_measure(struct transfer *transfer)
{
    transfer->out_capacity = capacity(transfer->fds[TRANSFER_OUT_W]);
    transfer->out_slots = transfer->out_capacity / (size_t)sysconf(_SC_PAGESIZE);
    if (transfer->out_slots == 0)
        transfer->out_slots = 1;
    transfer->in_capacity = capacity(transfer->fds[TRANSFER_IN_W]);
}

static struct transfer *transfer_empty(void)
{
    struct transfer *transfer = xcalloc(1, sizeof *transfer);
    for (size_t i = 0; i < TRANSFER_FDS; i++)
        transfer->fds[i] = -1;
    return transfer;
}

int transfer_new(struct transfer **out, struct err *err)
{
    struct transfer *transfer = transfer_empty();
    int *fds = transfer->fds;
    fds[TRANSFER_STATE] = memfd_create("muxd-transfer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fds[TRANSFER_STATE] < 0 ||
        ftruncate(fds[TRANSFER_STATE], sizeof(struct transfer_state)) != 0 ||
        fcntl(fds[TRANSFER_STATE], F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return transfer_fail(transfer, err, "memfd_create");
    if (!map_state(transfer))
        return transfer_fail(transfer, err, "mmap");
    if (pipe2(fds + TRANSFER_OUT_R, O_CLOEXEC | O_NONBLOCK) != 0 ||
        pipe2(fds + TRANSFER_IN_R, O_CLOEXEC | O_NONBLOCK) != 0)
        return transfer_fail(transfer, err, "pipe2");
    if (fcntl(fds[TRANSFER_OUT_W], F_SETPIPE_SZ, OUT_PIPE_BYTES) < 0)
        log_debug("the pipe from the sessions stays small: %s", strerror(errno));
    transfer_measure(transfer);
    transfer->state->version = TRANSFER_VERSION;
    __atomic_store_n(&transfer->state->magic, TRANSFER_MAGIC, __ATOMIC_RELEASE);
    *out = transfer;
    return 0;
}

static const char *transfer_check(const int fds[TRANSFER_FDS])
{
    struct stat st;
    int seals = fcntl(fds[TRANSFER_STATE], F_GET_SEALS);
    if (seals < 0 || (seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW))
        return "the size of its state is not sealed";
    if (fstat(fds[TRANSFER_STATE], &st) != 0 || st.st_size != (off_t)sizeof(struct transfer_state))
        return "its state has a wrong size";
    for (int i = TRANSFER_OUT_R; i < TRANSFER_FDS; i++)
        if (fstat(fds[i], &st) != 0 || !S_ISFIFO(st.st_mode) || fd_set_nonblock(fds[i], true) != 0)
            return "a pipe is missing";
    return NULL;
}

int transfer_adopt(struct transfer **out, const int fds[TRANSFER_FDS], struct err *err)
{
    const char *reason = transfer_check(fds);
    struct transfer *transfer = transfer_empty();
    memcpy(transfer->fds, fds, sizeof transfer->fds);
    if (!reason && !map_state(transfer)) {
        int error = errno;
        free(transfer);
        return err_set(err, ERR_LIMIT, "'transfer' can't be mapped: %s; end something",
                       strerror(error));
    }
    if (!reason &&
        (transfer->state->magic != TRANSFER_MAGIC || transfer->state->version != TRANSFER_VERSION))
        reason = "its version is not known to this muxd";
    if (!reason) {
        transfer_measure(transfer);
        *out = transfer;
        return 0;
    }
    for (size_t i = 0; i < TRANSFER_FDS; i++)
        transfer->fds[i] = -1; /* they stay the caller's */
    transfer_free(transfer);
    return err_set(err, ERR_SYSTEM,
                   "'transfer' can't be taken over: %s; bytes that were on their way are lost",
                   reason);
}

void transfer_free(struct transfer *transfer)
{
    if (!transfer)
        return;
    if (transfer->state)
        munmap(transfer->state, sizeof *transfer->state);
    for (size_t i = 0; i < TRANSFER_FDS; i++)
        fd_close(&transfer->fds[i]);
    free(transfer);
}

void transfer_fds(const struct transfer *transfer, int fds[TRANSFER_FDS])
{
    memcpy(fds, transfer->fds, sizeof transfer->fds);
}

struct number_kept *transfer_numbers(struct transfer *transfer)
{
    return &transfer->state->numbers;
}

_Atomic uint32_t *transfer_mark(struct transfer *transfer)
{
    return &transfer->state->mark;
}

static size_t transfer_pending(int pipe_fd)
{
    int size = 0;
    return ioctl(pipe_fd, FIONREAD, &size) == 0 && size > 0 ? (size_t)size : 0;
}

/* Throws away the bytes of a session that is gone, or of a state that makes no sense: no journal
 * can take them. */
static void discard_out(struct transfer *transfer, uint64_t session, size_t size)
{
    if (size > 0)
        log_warn("session %llu: %zu bytes of output were on their way and belong to no journal",
                 (unsigned long long)session, size);
    transfer_drain(transfer->fds[TRANSFER_OUT_R]);
}

static void repair_out(struct transfer *transfer,
                       struct journal *(*find)(void *arg, uint64_t number), void *arg)
{
    struct transfer_state *state = transfer->state;
    uint64_t session = state->out_session;
    size_t in_pipe = transfer_pending(transfer->fds[TRANSFER_OUT_R]);
    struct journal *journal = session ? find(arg, session) : NULL;
    if (journal) {
        /* Negative, when it was killed between a splice and the store of out_want: then nothing of
         * it is in the ring. */
        int64_t in_ring = (int64_t)(state->out_want - journal_head(journal) - in_pipe);
        if (in_ring > 0 && journal_may_commit(journal, (uint64_t)in_ring))
            journal_commit(journal, (size_t)in_ring, state->out_from_stderr);
        else if (in_ring > 0)
            log_error("session %llu: the state of its last read is broken; output may be missing",
                      (unsigned long long)session);
        state->out_want = journal_head(journal) + in_pipe;
        transfer_pour(transfer, journal, in_pipe, state->out_from_stderr);
    } else {
        discard_out(transfer, session, in_pipe);
    }
    atomic_store_explicit(&state->out_session, 0, memory_order_release);
}

static void repair_in(struct transfer *transfer,
                      struct journal *(*find)(void *arg, uint64_t number), void *arg)
{
    struct transfer_state *state = transfer->state;
    size_t left = transfer_pending(transfer->fds[TRANSFER_IN_R]);
    struct journal *journal = state->in_phase == TRANSFER_FILLED ? find(arg, state->in_session)
                                                                 : NULL;
    if (journal && left <= state->in_size) {
        uint64_t typed_to = state->in_tail + (state->in_size - left),
                 tail = journal->header->in_tail;
        if (typed_to > tail && typed_to <= journal->header->in_head)
            journal_input_typed(journal, typed_to - tail, state->in_wipe);
    }
    atomic_store_explicit(&state->in_phase, TRANSFER_IDLE, memory_order_release);
    transfer_drain(transfer->fds[TRANSFER_IN_R]);
}

void transfer_busy(const struct transfer *transfer, uint64_t sessions[2])
{
    sessions[0] = transfer->state->out_session;
    sessions[1] = transfer->state->in_phase == TRANSFER_FILLED ? transfer->state->in_session : 0;
}

void transfer_repair(struct transfer *transfer, struct journal *(*find)(void *arg, uint64_t number),
                     void *arg)
{
    repair_out(transfer, find, arg);
    repair_in(transfer, find, arg);
}
