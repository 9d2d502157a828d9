/* mark: the number by which every process that stems from a session is known. It is the limit
 * RLIMIT_LOCKS, which has had no effect since Linux 2.4.25 (setrlimit(2)), but which every child
 * inherits, whatever it does to its parents, its group, its environment, its user or its
 * namespaces, and which can't be raised without privilege.
 *
 * A daemon that bears no such limit itself sets soft and hard of its programs to their mark. One
 * that runs inside a session of another daemon leaves the hard limit as it is, the outer daemon's
 * mark, and sets the soft limit alone: so its programs are known to both. Of three daemons inside
 * each other the outermost and the innermost know a program by its mark, the one between them by
 * its descent from the innermost daemon (mark_descend).
 *
 * A process can shed its mark: by setting another limit, which only a privileged one can do
 * upwards. It is known by its parent then, while that lives. */
#ifndef MUXD_SYS_MARK_H
#define MUXD_SYS_MARK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define MARK_HOOK 1 /* the number of all hooks; sessions have higher ones */

struct mark {      /* what tells this daemon's programs from all others */
    uint32_t word; /* random; never 0 */
    rlim_t above;  /* the hard limit that the daemon itself has */
};

/* Makes the word from the file "mark" of the state directory, so that a later daemon of the same
 * directory and socket has the same; the file is made when there is none. False: it can't be read
 * or made (errno), and the word holds for this life only. */
bool mark_init(struct mark *mark, const char *state_dir, const char *socket_path);
/* What a program of the session is to be started with. */
struct rlimit mark_limit(const struct mark *mark, uint64_t number);
/* False: the daemon was started with a hard limit that leaves no room for marks. */
bool mark_fits(const struct mark *mark);
/* The session that the process bears the mark of, as the low 32 bits of its number; 0: none of
 * ours. Any thread. */
uint32_t mark_of(const struct mark *mark, pid_t pid);

struct bearer {
    uint32_t number; /* of mark_of */
    pid_t pid;
    /* 0: it bears the mark; else it is known by its parent, and this with pid is its name for
     * ever. */
    uint64_t start_ticks;
};
struct bearers {
    struct bearer *all; /* owned; sorted by number and pid */
    size_t count, room;
};
void bearers_fini(struct bearers *bearers); /* safe on a zeroed or finished one */
/* A copy of these, and of no others. */
void bearers_set(struct bearers *bearers, const struct bearer *all, size_t count);
/* At the end, unless that process is in it. */
void bearers_add(struct bearers *bearers, const struct bearer *one);
/* Those of one session; NULL and 0: nobody. */
const struct bearer *bearers_of(const struct bearers *bearers, uint64_t number, size_t *count);

/* What a walk looks at beside our own user's processes, which cost one system call each. */
enum {
    /* All processes of other users (sudo, su): a file to be read for each of them. */
    MARK_OTHERS = 1,
    /* Where /proc shows less than there is (hidepid, a mount of another pid namespace, no
     * descriptor left) all numbers, which may take a second. */
    MARK_HIDDEN = 2,
};
/* Every living process that bears a mark of this daemon, in place of what was in out: one pass over
 * /proc. Who was born during the pass is in it, too. reaper: to whom orphans fall; its children
 * count whoever's they are. 0: nobody. Any thread. */
void mark_walk(const struct mark *mark, pid_t reaper, unsigned flags, struct bearers *out);
/* The same of the numbers first + 1 to the last one given out only. False: these are too many, or
 * it is not known which. */
bool mark_walk_since(const struct mark *mark, pid_t reaper, pid_t first, struct bearers *out);
/* Adds the children of the session's bearers, and theirs, that a walk doesn't know: other users',
 * and those that have shed the mark. Any thread. */
void mark_descend(const struct mark *mark, uint64_t number, struct bearers *bearers);
/* Adds those of the session that have shed the mark, as far as they descend from its leader by
 * parents that live. */
void mark_strays(const struct mark *mark, uint64_t number, pid_t leader, struct bearers *out);
/* It is the same process still, and has not ended. */
bool mark_lives(const struct mark *mark, const struct bearer *bearer);
/* Through a pidfd, after which it is looked at once more, so that nobody else can be hit. 0 or a
 * negative errno. Any thread. */
int mark_signal(const struct mark *mark, const struct bearer *bearer, int signo);
#endif
