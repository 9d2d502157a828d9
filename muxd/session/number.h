/* number: which number the next session gets. Never the same one twice, also not after a restart or a crash: the file "next"
 * in the state directory is always ahead of what was given out. For this room only. */
#ifndef MUXD_SESSION_NUMBER_H
#define MUXD_SESSION_NUMBER_H
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

#define NUMBER_FIRST 1000
#define NUMBER_BLOCK 64 /* numbers reserved on disk at a time */

struct number {
    char *dir;           /* owned */
    uint64_t next, end;  /* [next, end) is reserved for us */
    bool warned;         /* the disk refused a block, and the log says so */
};

/* Nothing is reserved yet; a file that is there must hold a number: ERR_SYSTEM. */
int number_init(struct number *number, const char *state_dir, struct err *err);
void number_fini(struct number *number); /* gives back what was not used */
/* While the disk refuses a new block, numbers go on from memory and the log tells the danger. */
uint64_t number_take(struct number *number);
void number_skip_past(struct number *number, uint64_t used); /* a session of that number was found alive */
#endif
