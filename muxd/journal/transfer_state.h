/* transfer_state: what transfer.c and transfer_move.c share: the state page, which a successor
 * reads, and the descriptors. */
#ifndef MUXD_JOURNAL_TRANSFER_STATE_H
#define MUXD_JOURNAL_TRANSFER_STATE_H
#include "journal/transfer.h"

#define TRANSFER_MAGIC 0x72746475U
#define TRANSFER_VERSION 1

enum transfer_fd { TRANSFER_STATE, TRANSFER_OUT_R, TRANSFER_OUT_W, TRANSFER_IN_R, TRANSFER_IN_W };
enum transfer_phase { TRANSFER_IDLE, TRANSFER_WRITING, TRANSFER_FILLED };

/* At offset 0 of the state memfd. The other fields of a direction are valid only while out_session
 * or in_phase says so: these are set last and reset first. */
struct transfer_state {
    uint32_t magic, version;
    _Atomic uint64_t out_session; /* 0: nothing is under way and the pipe is empty */
    _Atomic uint64_t out_want; /* out_head when the pipe has been emptied into the ring */
    uint32_t out_from_stderr;
    _Atomic uint32_t mark; /* transfer_mark */
    /* in_size bytes from in_tail on are, or were, in the pipe */
    uint64_t in_session, in_tail, in_size;
    uint32_t in_wipe;
    _Atomic uint32_t in_phase; /* enum transfer_phase */
    struct number_kept numbers;
};

struct transfer {
    int fds[TRANSFER_FDS]; /* enum transfer_fd, owned */
    struct transfer_state *state;
    size_t out_capacity, out_slots, in_capacity; /* of the pipes: bytes; pieces */
};

/* Reads exactly size bytes, which are in the pipe, into the ring and commits them. */
void transfer_pour(struct transfer *transfer, struct journal *journal, size_t size,
                   bool from_stderr);
void transfer_drain(int pipe_fd); /* throws its contents away, leaving no copy */
#endif
