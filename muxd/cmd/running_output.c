/* command_output: owns a command's own output, as a person would read it: without the echo of what
 * was typed, without the prompt behind it, without marks. */
#include "cmd/answer.h"
#include "cmd/running.h"
#include "term/plain.h"
#include "wire/base64.h"
#include "wire/text.h"
#include "session/nonce.h"
#include <string.h>

/* zsh marks a last line without an end, and wipes its mark out where there was none. */
static const char *const sp_marks[] = {"\033[1m\033[7m%\033[27m\033[1m\033[0m",
                                       "\033[1m\033[7m#\033[27m\033[1m\033[0m"};

static void drop_prompt_sp(struct buf *raw)
{
    size_t len = strlen(sp_marks[0]), end = raw->len;
    if (end < 3 || memcmp(raw->data + end - 3, "\r \r", 3) != 0)
        return;
    for (end -= 3; end > 0 && raw->data[end - 1] == ' '; end--)
        ;
    for (size_t i = 0; i < sizeof sp_marks / sizeof *sp_marks; i++)
        if (end >= len && memcmp(raw->data + end - len, sp_marks[i], len) == 0) {
            buf_truncate(raw, end - len);
            return;
        }
}

static void drop_prompt(struct buf *raw, const struct running_output *output)
{
    size_t size = output->prompt_size;
    if (size > 0 && raw->len >= size &&
        memcmp(raw->data + raw->len - size, output->prompt, size) == 0)
        buf_truncate(raw, raw->len - size);
}

static void running_text(struct session *session, const struct running_output *output,
                         const struct buf *raw, uint64_t omitted, size_t gap_at, struct buf *out)
{
    int rows = 24, cols = 0;
    session_get_own_size(session, &rows, &cols);
    struct plain *plain = plain_new(rows, cols);
    if (output->typed) {
        if (output->prompt_size > 0)
            plain_feed(plain, output->prompt, output->prompt_size);
        plain_begin(plain);
        plain_typed(plain, output->typed, strlen(output->typed));
    }
    size_t before = gap_at < raw->len ? gap_at : raw->len,
           fed = plain_feed(plain, raw->data, before);
    if (omitted > 0) {
        plain_omitted(plain, omitted);
        fed += plain_feed(plain, raw->data + before, raw->len - before);
    }
    plain_take(plain, out);
    if (fed < raw->len)
        buf_printf(out, "\n... %zu bytes omitted ...\n", raw->len - fed);
    plain_free(plain);
}

/* Of several commands: what each has printed, without the prompts and echoes between them. */
static void collect_output(struct session *session, const struct running_output *output,
                           struct buf *raw, uint64_t *omitted, size_t *gap_at)
{
    struct journal *journal = session_journal(session);
    size_t count = output->first_id ? commands_count(session) : 0, at = 0;
    *omitted = 0;
    *gap_at = SIZE_MAX;
    if (count == 0)
        journal_collect(journal, output->from, output->to, ANSWER_COLLECTED_MAX, raw, omitted,
                        gap_at);
    while (at < count && commands_at(session, at)->id < output->first_id)
        at++;
    for (; at < count; at++) {
        const struct ran_command *command = commands_at(session, at);
        uint64_t missing = 0, to = command->runs ? output->to : command->to;
        size_t gap, before = raw->len;
        if (to <= command->from)
            continue;
        journal_collect(journal, command->from, to, ANSWER_COLLECTED_MAX - before, raw, &missing,
                        &gap);
        if (missing > 0 && *gap_at == SIZE_MAX)
            *gap_at = before + gap;
        *omitted += missing;
    }
}

void running_add_output(struct json *into, struct session *session,
                        const struct running_output *output)
{
    struct buf raw = BUF_INIT, text = BUF_INIT;
    uint64_t omitted = 0;
    size_t gap_at = SIZE_MAX;
    int64_t max_line = schema_int(output->tool, output->params, "max_line", 0);
    bool exact = strcmp(schema_str(output->tool, output->params, "encoding", NULL), "base64") == 0;
    collect_output(session, output, &raw, &omitted, &gap_at);
    json_add_int(into, "from", (int64_t)output->from);
    json_add_int(into, "to", (int64_t)output->to);
    json_add_int(into, "omitted_bytes", (int64_t)omitted);
    if (exact) {
        base64_encode(&text, raw.data ? raw.data : "", raw.len);
        json_add_buf(into, "output_base64", &text);
        buf_fini(&raw);
        return;
    }
    size_t marks = raw.len;
    session_strip_marks(session, &raw);
    marks -= raw.len;
    gap_at = gap_at > marks ? gap_at - marks : 0; /* about: marks may stand on both sides of it */
    drop_prompt_sp(&raw);
    drop_prompt(&raw, output);
    if (raw.len > 0 || omitted > 0)
        running_text(session, output, &raw, omitted, gap_at, &text);
    if (max_line > 0 && text.len > 0) {
        struct buf clamped = BUF_INIT;
        text_clamp_lines(&clamped, text.data, text.len, (size_t)max_line);
        buf_fini(&text);
        text = clamped;
    }
    json_add_str(into, "output", text.data ? text.data : "", text.len);
    buf_fini(&text);
    buf_fini(&raw);
}
