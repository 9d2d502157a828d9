/* adopt: the worker's remedy when its keeper has died: it starts a new one and hands everything to
 * it. */
#ifndef MUXD_KEEP_ADOPT_H
#define MUXD_KEEP_ADOPT_H
#include "keep/link.h"
/* argv: of start_argv. Starts the program of the dead keeper (link_keeper_exe; ARGV[0] if that is
 * unknown) as "ARGV[0] --adopt LINK:EXE ARGV[1]…" (EXE: our own program) in a session of its own,
 * not as a child of this process, and turns the link to it. The caller then gives it everything:
 * link_hold, link_give of each session and program, and link_listen last. There is no hello and no
 * hand-over. Programs are not the new keeper's children: it tells their ends as before, with
 * si_code 0 if the kernel does not say how. ERR_SYSTEM: no process or descriptor; try again later,
 * backing off. */
int keeper_respawn(struct link *link, char *const argv[], struct err *err);
#endif
