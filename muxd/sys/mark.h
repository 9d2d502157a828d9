/* mark: the number by which every process that descends from a session is known. It is the limit
 * RLIMIT_LOCKS, which has had no effect since Linux 2.4.25 (setrlimit(2)). Every child inherits it,
 * whatever it does to its parents, its group, its environment, its user or its namespaces, and only
 * a privileged process can raise it.
 *
 * A daemon without such a limit of its own sets the soft and the hard limit of its programs to
 * their mark. A daemon inside a session of another one leaves the hard limit, which is the outer
 * daemon's mark, and sets the soft limit only, so that both know its programs. Of three daemons
 * inside each other, the outermost and the innermost know a program by its mark, and the middle one
 * by its descent from the innermost daemon (mark_descend).
 *
 * A process can shed its mark by setting another limit, downwards unless it is privileged. So there
 * is a second one with the same number, RLIMIT_RSS, without effect since Linux 2.4.30: the one that
 * is left tells the mark. Who has shed both is known by its parent, while that lives. */
#ifndef MUXD_SYS_MARK_H
#define MUXD_SYS_MARK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define MARK_HOOK 1 /* the number of all hooks; sessions have higher ones */
#define MARK_NONE 2 /* no mark has this number: for processes that are known otherwise */

struct mark {      /* tells this daemon's programs from all others */
    uint32_t word; /* random; never 0 */
    rlim_t above;  /* the hard limit that the daemon itself has */
    rlim_t above_second; /* of RLIMIT_RSS, likewise */
};

/* Makes the word from the file "mark" of the state directory, so that a later daemon of the same
 * directory and socket has the same word; makes the file when there is none. False: it can't be
 * read or made (errno), and the word holds for this life only. */
bool mark_init(struct mark *mark, const char *state_dir, const char *socket_path);
/* The RLIMIT_LOCKS with which a program of the session is started. */
struct rlimit mark_limit(const struct mark *mark, uint64_t number);
/* Its RLIMIT_RSS. False: the daemon was started with one that leaves no room. */
bool mark_second_limit(const struct mark *mark, uint64_t number, struct rlimit *out);
/* False: the daemon was started with a hard limit that leaves no room for marks. */
bool mark_fits(const struct mark *mark);
/* The session whose mark the process bears, as the low 32 bits of its number; 0: none of ours. Any
 * thread. */
uint32_t mark_of(const struct mark *mark, pid_t pid);

/* The RLIMIT_LOCKS of a process of any user. False: it is gone or hidden. Any thread. */
bool mark_limits(pid_t pid, struct rlimit *out);

struct bearer {
    uint32_t number; /* of mark_of */
    pid_t pid;
    /* 0: it bears the mark. Else it is known by its parent, and pid and start time identify it. */
    uint64_t start_ticks;
};
struct bearers {
    struct bearer *all; /* owned; sorted by number and pid */
    size_t count, room;
};
void bearers_fini(struct bearers *bearers); /* safe on a zeroed or finished one */
/* Replaces the contents with a copy of these. */
void bearers_set(struct bearers *bearers, const struct bearer *all, size_t count);
/* Appends a process unless it is there already. */
void bearers_add(struct bearers *bearers, const struct bearer *one);
/* Those of one session, borrowed; NULL and 0: none. The bearers are sorted. */
const struct bearer *bearers_of(const struct bearers *bearers, uint64_t number, size_t *count);

/* What a walk looks at besides our own user's processes, which cost one system call each. */
enum {
    /* All processes of other users (sudo, su): one file is read for each of them. */
    MARK_OTHERS = 1,
    /* All pids, which may take a second, where /proc doesn't show every process (hidepid, a
     * mount of another pid namespace, no descriptor left). */
    MARK_HIDDEN = 2,
};
/* Replaces out with every living process that bears a mark of this daemon, including those that are
 * born meanwhile. One pass over /proc. reaper: the process that adopts orphans, 0: none; its
 * children are looked at whichever user they run as. Any thread. */
void mark_walk(const struct mark *mark, pid_t reaper, unsigned flags, struct bearers *out);
/* The same for the pids from first + 1 to the last one given out. False: they are too many, or the
 * last one is unknown. */
bool mark_walk_since(const struct mark *mark, pid_t reaper, pid_t first, struct bearers *out);
/* Adds the descendants of the session's bearers that a walk doesn't find: other users' processes,
 * and those that have shed the mark. Any thread. */
void mark_descend(const struct mark *mark, uint64_t number, struct bearers *bearers);
/* Adds the processes of the session that have shed the mark, as far as living parents connect them
 * with its leader. */
void mark_strays(const struct mark *mark, uint64_t number, pid_t leader, struct bearers *out);
/* Whether it is still the same process, and has not ended. */
bool mark_lives(const struct mark *mark, const struct bearer *bearer);
/* Signals it through a pidfd, after checking that the pidfd is of the same process, so that no
 * other process can be hit. 0 or a negative errno. Any thread. */
int mark_signal(const struct mark *mark, const struct bearer *bearer, int signo);
#endif
