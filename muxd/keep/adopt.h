/* adopt: the worker's remedy when its keeper has died: it starts a new one and hands everything to
 * it. */
#ifndef MUXD_KEEP_ADOPT_H
#define MUXD_KEEP_ADOPT_H
#include "keep/link.h"
/* Starts the program of the dead keeper (link_keeper_exe; ARGV[0] where it is not known) as
 * "ARGV[0] --adopt LINK:EXE ARGV[1]…" (EXE: our own program) in a session of its own, no child of
 * this process, and turns the link to it. The caller then repeats link_listen, link_hold of every
 * session, link_adopt of every program that runs, and link_drop's and acks as ever; no hello, no
 * hand-over comes back. Programs are not the new keeper's children: their ends are told as before,
 * by si_code 0 where the kernel doesn't say how. ERR_SYSTEM: no process or descriptor; try again
 * later (backing off). */
int keeper_respawn(struct link *link, char *const argv[], struct err *err);
#endif
