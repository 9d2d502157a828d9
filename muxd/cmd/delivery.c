/* delivery: owns what an answer with output changes once its client has all of it: the reader's
 * place, and that the session's end was read. */
#include "cmd/delivery.h"
#include "base/bug.h"
#include "base/mem.h"
#include <stdlib.h>

static void delivery_on_written(void *arg, bool written)
{
    struct delivery *delivery = arg;
    struct session *session = written
                                  ? registry_by_number(delivery->ctx->registry, delivery->number)
                                  : NULL;
    if (session && !delivery->peek) {
        struct journal *journal = session_journal(session);
        journal_reader_move(journal,
                            journal_reader(journal, delivery->reader,
                                           (unsigned)delivery->ctx->config->limits.readers),
                            delivery->to);
        session_follower_at(session, delivery->follower, delivery->to, true);
        session_touch(session); /* a program that was paused for its readers goes on */
    }
    if (session && delivery->ended)
        session_end_read(session);
    free(delivery);
}

void delivery_begin(struct request *request, const struct delivery *delivery)
{
    BUG_UNLESS(delivery->ctx && delivery->number > 0);
    request_on_written(request, delivery_on_written, xmemdup(delivery, sizeof *delivery));
}
