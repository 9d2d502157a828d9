/* input.c: owns the gate that what people and agents type goes through: the parts that may refuse
 * it, the log, those that tell of it; then the queue. */
#include "session/input.h"
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
    const struct input input = {.kind = kind, .author = author, .detail = detail, .direct = true};
    inputlog_note(session->journal, &input, journal_in_head(session->journal));
    part_input(session, &input);
}

int session_input(struct session *session, const struct input *input, struct err *err)
{
    bool hidden = session_reads_secret(session),
         has_text = input_has_text(input->data, input->size);
    struct input noted = *input;
    int code = part_check_input(session, input, err);
    if (!code)
        code = session_check_input(session, input->data, input->size, err);
    if (code)
        return code;
    if (input->blind || (hidden && has_text))
        noted.kind = INPUT_SECRET;
    inputlog_note(session->journal, &noted, journal_in_head(session->journal));
    part_input(session, &noted);
    if (input->author->who == INPUT_BY_AGENT && has_text)
        session_hold_text(session);
    if (input->keys_id) {
        part_answer(session); /* comes before it */
        inputlog_keys_note(session->journal, input->keys_id,
                           journal_in_head(session->journal) + input->size);
    }
    /* Nobody wants a person's keys back, whatever they were. */
    bool person = input->author->who == INPUT_BY_PERSON, secret = noted.kind == INPUT_SECRET;
    return session_queue_input(session, input, person || secret, secret ? NULL : input->author,
                               err);
}
