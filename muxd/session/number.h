/* number: which number the next session gets. No number is given out twice, not even after a
 * restart or a crash: the file "next" in the state directory is always ahead of what was given out.
 * For this room only. */
#ifndef MUXD_SESSION_NUMBER_H
#define MUXD_SESSION_NUMBER_H
#include "base/err.h"
#include "journal/transfer.h"
#include <stdbool.h>
#include <stdint.h>

#define NUMBER_FIRST 1000
#define NUMBER_BLOCK 64 /* numbers reserved on disk at a time; more while they go fast */
#define NUMBER_BLOCK_MAX 4096

struct loop;
struct number_job;
struct number_block { uint64_t from, end; }; /* reserved on disk; empty: none */

struct number {
    char *dir;                 /* owned */
    struct loop *loop;         /* borrowed */
    uint64_t next, end;        /* [next, end) is reserved for us */
    uint64_t low;              /* from this number on the next block is asked for */
    struct number_block ahead; /* the block after it */
    struct number_job *job;    /* is being reserved in a thread; NULL: nothing is */
    uint64_t block;            /* size of the block that was asked for last */
    int64_t asked_ms;          /* CLOCK_MONOTONIC; when that was */
    bool warned;               /* the disk refused a block, and the log says so */
    struct number_kept *kept;  /* borrowed; NULL: none */
};

/* ERR_SYSTEM: there is a file, and it holds no number or can't be read. Numbers can be taken all
 * the same, and number_fini must be called. */
int number_init(struct number *number, struct loop *loop, const char *state_dir, struct err *err);
/* Goes on in the block of a predecessor that was killed, and notes in kept (NULL: nowhere) what a
 * successor needs. The first block is asked for at once, in a thread, and so is each next one long
 * before it is needed: the disk may take its time. Without this, or when number_init was given no
 * loop, all is written when it is needed. */
void number_begin(struct number *number, struct number_kept *kept);
void number_fini(struct number *number); /* gives back what was not used; outside of a turn */
/* Waits for the disk only when a whole block was used up before the next was written. While the
 * disk refuses a block, numbers go on from memory and the log warns of it. */
uint64_t number_take(struct number *number);
/* a session of that number was found alive */
void number_skip_past(struct number *number, uint64_t used);
#endif
