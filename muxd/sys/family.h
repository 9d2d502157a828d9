/* family: every process that belongs to a session: its leader's, by session, terminal, group or descent, and those that
 * left all of that but still carry the session's mark in their environment. For complete kills and for counting who is left. */
#ifndef MUXD_SYS_FAMILY_H
#define MUXD_SYS_FAMILY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { FAMILY_MAX = 65536 };

struct family_member {
    pid_t pid;
    uint64_t start_ticks; /* with pid a name for ever */
    pid_t pgrp;
};
struct family {
    struct family_member *members; /* owned; the leader first when it lives */
    size_t count;
};

struct family_query {
    pid_t leader;          /* > 1; 0: reaped, so that its number says nothing any more: only terminal and mark count */
    uint64_t start_ticks;  /* of the leader; 0: unknown. Another process under that number is no leader */
    pid_t tty_session;     /* who has the session's terminal now: pty_session; 0: nobody, or pipes */
    const char *mark;      /* whole environment entry, "MUXD_SESSION=1000"; NULL: none */
    const char *mark_too;  /* a second entry that must stand beside it (two daemons may use one number); NULL: none */
    pid_t except;          /* never a member (the caller's own daemon); our own pid is none anyway */
};
/* Finds them anew: one pass over /proc and one environ for each process of ours that no other sign tells. Zombies are no members. */
void family_find(const struct family_query *query, struct family *out);
void family_free(struct family *family);
/* Sends signo to every member through a pidfd that is checked against start_ticks. Returns how many got it. */
size_t family_signal(const struct family *family, int signo);
bool family_has(const struct family *family, pid_t pid);
#endif
