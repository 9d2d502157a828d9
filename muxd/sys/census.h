/* census: the processes of this machine as one pass over /proc finds them, with the mark that each carries in its environment. One pass
 * serves everybody who asks about families at the time (family.h). A later look at the same census costs only what was started since:
 * the kernel tells the number that it gave out last (proc_loadavg(5)). May be looked at in a thread; then it belongs to that thread. */
#ifndef MUXD_SYS_CENSUS_H
#define MUXD_SYS_CENSUS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct census_entry {
    pid_t pid, ppid, pgrp, session;
    uint64_t start_ticks; /* with pid a name for ever */
    uint64_t mark;        /* the number in its environment; 0: none */
    uint64_t owner;       /* set by family_sort and kept from look to look, also when every sign of it has gone; 0: nobody's */
    bool lives;
    bool fresh; /* not sorted yet */
    bool again; /* wanted: the next look asks whether it lives still */
};

struct census_owned {
    uint64_t owner;
    size_t place;
};

struct census {
    char *mark_name;   /* owned; "MUXD_SESSION": the entry of the environment whose value is the mark */
    char *mark_beside; /* owned; a whole entry that must stand beside it (two daemons may use one number); NULL: none */
    struct census_entry *all; /* owned; by pid */
    size_t count, cap;
    pid_t *missing; /* owned; given out, but not there: dead, or not quite there yet */
    size_t nmissing, missing_cap;
    struct census_owned *owned; /* owned; of family_sort */
    size_t nowned;
    pid_t upto;        /* no number above this was given out when it was last looked; 0: unknown */
    int64_t looked_ns; /* CLOCK_MONOTONIC; 0: never */
    unsigned passes;   /* over all of /proc, ever */
    bool blind;        /* no descriptor was left to look at everybody: who is not in it may be there all the same */
    bool exact;        /* nobody can have hopped over the last look by forking and dying */
};

/* Empty. The names are copied, see struct census; mark_beside may be NULL. */
void census_init(struct census *census, const char *mark_name, const char *mark_beside);
void census_fini(struct census *census); /* safe on a zeroed or finished one */
/* Brings it up to date. It never blocks for a peer, but as long as the kernel takes for some reads of each process. */
void census_look(struct census *census);
/* Only what was started from that number on, for a census that is new. False: unknown or too many; census_look then. */
bool census_look_from(struct census *census, pid_t first);
struct census_entry *census_find(const struct census *census, pid_t pid); /* NULL: not in it */
/* Is looked at as if it was new the next time. */
void census_doubt(struct census *census, struct census_entry *entry);
#endif
