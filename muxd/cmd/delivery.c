/* delivery: owns what an answer with output changes, and only once its client has all of it: a
 * reader's place, and whether somebody knows of the session's end. */
#include "cmd/delivery.h"
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
        session_touch(session); /* one that was paused for its readers goes on */
    }
    if (session && delivery->ended)
        session_end_read(session);
    free(delivery);
}

void delivery_begin(struct request *request, const struct delivery *delivery)
{
    request_on_written(request, delivery_on_written, xmemdup(delivery, sizeof *delivery));
}
