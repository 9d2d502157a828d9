/* oneshot: what a command printed, standard output first and standard error behind it, as
 * shell_command gives it. */
#ifndef MUXD_CMD_ONESHOT_H
#define MUXD_CMD_ONESHOT_H
#include "base/buf.h"
#include "journal/journal.h"

#define ONESHOT_CAP (1u << 20) /* bytes of both streams together (CODEX.md 13) */
#define ONESHOT_KEPT (ONESHOT_CAP / 2) /* of each end of each stream: one may have the whole cap */

/* How much of each stream is kept when both together have more than cap bytes: a third of the
 * cap for standard output, two thirds for standard error; what one stream does not need the
 * other gets. */
void oneshot_shares(uint64_t out_size, uint64_t err_size, uint64_t cap, uint64_t *out_share,
                    uint64_t *err_share);
/* Well-formed text of [0, to) of a pipe session, with to not below journal_kept_end. Of a stream
 * beyond its share the beginning and the end are kept, with the count of the bytes missing between:
 * whatever the sizes when the session was made with ONESHOT_KEPT. Returns that count for both
 * streams. */
uint64_t oneshot_collect(const struct journal *journal, uint64_t to, struct buf *text);
#endif
