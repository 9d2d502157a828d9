/* play: runs a script: one command after the other, by calls to the daemon. */
#ifndef MUXD_CLIENT_PLAY_H
#define MUXD_CLIENT_PLAY_H
#include "client/rpc/ue.h"
#include "client/script/script.h"

enum play_flags {
    PLAY_TRACE = 1, /* each command to standard error before it runs, with what it was given */
    PLAY_JSON = 2,  /* each command to standard output after it ran, as an object */
};

/* Runs it and ends the sessions that it began and did not keep. operands: of the script, borrowed.
 * What failed is told on standard error. Returns ue's exit status: that of `exit`, 0 at the end,
 * else that of what failed. */
int play_run(struct ue *ue, const struct script *script, const char *const *operands, size_t count,
             unsigned flags);
/* play_check.c: before it runs, asks the daemon whether the patterns and names of keys of a script,
 * as far as they stand there without variables, are any. Runs nothing. 0, or an error that begins
 * with the quoted 'NAME:LINE'. */
int play_check(struct ue *ue, const struct script *script, struct err *err);
#endif
