/* answer: the JSON object that exec_command, write_stdin and read_output return, with the model's
 * text in it. */
#include "cmd/answer.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cmd/denied.h"
#include "cmd/describe.h"
#include "cmd/meta.h"
#include "cmd/op.h"
#include "parts/commands/commands.h"
#include "session/nonce.h"
#include "wire/base64.h"
#include "wire/semantic.h"
#include "wire/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Six hex digits that differ from answer to answer: a linear congruential generator with a
 * random seed. */
static void chunk_id(char out[7])
{
    static uint32_t state;
    static bool begun;
    if (!begun) {
        if (getrandom(&state, sizeof state, GRND_NONBLOCK) != (ssize_t)sizeof state)
            state = (uint32_t)clock_mono_ns();
        begun = true;
    }
    state = state * 1664525u + 1013904223u;
    snprintf(out, 7, "%06x", state >> 8);
}

uint64_t answer_end(struct session *session, uint64_t from)
{
    struct journal *journal = session_journal(session);
    uint64_t to = journal_head(journal), at = to > from + 3 ? to - 3 : from;
    size_t size;
    char last[4];
    if (!session_is_live(session))
        return to;
    const char *view = journal_view(journal, &at, &size);
    uint64_t settled = commands_catch_up(session);
    if (settled < to)
        return settled > from ? settled : from;
    if (!view || size > sizeof last || at + size != to)
        return to;
    return to - utf8_incomplete_tail(view, size);
}

struct collected {
    /* the bytes; well-formed text, with a line in place of what was omitted */
    struct buf raw, text;
    uint64_t from, to, omitted;
    size_t gap_at, clamped; /* clamped: lines that max_line has cut */
};

/* Raw bytes, at most max_bytes of them. */
static void collect_bytes(const struct op *op, struct journal *journal, struct collected *got)
{
    size_t size;
    const char *view;
    uint64_t at = got->from, limit = op->has_to ? op->to : UINT64_MAX;
    got->to = got->from;
    while (got->raw.len < (size_t)op->max_bytes && at < limit &&
           (view = journal_view(journal, &at, &size)) && size > 0 && at < limit) {
        size_t room = (size_t)op->max_bytes - got->raw.len;
        if (at > got->to)
            got->omitted += at - got->to;
        size = size < room ? size : room;
        size = size < limit - at ? size : (size_t)(limit - at);
        buf_append(&got->raw, view, size);
        at += size;
        got->to = at;
    }
    if (at > got->to) { /* the journal no longer has the rest */
        got->omitted += at - got->to;
        got->to = at;
    }
}

/* On both sides of the gap: none reaches across it. */
static void strip_marks(const struct op *op, struct session *session, struct collected *got)
{
    if (op->marks || !session_is_integrated(session))
        return;
    struct buf after = BUF_INIT;
    size_t gap_at = got->gap_at < got->raw.len ? got->gap_at : got->raw.len;
    buf_append(&after, got->raw.data + gap_at, got->raw.len - gap_at);
    buf_truncate(&got->raw, gap_at);
    session_strip_marks(session, &got->raw);
    session_strip_marks(session, &after);
    if (got->omitted > 0)
        got->gap_at = got->raw.len;
    if (after.len > 0)
        buf_append(&got->raw, after.data, after.len);
    buf_fini(&after);
}

static void collect_text(const struct op *op, struct session *session, struct collected *got)
{
    struct journal *journal = session_journal(session);
    got->to = answer_end(session, got->from);
    if (op->has_to && op->to < got->to)
        got->to = op->to > got->from ? op->to : got->from;
    journal_collect(journal, got->from, got->to, ANSWER_COLLECTED_MAX, &got->raw, &got->omitted,
                    &got->gap_at);
    strip_marks(op, session, got);
    if (op->text) {
        const struct answer_bytes bytes = {got->raw.data ? got->raw.data : "", got->raw.len,
                                           got->from, got->omitted,
                                           got->omitted > 0 ? got->gap_at : SIZE_MAX};
        answer_plain(op, session, &bytes, &got->text);
    } else if (got->omitted > 0) {
        struct buf joined = BUF_INIT;
        size_t gap = got->gap_at < got->raw.len ? got->gap_at : got->raw.len;
        const char *data = got->raw.data ? got->raw.data : ""; /* the journal may have none of it */
        text_join(&joined, data, gap, data + gap, got->raw.len - gap, got->omitted);
        utf8_append_lossy(&got->text, joined.data, joined.len);
        buf_fini(&joined);
    } else if (got->raw.len > 0) {
        utf8_append_lossy(&got->text, got->raw.data, got->raw.len);
    }
}

/* Exact, but for marks. One that may not be whole is left for the next answer. */
static void collect_exact(const struct op *op, struct session *session, struct collected *got)
{
    collect_bytes(op, session_journal(session), got);
    if (op->marks || got->raw.len == 0 || !session_is_integrated(session))
        return;
    size_t open = session_strip_marks(session, &got->raw);
    bool goes_on = session_is_live(session) || got->to < journal_head(session_journal(session));
    if (!goes_on || op->has_to || open > SEMANTIC_MAX || (int64_t)open >= op->max_bytes)
        return;
    buf_truncate(&got->raw, got->raw.len - open);
    got->to -= open;
}

static void answer_collect(const struct op *op, struct session *session, struct collected *got)
{
    BUG_UNLESS(session_number(session) == op->base.number);
    uint64_t head = journal_head(session_journal(session));
    got->raw = got->text = BUF_INIT;
    got->from = op->from < head ? op->from : head;
    got->gap_at = SIZE_MAX;
    if (op->base64)
        collect_exact(op, session, got);
    else
        collect_text(op, session, got);
    BUG_UNLESS(got->from <= got->to);
}

/* Before the budget is applied, so that one line of minified text does not use it up. */
static void clamp_lines(const struct op *op, struct collected *got)
{
    struct buf clamped = BUF_INIT;
    if (op->max_line == 0 || got->text.len == 0)
        return;
    got->clamped = text_clamp_lines(&clamped, got->text.data, got->text.len, (size_t)op->max_line);
    buf_fini(&got->text);
    got->text = clamped;
}

/* The range that the text leaves out, which read_output can fetch. */
static void add_truncated(struct json *answer, const struct op *op, const struct collected *got)
{
    const struct answer_bytes bytes = {got->raw.data, got->raw.len, got->from, got->omitted,
                                       got->omitted > 0 ? got->gap_at : SIZE_MAX};
    uint64_t from = got->from, to = got->to;
    size_t budget = text_token_budget((uint64_t)op->max_tokens);
    bool cut = op->text ? got->text.len > budget || got->omitted > 0
                        : answer_cut(&bytes, got->text.len, budget, &from, &to);
    if (got->clamped == 0 && !cut)
        return;
    struct json *range = json_add_object(answer, "truncated");
    json_add_int(range, "from", (int64_t)from);
    json_add_int(range, "to", (int64_t)to);
    if (got->clamped > 0)
        json_add_int(range, "lines", (int64_t)got->clamped);
}

/* A model that polls and finds nothing new gets one line. */
static bool add_nothing_new(struct json *answer, const struct op *op, struct session *session,
                            const struct collected *got, int64_t wall_ns)
{
    struct buf line = BUF_INIT;
    if (!op->polls || meta_bool(op->base.request, "verb") || !session_is_live(session) ||
        got->to != got->from)
        return false;
    const char *waiting_for = session_waiting_for(session);
    buf_printf(&line, "Process running with session ID %llu: nothing new after %.1f seconds%s%s\n",
               (unsigned long long)session_number(session), (double)wall_ns / 1e9,
               waiting_for ? ", waits for input: " : "", waiting_for ? waiting_for : "");
    json_add_buf(answer, "content", &line);
    return true;
}

static void answer_add_content(struct json *answer, struct op *op, struct session *session,
                               const struct collected *got, const char *chunk, int64_t wall_ns)
{
    int exit_code, signo;
    struct buf content = BUF_INIT;
    bool live = session_is_live(session),
         ended = session_has_exit(session, &exit_code, &signo) && !live;
    struct text_answer text = {.chunk_id = chunk,
                               .wall_ns = wall_ns,
                               .has_exit_code = ended && exit_code >= 0,
                               .exit_code = exit_code,
                               .has_session = live,
                               .session_id = (int64_t)session_number(session),
                               .has_original = true,
                               .original_bytes = got->to - got->from,
                               .omitted_bytes = got->omitted,
                               .output = got->text.data,
                               .output_len = got->text.len,
                               .max_tokens = (uint64_t)op->max_tokens};
    text_answer(&content, &text);
    if (op->idle_interrupt)
        buf_printf(&content, "%s(the session had ended already; nothing was interrupted)\n",
                   content.len > 0 && content.data[content.len - 1] != '\n' ? "\n" : "");
    json_add_buf(answer, "content", &content);
}

static void answer_add_output(struct json *answer, struct op *op, const struct collected *got)
{
    struct buf out = BUF_INIT;
    if (op->base64) {
        base64_encode(&out, got->raw.data, got->raw.len);
        json_add_buf(answer, "output_base64", &out);
        return;
    }
    size_t budget = text_token_budget((uint64_t)op->max_tokens);
    if (!op->tokens_given || got->text.len <= budget)
        json_add_str(answer, "output", got->text.data ? got->text.data : "", got->text.len);
    else if (got->omitted > 0)
        text_formatted_omitted(&out, got->text.data, got->text.len, got->omitted,
                               got->to - got->from, budget, true);
    else
        text_formatted(&out, got->text.data, got->text.len, budget, true);
    if (out.len > 0)
        json_add_buf(answer, "output", &out);
    buf_fini(&out);
}

static void add_range(void *arg, uint64_t from, uint64_t to, bool is_stderr)
{
    if (!is_stderr)
        return;
    struct json *pair = json_add_array(arg, NULL);
    json_add_int(pair, NULL, (int64_t)from);
    json_add_int(pair, NULL, (int64_t)to);
}

struct json *answer_build(struct op *op, struct session *session, const struct wait_result *result,
                          uint64_t *to)
{
    BUG_UNLESS(op->base.request && !op->base.wait);
    struct json *answer = json_object_new();
    struct collected got = {0};
    char chunk[7];
    int64_t wall_ns = clock_mono_ns() - op->base.begun_ns;
    answer_collect(op, session, &got);
    clamp_lines(op, &got);
    chunk_id(chunk);
    if (!op->base64 && !add_nothing_new(answer, op, session, &got, wall_ns))
        answer_add_content(answer, op, session, &got, chunk, wall_ns);
    answer_add_output(answer, op, &got);
    json_add_text(answer, "chunk_id", chunk);
    json_add_double(answer, "wall_time_seconds", text_wall_seconds(wall_ns));
    if (session_is_live(session))
        json_add_int(answer, "session_id", (int64_t)session_number(session));
    json_add_int(answer, "number", (int64_t)session_number(session));
    json_add_text(answer, "name", session_name(session));
    describe_end(answer, session);
    json_add_text(answer, "reason", wait_reason_word(result->reason));
    bool matched = result->reason == WAIT_UNTIL || result->reason == WAIT_FAIL_ON;
    if (result->reason == WAIT_READY || matched)
        json_add_text(answer, "evidence", matched ? "pattern" : evidence_word(result->evidence));
    if (result->match)
        patterns_describe(answer, &op->patterns, result->match);
    if (op->held_from_ns > 0) {
        int64_t until = session_hold_ended_ns(session) ? session_hold_ended_ns(session)
                                                       : clock_mono_ns();
        json_add_int(answer, "held_ms",
                     until > op->held_from_ns ? (until - op->held_from_ns) / 1000000 : 0);
    }
    if (op->submit != SUBMIT_NOT)
        json_add_bool(answer, "submitted", op->submit == SUBMIT_DONE);
    if (op->bracketed)
        json_add_bool(answer, "bracketed", true);
    if (op->idle_interrupt)
        json_add_text(answer, "note", "the session had ended already; nothing was interrupted");
    if (op->replaced[0])
        json_add_text(answer, "replaced_reader", op->replaced);
    json_add_int(answer, "from", (int64_t)got.from);
    json_add_int(answer, "to", (int64_t)got.to);
    json_add_int(answer, "omitted_bytes", (int64_t)got.omitted);
    if (!op->base64)
        add_truncated(answer, op, &got);
    json_add_int(answer, "original_token_count", (int64_t)text_tokens(got.to - got.from));
    if (op->streams && !session_is_tty(session))
        journal_streams(session_journal(session), got.from, got.to, add_range,
                        json_add_array(answer, "stderr_ranges"));
    denied_tell(op->base.ctx, op->base.request, session, answer);
    *to = got.to;
    buf_fini(&got.raw);
    buf_fini(&got.text);
    return answer;
}
