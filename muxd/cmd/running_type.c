/* command_type: owns how a command is typed, and the wait that begins before it is. */
#include "base/clock.h"
#include "cmd/running.h"
#include "cmd/meta.h"
#include "parts/view/queries.h"
#include "session/nonce.h"
#include "term/modes.h"
#include "term/paste.h"
#include <string.h>

#define PROMPT_MAX 4096 /* bytes of the line in which it is typed */

int running_wait(struct running *running, struct session *session, int64_t deadline_ns,
                 struct err *err)
{
    const struct wait_spec spec = {
        .ready = true,
        .quiet_ms = -1,
        .linger_ms = 0,
        .deadline_ns = deadline_ns < running->deadline_ns ? deadline_ns : running->deadline_ns,
        .from = journal_head(session_journal(session))};
    return inflight_wait(&running->base, session, &spec, err);
}

int running_wait_answer(struct running *running, struct session *session, struct err *err)
{
    return running_wait(running, session, clock_mono_ns() + RUNNING_ANSWER_MS * RUNNING_NS_PER_MS,
                        err);
}

int running_type(struct running *running, struct session *session, const char *data, size_t size,
                 enum input_kind kind, uint64_t request_hash, struct err *err)
{
    const struct author author = meta_author(running->base.ctx, running->base.request,
                                             INPUT_BY_AGENT);
    const struct input input = {
        .data = data, .size = size, .kind = kind, .author = &author, .request_hash = request_hash};
    return session_input(session, &input, err);
}

/* How it is typed: as a paste where the program asks for that and it is more than one line of
 * plain characters, else line by line. */
static void gather_command(struct running *running, struct session *session, struct buf *out)
{
    size_t size;
    const char *text = schema_str(running->base.tool, request_params(running->base.request),
                                  "command", &size);
    bool plain = true, paste = modes_has(session_modes(session), MODE_BRACKETED_PASTE);
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
        size--;
    for (size_t i = 0; i < size; i++)
        plain &= (unsigned char)text[i] >= ' ';
    if (!plain && paste && (!running->adapter || running->adapter->paste)) {
        paste_append(out, text, size, true);
    } else {
        for (size_t i = 0; i < size; i++) {
            if (text[i] == '\t' && running->adapter && running->adapter->quotes)
                buf_append_byte(out, 'V' & 0x1f);
            buf_append_byte(out, text[i] == '\n' ? '\r' : text[i]);
        }
    }
    buf_append_byte(out, '\r');
    const char *line = memrchr(text, '\n', size);
    if (running->adapter && running->adapter->blocks && line && (line[1] == ' ' || line[1] == '\t'))
        buf_append_byte(out, '\r');
}

void running_note_prompt(struct running *running, struct session *session, uint64_t end)
{
    struct journal *journal = session_journal(session);
    uint64_t from = end > PROMPT_MAX ? end - PROMPT_MAX : 0;
    size_t size;
    const char *data = journal_view(journal, &from, &size);
    buf_clear(&running->prompt);
    if (data && from < end && from + size >= end) {
        size = (size_t)(end - from);
        const char *line = memrchr(data, '\n', size);
        size_t skip = line ? (size_t)(line + 1 - data) : 0;
        buf_append(&running->prompt, data + skip, size - skip);
    }
    session_strip_marks(session, &running->prompt);
}

int running_type_command(struct running *running, struct session *session, struct err *err)
{
    struct buf input = BUF_INIT;
    struct commands_where where;
    size_t size;
    const char *text = schema_str(running->base.tool, request_params(running->base.request),
                                  "command", &size);
    running->step = RUNNING_COMMAND;
    running->typed_at = journal_head(session_journal(session));
    running->typed_ms = clock_real_ms();
    running->typed_ns = clock_mono_ns();
    commands_place(session, &where);
    running->first_id = running->marked ? where.input_from : 0;
    running_note_prompt(running, session, running->typed_at);
    gather_command(running, session, &input);
    int code = running_wait(running, session, INT64_MAX, err);
    if (!code && running->marked)
        commands_expect(session, text, size);
    if (!code)
        code = running_type(running, session, input.data, input.len, INPUT_TEXT,
                            meta_request_hash(running->base.request), err);
    buf_fini(&input);
    return code;
}
