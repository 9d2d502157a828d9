/* transfer: moves bytes between descriptors and journals so that a SIGKILL at any instant neither
 * loses nor doubles one. The whole worker has one pair of pipes and one small state memfd, which
 * the keeper holds too (slot of session 0): the worker is one thread, so at most one transfer is
 * under way in each direction.
 *
 * In:  state.out = {session, head}; splice(source -> pipe) until the budget, state.want after each;
 *      read(pipe -> ring); commit. Successor: of the bytes that `want` counts, those no longer in
 *      the pipe are in the ring (want - head - FIONREAD); the others follow from the pipe.
 * Out: state.in = {session, in_tail, n, phase written}; write(pipe); phase filled;
 *      splice(pipe -> program); in_tail; phase idle; what is left in the pipe is thrown away (it is
 *      still in the input queue). Successor: typed = n - FIONREAD in phase filled, else 0.
 *
 * Where the kernel refuses splice(2) for a source or target (EINVAL), plain read(2) and write(2)
 * take its place, with a line in the log. Then a SIGKILL between the call and the counter behind it
 * loses what one read took (4 KiB at most) or types one piece (64 KiB at most) again. The caller
 * ignores SIGPIPE. Without memory for the ring's pages the worker aborts; the bytes wait in the
 * pipe. */
#ifndef MUXD_JOURNAL_TRANSFER_H
#define MUXD_JOURNAL_TRANSFER_H
#include "base/err.h"
#include "journal/journal.h"

struct transfer;
/* What a successor goes on with (session/number.h); zero: nothing. It lies here because this page
 * outlives a worker. */
struct number_kept { _Atomic uint64_t next, end; };
#define TRANSFER_FDS 5 /* state memfd, out pipe r w, in pipe r w */

/* 0 and *out is the caller's, or ERR_SYSTEM */
int transfer_new(struct transfer **out, struct err *err);
/* The descriptors become the transfer's on success. */
int transfer_adopt(struct transfer **out, const int fds[TRANSFER_FDS], struct err *err);
void transfer_free(struct transfer *transfer);
struct number_kept *transfer_numbers(struct transfer *transfer); /* zero in a new one */
/* for session/descendants.h, which hands it to a successor; zero in a new one */
_Atomic uint32_t *transfer_mark(struct transfer *transfer);
/* borrowed, for the keeper */
void transfer_fds(const struct transfer *transfer, int fds[TRANSFER_FDS]);
/* The sessions with a transfer under way: of output, of input; 0: none. Call it before
 * transfer_repair. */
void transfer_busy(const struct transfer *transfer, uint64_t sessions[2]);
/* After an adoption, when all journals are there: completes the transfers that the predecessor had
 * under way. find: a session's journal or NULL. */
void transfer_repair(struct transfer *transfer, struct journal *(*find)(void *arg, uint64_t number),
                     void *arg);

/* Moves up to budget bytes from fd into the journal, and no more than the pipe between them holds.
 * >0: bytes; 0: end of file (EOF, or EIO of a PTY); -EAGAIN: nothing there now; other negative
 * errno. A result below the budget doesn't mean that fd is empty. fd must be non-blocking, budget
 * not 0. */
ssize_t transfer_in(struct transfer *transfer, struct journal *journal, int fd, size_t budget,
                    bool from_stderr);
/* Types queued input into fd (non-blocking) until fd is full, the queue is empty or 1 MiB was
 * typed. Bytes typed, or negative errno (-EAGAIN: full, nothing typed). */
ssize_t transfer_out(struct transfer *transfer, struct journal *journal, int fd, bool wipe);
#endif
