/* family: every process that belongs to a session: its leader's, by session, terminal, group or descent, and those that
 * left all of that but still carry the session's mark in their environment. For complete kills and for counting who is left. */
#ifndef MUXD_SYS_FAMILY_H
#define MUXD_SYS_FAMILY_H
#include "sys/census.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct family_member {
    pid_t pid;
    uint64_t start_ticks; /* with pid a name for ever */
};
struct family {
    struct family_member *members; /* owned; the leader first when it lives */
    size_t count;
};

struct family_query {
    uint64_t number;      /* the mark of its members, and their owner in the census; never 0 */
    pid_t leader;         /* > 1; 0: reaped, so that its number says nothing any more: only terminal and mark count */
    uint64_t start_ticks; /* of the leader; 0: unknown. Another process under that number is no leader, an older one no member */
    pid_t tty_session;    /* who has the session's terminal now: pty_session; 0: nobody, or pipes */
};
/* Gives what is new in the census its owner: all queries in one go, each process has one owner. except (the caller's own daemon) and our
 * own process are nobody's. Sorts the queries. */
void family_sort(struct census *census, struct family_query *queries, size_t count, pid_t except);
/* Anew after each family_sort, and after owners were set by hand. */
void family_index(struct census *census);
/* The living that are owned by that number. Zombies are no members. Freed by family_free. */
void family_of(const struct census *census, uint64_t number, pid_t leader, struct family *out);
void family_look_again(struct census *census, uint64_t number); /* at its members, in the next look */
void family_free(struct family *family);
/* Sends signo to every member through a pidfd that is checked against start_ticks. Returns how many got it. */
size_t family_signal(const struct family *family, int signo);
#endif
