/* tty_survey: what the members of a terminal's foreground group are at: which thread reads the
 * terminal, and what the others do meanwhile. */
#ifndef MUXD_SYS_TTY_SURVEY_H
#define MUXD_SYS_TTY_SURVEY_H
#include "sys/tty_group.h"

struct tty_survey {
    /* the member that waits for the terminal most surely, borrowed from the group; NULL: none
     * does */
    const struct tty_thread *reader;
    bool others_running; /* a member is on a processor, or about to be */
    bool hidden;         /* the kernel hides where a member sleeps */
    bool several_threads; /* a process of the group has more than one */
};

/* Looks at every member; scans the group again where a new member may change the answer. slave:
 * device number of the terminal. */
void tty_survey_take(struct tty_survey *survey, struct tty_group *group, dev_t slave);
/* Another process of the group waits for a disk, at its start for instance, and is about to go on:
 * `cat | sed` whose sed is still being loaded. */
bool tty_survey_waits_for_disk(const struct tty_survey *survey, const struct tty_group *group);
/* The reader is the only one that can go on by itself: it has no group but itself, and each other
 * thread of it has to be woken by a thread or a signal, for however long that takes. */
bool tty_survey_reader_is_alone(const struct tty_survey *survey, const struct tty_group *group);
/* The reader is only the hand that fetches the keys: another thread of its process waits in an
 * event loop, with a time limit after which it will soon act (fzf, programs in Go). */
bool tty_survey_has_alarm(const struct tty_survey *survey, const struct tty_group *group);
/* Looks again: true when no member has run or moved since. While others run, only the reader
 * counts. */
bool tty_survey_unchanged(const struct tty_survey *survey, struct tty_group *group);
/* Processor time so far of the members, but the reader, also of those that sleep at the moment: two
 * sums of the same members tell how much they had between. */
uint64_t tty_survey_others_ns(const struct tty_survey *survey, const struct tty_group *group);
#endif
