/* reserve: descriptors that lead nowhere, kept back for clients: when everything else has taken
 * what there was, somebody must still get in to look and to end something. */
#ifndef MUXD_BASE_RESERVE_H
#define MUXD_BASE_RESERVE_H
#include <stdbool.h>
#include <stddef.h>

#define RESERVE_MAX 6 /* fewer than a session needs while it is made: none can come of them */
void reserve_fill(void); /* as many as can be had; standard input is open */
void reserve_release(size_t keep); /* all but so many: for what comes next */
size_t reserve_count(void);
/* it was filled once, and is not whole: what can do without a descriptor leaves them alone */
bool reserve_is_short(void);
#endif
