/* attach_keyboard: owns what an attached person does with the keyboard, and what they are told
 * about it. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/attachment.h"
#include "cmd/describe.h"
#include "cmd/meta.h"
#include "journal/inputlog.h"
#include "parts/keyboard/secret.h"
#include "parts/keyboard/secret_prompt.h"
#include "parts/record/recorder.h"
#include "peer/stream.h"
#include "term/cells.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void attach_keyboard_status(struct attachment *attachment, struct session *session, int notice_row)
{
    struct keyboard_holder state;
    struct buf text = BUF_INIT;
    struct json *status = json_object_new();
    keyboard_holder_get(session, &state);
    bool own = state.kind == HOLDER_PERSON && state.peer == attachment->author.peer;
    json_add_text(status, "keyboard", own ? "you" : keyboard_holder_word(state.kind));
    describe_owner(status, &state);
    if (notice_row > 0)
        json_add_int(status, "notice_row", notice_row);
    const struct screen *screen = attachment->watch ? watch_screen(attachment->watch) : NULL;
    if (screen) {
        int first, last;
        paint_prompt_rows(attachment->paint, screen, &first, &last);
        json_add_int(status, "prompt_first", first + 1);
        json_add_int(status, "prompt_last", last + 1);
    }
    json_print(&text, status);
    if (!attachment->finished && text.len < ATTACH_PAYLOAD_MAX)
        stream_send(attachment->peer, ATTACH_STATUS, text.data, text.len);
    json_free(status);
    buf_fini(&text);
}

static void say(struct attachment *attachment, const char *what, const char *name)
{
    char *text = xasprintf("%s%s", name, what);
    attachment_notice(attachment, text);
    free(text);
}

static bool looks_asked_for(struct session *session)
{
    struct journal *journal = session_journal(session);
    uint64_t head = journal_head(journal),
             from = head > SECRET_PROMPT_BYTES ? head - SECRET_PROMPT_BYTES : 0;
    size_t size;
    const char *tail = journal_view(journal, &from, &size);
    return tail && secret_prompt_shows(tail, size);
}

/* Where a person can be meant: the program reads without echo, and its output asks for a secret, or
 * one was staged for it. The notice leaves the prompt uncovered. */
static void say_secret(struct attachment *attachment, struct session *session)
{
    const char *what = secret_was_lost(session)
                           ? ": asks for a secret; the staged one is gone with a restart of muxd"
                       : attachment->read_only
                           ? ": asks for a secret"
                           : ": asks for a secret; type it here, it is not recorded";
    if (!secret_was_lost(session) && !looks_asked_for(session))
        return;
    char *text = xasprintf("%s%s", session_name(session), what),
         *brief = xasprintf("%s: asks for a secret", session_name(session));
    const char *const texts[] = {text, brief, "a secret, please", "secret", NULL};
    attachment_notice(attachment, attach_notice_fitting(attachment, texts));
    free(text);
    free(brief);
}

static void on_owner(void *arg, unsigned events)
{
    struct attachment *attachment = arg;
    struct session *session = attachment_session(attachment);
    struct keyboard_holder state;
    if (!session || attachment->finished)
        return;
    keyboard_holder_get(session, &state);
    if (events & KEYBOARD_CHANGED)
        attach_keyboard_status(attachment, session, 0);
    if ((events & KEYBOARD_WANTED) && state.kind == HOLDER_PERSON &&
        state.peer == attachment->author.peer)
        say(attachment,
            ": an agent wants to type; you have the keyboard (\020 g gives it back)",
            session_name(session));
    if (events & KEYBOARD_SECRET)
        say_secret(attachment, session);
}

void attach_keyboard_begin(struct attachment *attachment, struct session *session,
                           struct request *request, enum input_who who)
{
    BUG_UNLESS(!attachment->keyboard && attachment->number == session_number(session));
    const char *client = meta_str(request, "client");
    snprintf(attachment->client, sizeof attachment->client, "%s", client ? client : "");
    attachment->author = meta_author(attachment->ctx, request, who);
    attachment->author.client = attachment->client;
    attachment->author.call_id = NULL;
    attachment->keyboard = keyboard_watch(
        session, KEYBOARD_CHANGED | KEYBOARD_SECRET | KEYBOARD_WANTED, on_owner, attachment);
    if (!attachment->read_only && who == INPUT_BY_PERSON)
        keyboard_joined(session, &attachment->author);
}

/* Enter ends a command. Its line is taken from the screen, so that it holds nothing that was not
 * shown. Not in full-screen programs. */
static bool shows_command(struct attachment *attachment, const char *data, size_t size,
                          struct buf *command)
{
    const struct screen *screen = watch_screen(attachment->watch);
    if (!screen || screen_is_alternate(screen) ||
        !(memchr(data, '\r', size) || memchr(data, '\n', size)))
        return false;
    const struct line *line = screen_line(screen, screen_cursor(screen).row);
    line_append_text(line, command, line_used(line, false));
    return command->len > 0;
}

int attach_keyboard_type(struct attachment *attachment, struct session *session, const char *data,
                         size_t size, struct err *err)
{
    BUG_UNLESS(size > 0 && !attachment->read_only);
    const struct input input = {.data = data,
                                .size = size,
                                .kind = INPUT_KEYS,
                                .author = &attachment->author,
                                .keys_id = attachment->keys_id};
    struct buf command = BUF_INIT;
    bool marked = recorder_is_on(session, NULL) && !session_reads_secret(session) &&
                  shows_command(attachment, data, size, &command);
    int code = session_input(session, &input, err);
    if (!code)
        paste_feed(&attachment->paste, data, size);
    if (!code && marked)
        recorder_command(session, command.data ? command.data : "", command.len);
    buf_fini(&command);
    return code;
}

bool attach_keyboard_begin_keys(struct attachment *attachment, struct attach_frame *frame)
{
    struct session *session = attachment_session(attachment);
    BUG_UNLESS(attachment->keys_id == 0);
    if (frame->size < ATTACH_NUMBER)
        return false;
    memcpy(&attachment->keys_id, frame->data, ATTACH_NUMBER);
    /* sent at the end of this turn */
    stream_send(attachment->peer, ATTACH_TYPED, frame->data, ATTACH_NUMBER);
    frame->data += ATTACH_NUMBER;
    frame->size -= ATTACH_NUMBER;
    return !session || !attachment->keys_id ||
           !inputlog_keys_done(session_journal(session), attachment->keys_id);
}

void attach_keyboard_take(struct attachment *attachment)
{
    struct session *session = attachment_session(attachment);
    if (attachment->read_only) {
        attachment_notice(attachment, "you are looking only: the keyboard is not yours to take");
    } else if (attachment->author.who != INPUT_BY_PERSON) {
        attachment_notice(attachment, "the keyboard is for a person to take");
    } else if (session && session_is_live(session)) {
        keyboard_take(session, &attachment->author);
        attachment_notice(attachment, "you have the keyboard: agents wait until you give it back");
    }
}

void attach_keyboard_give(struct attachment *attachment)
{
    struct session *session = attachment_session(attachment);
    if (session)
        attachment_notice(attachment, keyboard_give(session, &attachment->author)
                                          ? "the keyboard is free: agents may type"
                                          : "you don't have the keyboard");
}

/* Who leaves in the middle of a paste: the program would take all later keys for pasted text. */
static void close_paste(struct attachment *attachment, struct session *session)
{
    static const char end[] = PASTE_END;
    const struct screen *screen = watch_screen(attachment->watch);
    struct err err;
    const struct input input = {.data = end,
                                .size = sizeof end - 1,
                                .kind = INPUT_KEYS,
                                .author = &attachment->author};
    if (attachment->paste.open && session_is_live(session) &&
        (!screen || screen_modes(screen)->bracketed_paste) &&
        session_input(session, &input, &err) < 0)
        log_warn("'%s': a paste can't be closed: %s", session_name(session), err.text);
}

void attach_keyboard_end(struct attachment *attachment)
{
    struct session *session = attachment_session(attachment);
    if (session)
        close_paste(attachment, session);
    keyboard_unwatch(attachment->keyboard);
    attachment->keyboard = NULL;
    if (session)
        keyboard_left(session, attachment->author.peer);
}
