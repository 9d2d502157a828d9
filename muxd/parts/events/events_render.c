/* events_render: owns the text of an event: what stands in the ring, and what the session's
 * journal adds to it. */
#include "base/bug.h"
#include "base/utf8.h"
#include "parts/events/events.h"
#include "session/internal.h"
#include "session/nonce.h"
#include "wire/text.h"

static void events_render_add_text(struct buf *out, const char *key, const struct buf *text)
{
    buf_printf(out, ",\"%s\":", key);
    json_print_str(out, text->data ? text->data : "", text->len);
}

/* Bytes that the journal no longer has are told as omitted. */
static void add_piece(struct buf *out, struct session *session, uint64_t from, uint64_t to)
{
    struct buf raw = BUF_INIT, text = BUF_INIT;
    size_t gap_at;
    uint64_t omitted = 0;
    journal_collect(session->journal, from, to, EVENTS_TEXT_MAX, &raw, &omitted, &gap_at);
    session_strip_marks(session, &raw);
    utf8_append_lossy(&text, raw.data ? raw.data : "", raw.len);
    events_render_add_text(out, "text", &text);
    if (omitted > 0)
        buf_printf(out, ",\"omitted_bytes\":%llu", (unsigned long long)omitted);
    buf_fini(&raw);
    buf_fini(&text);
}

static void add_aggregated(struct buf *out, struct session *session, uint64_t to, size_t max)
{
    struct buf raw = BUF_INIT, joined = BUF_INIT, text = BUF_INIT;
    size_t gap_at = SIZE_MAX;
    uint64_t omitted = 0;
    journal_collect(session->journal, 0, to, max, &raw, &omitted, &gap_at);
    const char *data = raw.data ? raw.data : "";
    size_t gap = omitted > 0 && gap_at < raw.len ? gap_at : raw.len;
    if (omitted > 0)
        text_join(&joined, data, gap, data + gap, raw.len - gap, omitted);
    else
        buf_append(&joined, data, raw.len);
    session_strip_marks(session, &joined);
    utf8_append_lossy(&text, joined.data ? joined.data : "", joined.len);
    events_render_add_text(out, "aggregated_output", &text);
    buf_printf(out, ",\"omitted_bytes\":%llu", (unsigned long long)omitted);
    buf_fini(&raw);
    buf_fini(&joined);
    buf_fini(&text);
}

void events_render(struct registry *registry, const struct event_record *record, const char *text,
                   size_t aggregated_max, struct buf *out)
{
    BUG_UNLESS(record->type < EVENT_COUNT_);
    struct session *session = record->session ? registry_by_number(registry, record->session)
                                              : NULL;
    if (record->text_size < 2) { /* it was too large for the ring */
        buf_printf(
            out, "{\"seq\":%llu,\"type\":\"%s\",\"session_id\":%llu,\"name\":\"%s\",\"cut\":true}",
            (unsigned long long)record->seq, event_rows[record->type].name,
            (unsigned long long)record->session, record->name);
        return;
    }
    buf_append(out, text, record->text_size - 1); /* without its closing brace */
    if (session && record->type == EVENT_OUTPUT)
        add_piece(out, session, record->from, record->to);
    if (session && record->type == EVENT_END && aggregated_max > 0)
        add_aggregated(out, session, record->to, aggregated_max);
    buf_append_byte(out, '}');
}
