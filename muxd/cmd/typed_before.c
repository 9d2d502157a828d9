/* typed_before: owns the finding of a request's input in the input log. */
#include "cmd/typed_before.h"
#include "journal/inputlog.h"
#include "session/session.h"

#define EVENTS_MAX 256 /* of the input log */

struct typed_place {
    uint64_t input_end; /* where the input of the request ended */
    uint64_t output_at;
};

static void find_typed(void *arg, const struct input_event *event)
{
    struct typed_place *place = arg;
    if (event->from < place->input_end && event->to >= place->input_end)
        place->output_at = event->output_at;
}

bool typed_before(struct session *session, uint64_t hash, uint64_t *output_at)
{
    struct journal *journal = session_journal(session);
    struct typed_place place = {.output_at = journal_head(journal)};
    if (!hash || (!journal_request_done(journal, hash ^ TYPED_BODY_HASH, &place.input_end) &&
                  !journal_request_done(journal, hash, &place.input_end)))
        return false;
    uint64_t last = inputlog_last(journal);
    inputlog_read(journal, last > EVENTS_MAX ? last - EVENTS_MAX : 0, EVENTS_MAX, find_typed,
                  &place);
    *output_at = place.output_at;
    return true;
}
