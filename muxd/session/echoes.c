/* echoes: owns a session's record of what was typed, and feeds it the output that may repeat it. */
#include "session/echoes.h"
#include "base/buf.h"
#include "base/mem.h"
#include "journal/inputlog.h"
#include "session/internal.h"
#include "sys/pty.h"
#include "term/echo.h"
#include "term/modes.h"
#include <stdlib.h>
#include <string.h>

#define GAP 65536  /* bytes of output that nobody has searched: what was typed before is done */
#define PIECE 4096 /* bytes that are fed at once */
#define EVENTS 4   /* of a predecessor's input log that may not be repeated yet */

struct echoes {
    struct echo *echo; /* owned */
    struct buf unsent; /* typed, and still in the queue; all of it becomes sent at once */
    bool held;         /* the last echoes_hold was not decided */
};

void echoes_free(struct echoes *echoes)
{
    if (!echoes)
        return;
    echo_free(echoes->echo);
    buf_fini(&echoes->unsent);
    free(echoes);
}

/* Where the line begins that the output at `at` goes on with, as far as that is kept near. */
static uint64_t line_start(const struct session *session, uint64_t at)
{
    size_t size;
    uint64_t from = at > ECHO_CONTEXT ? at - ECHO_CONTEXT : 0;
    const char *view = journal_view(session->journal, &from, &size);
    if (!view || from >= at || size < at - from)
        return at;
    const char *end = memrchr(view, '\n', (size_t)(at - from));
    return end ? from + (uint64_t)(end + 1 - view) : from;
}

static void begin(struct session *session, uint64_t at)
{
    int rows, cols;
    uint64_t modes = atomic_load(&session->journal->header->modes);
    struct echo *echo = session->echoes->echo;
    if (echo_waits(echo) && at - echo_next(echo) <= GAP)
        return;
    echo_begin(echo, line_start(session, at), modes_has(modes, MODE_BRACKETED_PASTE),
               modes_has(modes, MODE_ALTERNATE_SCREEN));
    if (session_get_size(session, &rows, &cols) == 0)
        echo_resize(echo, (size_t)cols);
}

void echoes_rest(struct session *session)
{
    if (session->echoes)
        echo_rest(session->echoes->echo);
}

/* False: nobody repeats it. */
static bool repeats(const struct session *session, enum echo_by *by)
{
    struct pty_mode mode;
    if (session->out.fd < 0 || pty_get_mode(session->out.fd, &mode) != 0)
        return false;
    *by = mode.echo ? ECHO_BY_KERNEL : ECHO_BY_PROGRAM;
    return mode.echo || !mode.canonical;
}

static void recover_event(void *arg, const struct input_event *event)
{
    struct session *session = arg;
    enum echo_by by;
    bool text = event->kind == INPUT_TEXT || event->kind == INPUT_KEYS ||
                event->kind == INPUT_PASTE;
    if (!text || event->who != INPUT_BY_AGENT || event->text_size == 0 ||
        event->text_size < event->bytes || !repeats(session, &by))
        return;
    begin(session, event->output_at);
    echo_typed(session->echoes->echo, event->output_at, event->text, event->text_size, by);
}

/* The first time: a predecessor may have typed what is not repeated yet. */
static struct echoes *echoes_of(struct session *session)
{
    if (session->echoes || !session_is_tty(session))
        return session->echoes;
    session->echoes = xcalloc(1, sizeof *session->echoes);
    session->echoes->echo = echo_new(80);
    session->echoes->unsent = BUF_INIT;
    uint64_t last = inputlog_last(session->journal);
    if (last > 0)
        inputlog_read(session->journal, last > EVENTS ? last - EVENTS : 0, EVENTS, recover_event,
                      session);
    return session->echoes;
}

void echoes_typed(struct session *session, const struct input *input)
{
    bool text = input->kind == INPUT_TEXT || input->kind == INPUT_KEYS ||
                input->kind == INPUT_PASTE;
    if (!text || input->author->who != INPUT_BY_AGENT || input->direct || input->size == 0)
        return;
    struct echoes *echoes = echoes_of(session);
    if (echoes && echoes->unsent.len < ECHO_BYTES_MAX)
        buf_append(&echoes->unsent, input->data, input->size);
}

void echoes_sent(struct session *session)
{
    struct echoes *echoes = session->echoes;
    enum echo_by by;
    if (!echoes || echoes->unsent.len == 0)
        return;
    uint64_t head = journal_head(session->journal);
    if (repeats(session, &by)) {
        begin(session, head);
        echo_typed(echoes->echo, head, echoes->unsent.data, echoes->unsent.len, by);
    }
    buf_fini(&echoes->unsent);
    echoes->unsent = BUF_INIT;
}

/* Feeds what has come. */
static void echoes_catch_up(struct session *session, struct echo *echo)
{
    size_t size;
    uint64_t head = journal_head(session->journal);
    while (echo_waits(echo) && echo_next(echo) < head) {
        uint64_t from = echo_next(echo);
        const char *view = journal_view(session->journal, &from, &size);
        if (!view)
            return;
        if (from > echo_next(echo)) { /* bytes are gone */
            echo_begin(echo, from, false, false);
            return;
        }
        echo_feed(echo, view, size < PIECE ? size : PIECE);
    }
}

int64_t echoes_due_ns(const struct session *session)
{
    const struct echoes *echoes = session->echoes;
    if (!echoes || !echoes->held)
        return INT64_MAX;
    return session->last_output_ns + session->registry->cfg->defaults.raw_quiet_ms * NS_PER_MS;
}

uint64_t echoes_hold(struct session *session)
{
    struct echoes *echoes = echoes_of(session);
    if (!echoes)
        return UINT64_MAX;
    echoes_catch_up(session, echoes->echo);
    uint64_t hold = echo_hold(echoes->echo);
    if (hold >= journal_head(session->journal)) /* nothing has come yet */
        hold = UINT64_MAX;
    bool over = session->finished ||
                (echoes->held && echoes_due_ns(session) <= loop_now_ns(session->registry->loop) &&
                 !session_io_unread(session));
    if (hold != UINT64_MAX && over) {
        echo_give_up(echoes->echo);
        hold = UINT64_MAX;
    }
    echoes->held = hold != UINT64_MAX;
    return hold;
}

bool echoes_cover(const struct session *session, uint64_t from, uint64_t to, uint64_t *next)
{
    return session->echoes && echo_covers(session->echoes->echo, from, to, next);
}
