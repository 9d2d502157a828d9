/* command_integrate: owns the two lines that make a program write marks. The first one can be seen:
 * it switches the echo off and reads a line. The second one has the nonce: it goes the way of
 * secrets, is in no log and on no screen, and then the echo of the first one is wiped out. */
#include "base/bug.h"
#include "base/clock.h"
#include "cmd/running.h"
#include "cmd/meta.h"
#include "parts/keyboard/secret.h"
#include "term/screen.h"
#include "session/nonce.h"
#include <string.h>

#define ROWS_MAX 10 /* a longer echo stays where it is */
#define ECHO_MAX 16384

static int running_not(struct running *running, const char *why, struct err *err)
{
    running->why_not = why;
    return err_set(err, ERR_NOT_AVAILABLE, "%s", why);
}

/* Lines from the one in which the program was asked down to the cursor. */
static int rows_of_echo(const struct running *running, struct session *session)
{
    struct buf raw = BUF_INIT;
    uint64_t omitted;
    size_t gap_at;
    int rows = 0, cols = 80;
    session_get_own_size(session, &rows, &cols);
    struct screen *screen = screen_new(ROWS_MAX * 2, cols, 0);
    journal_collect(session_journal(session), running->typed_at,
                    journal_head(session_journal(session)), ECHO_MAX, &raw, &omitted, &gap_at);
    if (running->prompt.len > 0)
        screen_feed(screen, running->prompt.data, running->prompt.len);
    if (raw.len > 0)
        screen_feed(screen, raw.data, raw.len);
    int row = screen_cursor(screen).row;
    screen_free(screen);
    buf_fini(&raw);
    return row < 1 ? 1 : row > ROWS_MAX ? 1 : row;
}

int running_ask(struct running *running, struct session *session, struct err *err)
{
    struct buf line = BUF_INIT;
    BUG_UNLESS(running->adapter);
    if (secret_is_staged(session))
        return running_not(running, "a secret is staged, which the question would be given", err);
    commands_begin(session);
    running->step = RUNNING_ASKED;
    running->typed_at = journal_head(session_journal(session));
    running->level = running->typed_at + 1; /* never 0 */
    buf_printf(&line, "%s\r", running->adapter->ask);
    running_note_prompt(running, session, running->typed_at);
    int code = running_wait_answer(running, session, err);
    if (!code)
        code = running_type(running, session, line.data, line.len, INPUT_TEXT,
                            running_question_hash(running->level), err);
    buf_fini(&line);
    return code;
}

/* Typed as muxd's own, and as a secret: agents type no text where nothing is echoed. Whose keyboard
 * it is has been checked again by then. */
static int type_line(struct running *running, struct session *session, const struct buf *line,
                     struct err *err)
{
    const struct author agent = meta_author(running->base.ctx, running->base.request,
                                            INPUT_BY_AGENT);
    struct author author = agent;
    author.who = INPUT_BY_MUXD;
    const struct input input = {.data = line->data,
                                .size = line->len,
                                .kind = INPUT_SECRET,
                                .author = &author,
                                .blind = true};
    int code = keyboard_check(session, &agent, err);
    if (!code)
        code = running_wait_answer(running, session, err);
    return code ? code : session_input(session, &input, err);
}

int running_answered(struct running *running, struct session *session, struct err *err)
{
    char word[16];
    struct buf line;
    uint64_t asked_at;
    commands_catch_up(session);
    if (running_found(session, &asked_at) == RUNNING_LINE && asked_at == running->typed_at) {
        running->step = RUNNING_LINE; /* another call has typed it meanwhile */
        running->typed_ns = clock_mono_ns();
        return running_wait_answer(running, session, err);
    }
    if (!commands_was_answered(session, running->typed_at, word))
        return running_not(running, "its program did not answer the line that asks for marks", err);
    buf_init_wiping(&line, 0);
    int rows = rows_of_echo(running, session);
    if (!adapter_line(&line, word, session_nonce(session), running->level, rows)) {
        buf_fini(&line);
        return running_not(running, "its program answered a word that nobody knows", err);
    }
    buf_append_byte(&line, '\n');
    running->step = RUNNING_LINE;
    running->typed_ns = clock_mono_ns();
    int code = type_line(running, session, &line, err);
    buf_fini(&line);
    return code;
}

bool running_came(struct running *running, struct session *session)
{
    struct commands_where where;
    commands_catch_up(session);
    enum commands_place place = commands_place(session, &where);
    if (place == COMMANDS_PROMPT && where.level == running->level)
        return true;
    running->why_not = "its program took the line, and no marks came";
    return false;
}
