/* tty_home: the places where a program was known to wait for its input, and how it is seen that it
 * loops in one. A place is a tty_thread_place: the call, its arguments and where it stands on the
 * stack. */
#ifndef MUXD_SYS_TTY_HOME_H
#define MUXD_SYS_TTY_HOME_H
#include <stdbool.h>
#include <stdint.h>

struct tty_home { /* zeroed: nothing is known */
    uint64_t found;      /* taken for an answer, until that is believed; 0: none */
    uint64_t known[2];   /* where it was known to wait, the latest first; 0: none */
    /* what was believed last still holds: nothing was written or printed since */
    bool waits;
    /* where it slept when that was first seen since the mark and the last output, */
    uint64_t loop_place;
    uint64_t loop_runs;  /* and how often it had run until then */
};

void tty_home_believed(struct tty_home *home); /* what was found was an answer indeed */
/* it still waits, and sleeps there now; 0: nothing happens */
void tty_home_also(struct tty_home *home, uint64_t place);
void tty_home_mark(struct tty_home *home);   /* something is written */
void tty_home_output(struct tty_home *home); /* something was printed */
bool tty_home_is(const struct tty_home *home, uint64_t place); /* it was known to wait there */
/* Its time limit has ended and it has gone back to sleep where it was, again and again, without a
 * word. runs: how often it has run by now. */
bool tty_home_loops(struct tty_home *home, uint64_t place, uint64_t runs);
#endif
