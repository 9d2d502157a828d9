/* tty_home: the places where a program was known to wait for its input, and whether it loops in
 * one. A place is a tty_thread_place: the call, its arguments and where it stands on the stack. */
#ifndef MUXD_SYS_TTY_HOME_H
#define MUXD_SYS_TTY_HOME_H
#include <stdbool.h>
#include <stdint.h>

struct tty_home { /* zeroed: nothing is known */
    uint64_t found;      /* the place of the last answer, until that is believed; 0: none */
    uint64_t known[2];   /* where it was known to wait, the latest first; 0: none */
    bool waits;          /* nothing was written or printed since the last believed answer */
    /* where it was first seen asleep since the mark and the last output */
    uint64_t loop_place;
    uint64_t loop_runs;  /* its runs at that moment */
};

void tty_home_believed(struct tty_home *home); /* the answer was right */
/* it still waits, and sleeps at this place now; 0: nothing happens */
void tty_home_also(struct tty_home *home, uint64_t place);
void tty_home_mark(struct tty_home *home);   /* something is written */
void tty_home_output(struct tty_home *home); /* something was printed */
bool tty_home_is(const struct tty_home *home, uint64_t place); /* it was known to wait there */
/* It has gone back to sleep at the same place several times without output, each time when its time
 * limit had ended. runs: how often it has run by now. */
bool tty_home_loops(struct tty_home *home, uint64_t place, uint64_t runs);
#endif
