/* able: what this machine has for sandboxes, as it is found without a registry (sandbox.h has the
 * daemon's own knowledge of it). */
#ifndef MUXD_SESSION_ABLE_H
#define MUXD_SESSION_ABLE_H
#include "confine/confine.h"

#define ABLE_TRIAL_MS 10000

/* Finds the programs and asks the kernel; able is empty before. Nothing is tried. */
void able_look(struct confine_able *able);
/* Whether muxd-confine is there now, wherever it was found before. 0 or ERR_NOT_AVAILABLE. */
int able_check_helper(const char *helper, struct err *err);
/* The outcome of the trial, which try_run gave. */
void able_tried(struct confine_able *able, int status, const char *text);
/* Looks, and makes the trial where there is something to try: blocks meanwhile. */
void able_find_out(struct confine_able *able);
void able_fini(struct confine_able *able); /* empty afterwards */
#endif
