/* input.c: owns the gate that what people and agents type goes through: keyboard, secret prompts, log; then the queue. */
#include "session/input.h"
#include "journal/inputlog.h"
#include "session/answering.h"
#include "session/internal.h"
#include "session/news.h"
#include "session/owner.h"
#include "session/recorder.h"
#include "sys/pty.h"

static bool has_text(const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)data[i] >= ' ' && data[i] != 0177)
            return true;
    return false;
}

bool session_reads_secret(const struct session *session)
{
    struct pty_mode mode;
    return session_is_tty(session) && session->out.fd >= 0 && !session->exited && pty_get_mode(session->out.fd, &mode) == 0 &&
           mode.canonical && !mode.echo;
}

bool session_reads_lines(const struct session *session)
{
    struct pty_mode mode;
    return session_is_tty(session) && session->out.fd >= 0 && pty_get_mode(session->out.fd, &mode) == 0 && mode.canonical;
}

void session_note_input(struct session *session, enum input_kind kind, const struct author *author, int detail)
{
    const struct input input = {.kind = kind, .author = author, .detail = detail, .direct = true};
    inputlog_note(session->journal, &input, journal_in_head(session->journal));
    owner_tell(session, OWNER_INPUT);
}

/* Whether it would be refused now; types nothing. */
static int may_input(struct session *session, const struct input *input, struct err *err)
{
    int code = input->steal ? 0 : owner_check(session, input->author, err);
    if (code || input->author->who != INPUT_BY_AGENT || input->kind == INPUT_SECRET || session->registry->cfg->defaults.agent_secrets)
        return code;
    if (has_text(input->data, input->size) && session_reads_secret(session))
        return err_set(err, ERR_SECRET_PROMPT, "'%s' reads a secret, which is for a person to type: `ue secret %s`", session_name(session),
                       session_name(session));
    return 0;
}

int session_input(struct session *session, const struct input *input, struct err *err)
{
    bool person = input->author->who == INPUT_BY_PERSON, hidden = session_reads_secret(session);
    struct input noted = *input;
    int code = may_input(session, input, err);
    if (!code)
        code = session_check_input(session, input->data, input->size, err);
    if (code)
        return code;
    if (input->blind || (hidden && has_text(input->data, input->size)))
        noted.kind = INPUT_SECRET;
    inputlog_note(session->journal, &noted, journal_in_head(session->journal));
    news_typed(session, input->author, input->data, input->size, noted.kind == INPUT_SECRET);
    session->held_text |= session->held && input->author->who == INPUT_BY_AGENT && has_text(input->data, input->size);
    owner_typed(session, input->author);
    owner_tell(session, OWNER_INPUT);
    if (input->keys_id) {
        answering_look(session); /* comes before it */
        inputlog_keys_note(session->journal, input->keys_id, journal_in_head(session->journal) + input->size);
    }
    /* Nobody wants a person's keys back, whatever they were. */
    code = session_type(session, input->data, input->size, input->request_hash, person || noted.kind == INPUT_SECRET, err);
    if (!code && input->author->who == INPUT_BY_AGENT && noted.kind != INPUT_SECRET && has_text(input->data, input->size))
        recorder_command(session, input->data, input->size);
    return code;
}
