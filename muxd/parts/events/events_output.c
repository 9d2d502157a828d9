/* events_output: owns what is told of a session's output: which pieces, when, and what was lost. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "parts/events/events_internal.h"
#include "session/nonce.h"
#include "wire/semantic.h"
#include <stdlib.h>

#define PAUSE_MS 10      /* between two pieces of a program that prints without end */
#define PIECES_MAX 10000 /* of one command's output (CODEX.md 12); its end has all of it */

static void tell_piece(struct session *session, uint64_t from, uint64_t to, bool is_stderr)
{
    struct registry *registry = session->registry;
    BUG_UNLESS(from < to && events_of_session(session)->pieces < PIECES_MAX);
    struct json *output = events_object(registry, EVENT_OUTPUT, session);
    json_add_text(output, "stream", is_stderr ? "stderr" : "stdout");
    json_add_int(output, "from", (int64_t)from);
    json_add_int(output, "to", (int64_t)to);
    /* the pieces end here, the output need not */
    if (++events_of_session(session)->pieces == PIECES_MAX)
        json_add_bool(output, "last", true);
    events_publish(registry, EVENT_OUTPUT, session, from, to, output);
}

/* Bytes at the end that more bytes would complete: of a character, or of a mark of ours. */
static size_t open_end(struct session *session, const char *data, size_t size)
{
    struct buf copy = BUF_INIT;
    size_t most = size < SEMANTIC_MAX ? size : SEMANTIC_MAX;
    if (!session_is_integrated(session))
        return utf8_incomplete_tail(data, size);
    buf_append(&copy, data + size - most, most);
    size_t open = session_strip_marks(session, &copy);
    buf_fini(&copy);
    return open > 0 ? open : utf8_incomplete_tail(data, size);
}

/* The end of a piece that begins at `from`, at most `to`: at the boundary of a character, as far
 * as the output is text. */
static uint64_t end_of_piece(struct session *session, uint64_t from, uint64_t to)
{
    uint64_t at = from;
    size_t size;
    const char *view = journal_view(session->journal, &at, &size);
    uint64_t end = to - from > EVENTS_TEXT_MAX ? from + EVENTS_TEXT_MAX : to;
    if (!view || at != from || at + size < end)
        return end;
    size_t open = open_end(session, view, (size_t)(end - from));
    return open < end - from ? end - open : end;
}

static void tell_run(void *arg, uint64_t from, uint64_t to, bool is_stderr)
{
    struct session *session = arg;
    while (from < to && events_of_session(session)->pieces < PIECES_MAX) {
        uint64_t end = end_of_piece(session, from, to);
        tell_piece(session, from, end, is_stderr);
        from = end;
    }
}

static void tell_output(struct session *session, uint64_t to)
{
    struct events_of_session *own = events_of_session(session);
    uint64_t from = own->told_to;
    if (from < journal_tail(session->journal) && to > journal_tail(session->journal) &&
        !(atomic_load(&session->journal->header->saved_len)))
        from = journal_tail(session->journal);
    own->told_to = to;
    if (to <= from || own->pieces >= PIECES_MAX)
        return;
    if (session_is_tty(session))
        tell_run(session, from, to, false);
    else
        journal_streams(session->journal, from, to, tell_run, session);
}

/* How far output can be told: an incomplete character waits for its rest. */
static uint64_t whole_head(struct session *session)
{
    uint64_t head = journal_head(session->journal), told_to = events_of_session(session)->told_to;
    uint64_t most = session_is_integrated(session) ? SEMANTIC_MAX : 3;
    uint64_t at = head > told_to + most ? head - most : told_to;
    size_t size;
    const char *view = journal_view(session->journal, &at, &size);
    if (!view || size > most || at + size != head)
        return head;
    return head - open_end(session, view, size);
}

/* True: output is told. Output from before a listener came is passed over. */
static bool follows_output(struct session *session, uint64_t seen_head)
{
    const struct events *events = events_of(session->registry);
    if (!events_wants(session->registry, EVENT_OUTPUT) || !session->journal->header->told_begin)
        return false;
    struct events_of_session *own = events_of_session(session);
    if (own->epoch != events->output_epoch) {
        own->epoch = events->output_epoch;
        own->told_to = seen_head;
    }
    return true;
}

static void events_output_on_pause(void *arg)
{
    struct events_of_session *own = arg;
    if (follows_output(own->session, own->session->seen_head))
        tell_output(own->session, whole_head(own->session));
}

struct events_of_session *events_of_session(struct session *session)
{
    struct events_of_session *own = session->part[PART_EVENTS];
    if (!own) {
        session->part[PART_EVENTS] = own = xcalloc(1, sizeof *own);
        own->session = session;
        loop_timer_init(&own->pause, session->registry->loop, events_output_on_pause, own);
    }
    return own;
}

void events_free(struct session *session)
{
    struct events_of_session *own = session->part[PART_EVENTS];
    if (own)
        loop_timer_stop(&own->pause);
    free(own);
    session->part[PART_EVENTS] = NULL;
}

void events_output_rest(struct session *session)
{
    struct events_of_session *own = session->part[PART_EVENTS];
    if (own)
        loop_timer_stop(&own->pause);
    if (follows_output(session, session->seen_head))
        tell_output(session, journal_head(session->journal));
}

void events_output_pending(struct session *session)
{
    struct events_of_session *own = session->part[PART_EVENTS];
    if (own && loop_timer_is_set(&own->pause))
        events_output_on_pause(own);
}

/* Bytes that the default reader has not got and never will. */
static uint64_t lost_bytes(const struct journal_header *header)
{
    uint64_t cursor = atomic_load(&header->readers[0].cursor),
             tail = atomic_load(&header->out_tail);
    uint64_t saved_from = atomic_load(&header->saved_from),
             saved_to = saved_from + atomic_load(&header->saved_len);
    if (tail <= cursor)
        return 0;
    if (saved_to > cursor && saved_from <= cursor)
        cursor = saved_to;
    return tail > cursor ? tail - cursor : 0;
}

static void look_for_loss(struct session *session)
{
    uint64_t lost = lost_bytes(session->journal->header);
    struct events_of_session *own = events_of_session(session);
    if (lost > 0 && !own->lost) {
        struct json *object = events_object(session->registry, EVENT_LOST, session);
        json_add_int(object, "lost_bytes", (int64_t)lost);
        json_add_int(object, "output_bytes", (int64_t)journal_head(session->journal));
        events_publish(session->registry, EVENT_LOST, session, 0, 0, object);
    }
    own->lost = lost > 0;
}

void events_output_look(struct session *session, uint64_t seen_head)
{
    if (follows_output(session, seen_head) &&
        !loop_timer_is_set(&events_of_session(session)->pause)) {
        tell_output(session, whole_head(session));
        loop_timer_set_ms(&events_of_session(session)->pause, PAUSE_MS);
    }
    if (journal_tail(session->journal) > 0)
        look_for_loss(session);
}
