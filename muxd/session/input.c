/* input.c: owns the gate for all that people and agents type: parts may refuse it, the input log
 * takes it, parts are told of it, and then it is queued. */
#include "session/input.h"
#include "base/bug.h"
#include "journal/inputlog.h"
#include "session/internal.h"
#include "sys/pty.h"

bool input_has_text(const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)data[i] >= ' ' && data[i] != 0177)
            return true;
    return false;
}

void session_note_input(struct session *session, enum input_kind kind, const struct author *author,
                        int detail)
{
    BUG_UNLESS(author && kind != INPUT_SECRET);
    const struct input input = {.kind = kind, .author = author, .detail = detail, .direct = true};
    inputlog_note(session->journal, &input, journal_in_head(session->journal));
    part_input(session, &input);
}

int session_input(struct session *session, const struct input *input, struct err *err)
{
    BUG_UNLESS(input->author && !session->gone);
    bool hidden = session_reads_secret(session);
    bool has_text = input_has_text(input->data, input->size);
    struct input noted = *input;
    int code = part_check_input(session, input, err);
    if (!code)
        code = session_check_input(session, input->data, input->size, NULL, err);
    if (code)
        return code;
    if (input->blind || (hidden && has_text))
        noted.kind = INPUT_SECRET;
    echoes_typed(session, &noted); /* first: it reads the log of what was typed before */
    inputlog_note(session->journal, &noted, journal_in_head(session->journal));
    part_input(session, &noted);
    if (input->author->who == INPUT_BY_AGENT && has_text)
        session_hold_text(session);
    if (input->keys_id) {
        part_answer(session); /* so that the end of the queue is known */
        inputlog_keys_note(session->journal, input->keys_id,
                           journal_in_head(session->journal) + input->size);
    }
    /* A person's keys are not kept, whatever they were. */
    bool person = input->author->who == INPUT_BY_PERSON, secret = noted.kind == INPUT_SECRET;
    return session_queue_input(session, input, person || secret, secret ? NULL : input->author,
                               err);
}
