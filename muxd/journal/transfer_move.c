/* transfer_move: owns the order of the steps that move bytes between programs and journals. */
#include "base/bug.h"
#include "base/log.h"
#include "base/mem.h"
#include "journal/transfer.h"
#include "journal/transfer_state.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* a PTY gives 4,095 bytes a read at most, with rare exceptions: one page, one slot of the pipe */
#define PTY_PIECE 4096
#define PTY_SHORT 2048          /* a shorter piece: the PTY is probably empty now */
/* the first piece is small: a program that doesn't read takes no more */
#define FIRST_PTY_WRITE 4096
#define FIRST_PIPE_WRITE (16 * 1024)
/* at most this much in one call, so that other sessions don't wait for long */
#define TURN_WRITE (1024 * 1024)

static size_t transfer_move_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void transfer_drain(int pipe_fd)
{
    char scratch[4096];
    ssize_t n;
    do
        n = read(pipe_fd, scratch, sizeof scratch);
    while (n > 0 || (n < 0 && errno == EINTR));
    mem_wipe(scratch, sizeof scratch);
}

void transfer_pour(struct transfer *transfer, struct journal *journal, size_t size,
                   bool from_stderr)
{
    while (size > 0) {
        size_t room;
        char *space = journal_space(journal, size, &room);
        ssize_t n = read(transfer->fds[TRANSFER_OUT_R], space, room);
        if (n < 0 && errno == EINTR)
            continue;
        /* Only a lack of memory for the ring's pages makes it fail, and that ends the worker, as
         * everywhere; the bytes wait for the next worker. */
        if (n <= 0)
            BUG("%zu bytes can't be read into the ring: %s", size,
                n ? strerror(errno) : "the pipe is empty");
        journal_commit(journal, (size_t)n, from_stderr);
        size -= (size_t)n;
    }
}

/* Fills the pipe. >0: bytes in it; else 0 or -errno as transfer_in. From a pipe, one splice moves
 * whole pages; a PTY is copied piece by piece. */
static ssize_t transfer_move_gather(struct transfer *transfer, int fd, size_t budget, bool tty)
{
    struct transfer_state *state = transfer->state;
    size_t got = 0, limit = transfer_move_least(budget, transfer->out_capacity);
    for (size_t pieces = 0; got < limit && pieces < transfer->out_slots; pieces++) {
        size_t ask = tty ? transfer_move_least(PTY_PIECE, limit - got) : limit;
        ssize_t n = splice(fd, NULL, transfer->fds[TRANSFER_OUT_W], NULL, ask,
                           SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            ssize_t rc = n == 0 || errno == EIO ? 0 : -errno;
            return got ? (ssize_t)got : rc;
        }
        got += (size_t)n;
        atomic_store_explicit(&state->out_want, state->out_want + (size_t)n, memory_order_release);
        if (!tty || ((size_t)n < ask && n < PTY_SHORT))
            break;
    }
    return got ? (ssize_t)got : -EAGAIN;
}

static void transfer_tell_refused(const char *what)
{
    static bool told;
    if (!told)
        log_warn("the kernel refuses splice(2) for '%s': a kill -9 of muxd in the middle of a "
                 "transfer may lose or double a piece",
                 what);
    told = true;
}

static ssize_t read_directly(struct journal *journal, int fd, size_t budget, bool from_stderr)
{
    size_t room;
    ssize_t n;
    transfer_tell_refused("output");
    char *space = journal_space(journal, transfer_move_least(budget, PTY_PIECE), &room);
    do
        n = read(fd, space, room);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EIO ? 0 : -errno;
    journal_commit(journal, (size_t)n, from_stderr);
    return n;
}

ssize_t transfer_in(struct transfer *transfer, struct journal *journal, int fd, size_t budget,
                    bool from_stderr)
{
    struct transfer_state *state = transfer->state;
    BUG_UNLESS(budget > 0 && state->out_session == 0);
    state->out_from_stderr = from_stderr;
    atomic_store_explicit(&state->out_want, journal_head(journal), memory_order_relaxed);
    atomic_store_explicit(&state->out_session, journal->header->number, memory_order_release);
    ssize_t got = transfer_move_gather(transfer, fd, budget, journal->header->tty);
    if (got > 0)
        transfer_pour(transfer, journal, (size_t)got, from_stderr);
    atomic_store_explicit(&state->out_session, 0, memory_order_release);
    return got == -EINVAL ? read_directly(journal, fd, budget, from_stderr) : got;
}

static ssize_t write_directly(struct journal *journal, int fd, const char *data, size_t size,
                              bool wipe)
{
    transfer_tell_refused("input");
    ssize_t n;
    do
        n = write(fd, data, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    journal_input_typed(journal, (size_t)n, wipe);
    return n;
}

static void set_phase(struct transfer_state *state, enum transfer_phase phase)
{
    atomic_store_explicit(&state->in_phase, phase, memory_order_release);
}

/* Types one filling of the pipe. Bytes typed, fewer than size when the program takes no more; or
 * -errno. */
static ssize_t type_piece(struct transfer *transfer, struct journal *journal, int fd,
                          const char *data, size_t size, bool wipe)
{
    struct transfer_state *state = transfer->state;
    BUG_UNLESS(state->in_phase == TRANSFER_IDLE && size > 0);
    state->in_session = journal->header->number;
    state->in_tail = journal->header->in_tail;
    state->in_wipe = wipe;
    set_phase(state, TRANSFER_WRITING);
    ssize_t filled = write(transfer->fds[TRANSFER_IN_W], data, size);
    if (filled <= 0) {
        int error = filled ? errno : EAGAIN;
        set_phase(state, TRANSFER_IDLE);
        return error == EINTR ? -EAGAIN : -error;
    }
    state->in_size = (size_t)filled;
    set_phase(state, TRANSFER_FILLED);
    ssize_t typed = splice(transfer->fds[TRANSFER_IN_R], NULL, fd, NULL, (size_t)filled,
                           SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    int error = typed < 0 ? errno : EAGAIN;
    if (typed > 0)
        journal_input_typed(journal, (size_t)typed, wipe);
    set_phase(state, TRANSFER_IDLE); /* before the drain, which would look like typing */
    if (typed < filled)
        transfer_drain(transfer->fds[TRANSFER_IN_R]);
    if (typed < 0 && error == EINVAL)
        return write_directly(journal, fd, data, size, wipe);
    return typed > 0 ? typed : error == EINTR ? -EAGAIN : -error;
}

ssize_t transfer_out(struct transfer *transfer, struct journal *journal, int fd, bool wipe)
{
    size_t typed = 0, piece = journal->header->tty ? FIRST_PTY_WRITE : FIRST_PIPE_WRITE;
    while (typed < TURN_WRITE) {
        size_t queued;
        const char *data = journal_input_view(journal, &queued);
        if (queued == 0)
            break;
        size_t size = transfer_move_least(transfer_move_least(queued, piece),
                                          transfer->in_capacity);
        ssize_t n = type_piece(transfer, journal, fd, data, size, wipe);
        if (n < 0)
            return typed ? (ssize_t)typed : n;
        typed += (size_t)n;
        if ((size_t)n < size)
            break;
        piece *= 2;
    }
    return (ssize_t)typed;
}
