/* oneshot: what a command printed, standard output first and standard error behind it, as
 * shell_command gives it. */
#ifndef MUXD_CMD_ONESHOT_H
#define MUXD_CMD_ONESHOT_H
#include "base/buf.h"
#include "journal/journal.h"

#define ONESHOT_CAP (1u << 20) /* bytes of both streams together (CODEX.md 13) */

/* How much of each stream is kept when both have more than cap bytes: a third is standard output's,
 * two thirds are standard error's, and what one doesn't need is the other's. */
void oneshot_shares(uint64_t out_size, uint64_t err_size, uint64_t cap, uint64_t *out_share,
                    uint64_t *err_share);
/* Well-formed text of [0, to) of a pipe session; each stream beyond its share has its beginning and
 * its end with the count of what is missing between. Returns that count for both. */
uint64_t oneshot_collect(const struct journal *journal, uint64_t to, struct buf *text);
#endif
