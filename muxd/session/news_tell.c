/* news_tell: owns what is told of a session: when, and in which words. */
#include "base/clock.h"
#include "base/utf8.h"
#include "base/value.h"
#include "session/internal.h"
#include "session/news_internal.h"
#include "session/owner.h"
#include <string.h>

#define FACTS_MAX (16u << 10)
#define PAUSE_MS 10       /* between two pieces of a program that prints and prints */
#define PIECES_MAX 10000 /* of one command's output (CODEX.md 12); its end has all of it */

static void add_argv(struct json *facts, char *const *argv)
{
    struct json *list = json_add_array(facts, "argv");
    size_t left = NEWS_TEXT_MAX;
    for (; *argv; argv++) {
        size_t size = strlen(*argv), shown = utf8_cut(*argv, size, left);
        if (left == 0 || shown < size) {
            if (shown > 0)
                json_add_str(list, NULL, *argv, shown);
            json_add_bool(facts, "argv_cut", true);
            return;
        }
        json_add_str(list, NULL, *argv, size);
        left -= size < left ? size : left;
    }
}

void news_facts(const struct session_spec *spec, struct buf *facts)
{
    struct json *object = json_object_new();
    for (int with_argv = 1; with_argv >= 0; with_argv--) {
        json_free(object);
        object = json_object_new();
        if (spec->call_id)
            json_add_text(object, "call_id", spec->call_id);
        json_add_text(object, "source", spec->source ? spec->source : spec->described ? "config" : "user_shell");
        if (spec->client)
            json_add_text(object, "client", spec->client);
        if (with_argv)
            add_argv(object, spec->argv);
        buf_clear(facts);
        json_print(facts, object);
        if (facts->len <= FACTS_MAX) /* control characters grow sixfold */
            break;
    }
    json_free(object);
}

static void add_facts(struct json *object, const struct journal *journal)
{
    struct err err;
    const char *text = journal_facts(journal);
    struct json *facts = text ? json_parse(text, strlen(text), &err) : NULL;
    for (const struct json *it = json_first(facts); it; it = json_next(it))
        if (json_key(it) && !json_get(object, json_key(it)))
            json_add(object, json_key(it), json_copy(it));
    json_free(facts);
}

static void add_cut(struct json *object, const char *key, const char *text)
{
    json_add_str(object, key, text, utf8_cut(text, strlen(text), NEWS_TEXT_MAX));
}

static void add_command(struct json *object, struct session *session)
{
    add_cut(object, "cmd", journal_cmd(session->journal));
    add_cut(object, "cwd", journal_cwd(session->journal));
    add_facts(object, session->journal);
}

void news_began(struct session *session)
{
    struct registry *registry = session->registry;
    struct journal_header *header = session->journal->header;
    if (header->told_begin)
        return;
    struct json *created = news_object(registry, EVENT_CREATED, session);
    json_add_bool(created, "tty", session_is_tty(session));
    if (session_is_tty(session)) {
        json_add_int(created, "rows", header->rows);
        json_add_int(created, "cols", header->cols);
    }
    if (journal_described(session->journal))
        json_add_text(created, "described", journal_described(session->journal));
    news_publish(registry, EVENT_CREATED, session, 0, 0, created);
    struct json *begin = news_object(registry, EVENT_BEGIN, session);
    add_command(begin, session);
    if (session_pid(session) > 0)
        json_add_int(begin, "pid", session_pid(session));
    news_publish(registry, EVENT_BEGIN, session, 0, 0, begin);
    header->told_begin = 1; /* last: a successor looks into the ring, too */
    if (news_wants(registry, EVENT_OUTPUT)) /* all that it has printed by now comes behind */
        session->news.epoch = registry->news->output_epoch;
}

static void tell_rest(struct session *session);

void news_ended(struct session *session)
{
    struct registry *registry = session->registry;
    struct journal_header *header = session->journal->header;
    int exit_code = -1, signo = 0;
    if (header->told_end || !header->told_begin)
        return;
    tell_rest(session);
    struct json *end = news_object(registry, EVENT_END, session);
    session_has_exit(session, &exit_code, &signo);
    json_add_text(end, "state", session_state_word(session_state(session)));
    json_add_text(end, "status", exit_code == 0 ? "completed" : "failed");
    if (exit_code >= 0)
        json_add_int(end, "exit_code", exit_code);
    if (signo > 0 && value_signal_name(signo))
        json_add_text(end, "signal", value_signal_name(signo));
    const char *killer = session_killer_word(atomic_load(&header->killed_by));
    if (killer)
        json_add_text(end, "killed_by", killer);
    int64_t duration_ms = clock_boot_ms() - header->created_boot_ms;
    json_add_double(end, "duration_seconds", (double)(duration_ms > 0 ? duration_ms : 0) / 1000);
    add_command(end, session);
    uint64_t head = journal_head(session->journal);
    json_add_int(end, "output_bytes", (int64_t)head);
    news_publish(registry, EVENT_END, session, 0, head, end);
    header->told_end = 1;
}

void news_removed(struct session *session)
{
    if (session->journal->header->told_begin)
        news_publish(session->registry, EVENT_REMOVED, session, 0, 0, news_object(session->registry, EVENT_REMOVED, session));
}

static void tell_piece(struct session *session, uint64_t from, uint64_t to, bool is_stderr)
{
    struct registry *registry = session->registry;
    struct json *output = news_object(registry, EVENT_OUTPUT, session);
    json_add_text(output, "stream", is_stderr ? "stderr" : "stdout");
    json_add_int(output, "from", (int64_t)from);
    json_add_int(output, "to", (int64_t)to);
    if (++session->news.pieces == PIECES_MAX)
        json_add_bool(output, "last", true); /* there may be more, but no more of it is told piece by piece */
    news_publish(registry, EVENT_OUTPUT, session, from, to, output);
}

/* Where a piece that begins at from and is at most to long ends: at a character's boundary, as far as the output is text. */
static uint64_t end_of_piece(struct session *session, uint64_t from, uint64_t to)
{
    uint64_t at = from;
    size_t size;
    const char *view = journal_view(session->journal, &at, &size);
    uint64_t end = to - from > NEWS_TEXT_MAX ? from + NEWS_TEXT_MAX : to;
    if (!view || at != from || at + size < end)
        return end;
    size_t open = utf8_incomplete_tail(view, (size_t)(end - from));
    return open < end - from ? end - open : end;
}

static void on_run(void *arg, uint64_t from, uint64_t to, bool is_stderr)
{
    struct session *session = arg;
    while (from < to && session->news.pieces < PIECES_MAX) {
        uint64_t end = end_of_piece(session, from, to);
        tell_piece(session, from, end, is_stderr);
        from = end;
    }
}

static void tell_output(struct session *session, uint64_t to)
{
    uint64_t from = session->news.told_to;
    if (from < journal_tail(session->journal) && to > journal_tail(session->journal) &&
        !(atomic_load(&session->journal->header->saved_len)))
        from = journal_tail(session->journal);
    session->news.told_to = to;
    if (to <= from || session->news.pieces >= PIECES_MAX)
        return;
    if (session_is_tty(session))
        on_run(session, from, to, false);
    else
        journal_streams(session->journal, from, to, on_run, session);
}

/* A character that is not whole yet waits for the rest of it. */
static uint64_t whole_head(struct session *session)
{
    uint64_t head = journal_head(session->journal), at = head > session->news.told_to + 3 ? head - 3 : session->news.told_to;
    size_t size;
    const char *view = journal_view(session->journal, &at, &size);
    if (!view || size > 3 || at + size != head)
        return head;
    return head - utf8_incomplete_tail(view, size);
}

/* Output from before somebody listened is not told. */
static bool follows_output(struct session *session, uint64_t seen_head)
{
    const struct news *news = session->registry->news;
    if (!news_wants(session->registry, EVENT_OUTPUT) || !session->journal->header->told_begin)
        return false;
    if (session->news.epoch != news->output_epoch) {
        session->news.epoch = news->output_epoch;
        session->news.told_to = seen_head;
    }
    return true;
}

static void tell_rest(struct session *session)
{
    loop_timer_stop(&session->news.pause);
    if (follows_output(session, session->seen_head))
        tell_output(session, journal_head(session->journal));
}

/* Bytes that the default reader has not been given and never will be. */
static uint64_t lost_bytes(const struct journal_header *header)
{
    uint64_t cursor = atomic_load(&header->readers[0].cursor), tail = atomic_load(&header->out_tail);
    uint64_t saved_from = atomic_load(&header->saved_from), saved_to = saved_from + atomic_load(&header->saved_len);
    if (tail <= cursor)
        return 0;
    if (saved_to > cursor && saved_from <= cursor)
        cursor = saved_to;
    return tail > cursor ? tail - cursor : 0;
}

static void look_for_loss(struct session *session)
{
    uint64_t lost = lost_bytes(session->journal->header);
    if (lost > 0 && !session->news.lost) {
        struct json *object = news_object(session->registry, EVENT_LOST, session);
        json_add_int(object, "lost_bytes", (int64_t)lost);
        json_add_int(object, "output_bytes", (int64_t)journal_head(session->journal));
        news_publish(session->registry, EVENT_LOST, session, 0, 0, object);
    }
    session->news.lost = lost > 0;
}

static void on_pause(void *arg)
{
    struct session *session = arg;
    if (follows_output(session, session->seen_head))
        tell_output(session, whole_head(session));
}

void news_session_init(struct session *session)
{
    loop_timer_init(&session->news.pause, session->registry->loop, on_pause, session);
}

void news_session_fini(struct session *session)
{
    loop_timer_stop(&session->news.pause);
}

/* What is told of the session now comes behind what it has printed. */
static void tell_pending(struct session *session)
{
    if (loop_timer_is_set(&session->news.pause))
        on_pause(session);
}

void news_look(struct session *session, uint64_t seen_head)
{
    if (follows_output(session, seen_head) && !loop_timer_is_set(&session->news.pause)) {
        tell_output(session, whole_head(session));
        loop_timer_set_ms(&session->news.pause, PAUSE_MS);
    }
    if (journal_tail(session->journal) > 0)
        look_for_loss(session);
}

bool news_wants_ready(const struct session *session)
{
    return session->news.waiting == WAITING_NONE &&
           (news_wants(session->registry, EVENT_READY) || news_wants(session->registry, EVENT_SECRET));
}

void news_was_ready(struct session *session)
{
    struct registry *registry = session->registry;
    bool secret = session->ready_for == WAITING_SECRET;
    enum event_type type = secret ? EVENT_SECRET : EVENT_READY;
    /* A pattern says that it waits, not for what. */
    int waiting = session->ready_for == WAITING_NONE ? WAITING_LINE : (int)session->ready_for;
    if (session->news.waiting == waiting)
        return;
    session->news.waiting = waiting;
    if (!news_wants(registry, type))
        return;
    tell_pending(session);
    struct json *object = news_object(registry, type, session);
    if (waiting_for_word(session->ready_for))
        json_add_text(object, "waiting_for", waiting_for_word(session->ready_for));
    json_add_text(object, "evidence", evidence_word(session->ready));
    json_add_int(object, "output_bytes", (int64_t)journal_head(session->journal));
    news_publish(registry, type, session, 0, 0, object);
}

void news_resized(struct session *session, int rows, int cols)
{
    struct json *object = news_object(session->registry, EVENT_RESIZE, session);
    json_add_int(object, "rows", rows);
    json_add_int(object, "cols", cols);
    news_publish(session->registry, EVENT_RESIZE, session, 0, 0, object);
}

void news_renamed(struct session *session, const char *old_name)
{
    struct json *object = news_object(session->registry, EVENT_RENAMED, session);
    json_add_text(object, "from_name", old_name);
    news_publish(session->registry, EVENT_RENAMED, session, 0, 0, object);
}

void news_keyboard(struct session *session)
{
    struct owner_state state;
    if (!news_wants(session->registry, EVENT_KEYBOARD))
        return;
    tell_pending(session);
    struct json *object = news_object(session->registry, EVENT_KEYBOARD, session);
    owner_get(session, &state);
    json_add_text(object, "owner", owner_word(state.kind));
    if (state.kind != OWNER_NOBODY) {
        json_add_int(object, "uid", (int64_t)state.uid);
        json_add_int(object, "pid", (int64_t)state.pid);
    }
    if (state.kind != OWNER_NOBODY && *state.client)
        json_add_text(object, "client", state.client);
    news_publish(session->registry, EVENT_KEYBOARD, session, 0, 0, object);
}

void news_secret_lost(struct session *session)
{
    news_publish(session->registry, EVENT_SECRET_LOST, session, 0, 0, news_object(session->registry, EVENT_SECRET_LOST, session));
}

void news_killed(struct session *session, const char *by, int signo)
{
    struct json *object = news_object(session->registry, EVENT_KILLED, session);
    json_add_text(object, "by", by);
    if (signo > 0 && value_signal_name(signo))
        json_add_text(object, "signal", value_signal_name(signo));
    news_publish(session->registry, EVENT_KILLED, session, 0, 0, object);
}

void news_patched(struct registry *registry, const char *call_id, const char *cwd, const struct json *files, int exit_code)
{
    struct json *object = news_object(registry, EVENT_PATCH, NULL);
    size_t count = json_count(files), shown = 0;
    if (call_id)
        json_add_text(object, "call_id", call_id);
    add_cut(object, "cwd", cwd);
    json_add_int(object, "exit_code", exit_code);
    json_add_int(object, "file_count", (int64_t)count);
    struct json *list = json_add_array(object, "files");
    for (const struct json *it = json_first(files); it && shown++ < 64; it = json_next(it))
        json_add(list, NULL, json_copy(it));
    news_publish(registry, EVENT_PATCH, NULL, 0, 0, object);
}

void news_typed(struct session *session, const struct author *author, const char *data, size_t size, bool secret)
{
    struct registry *registry = session->registry;
    if (!news_wants(registry, EVENT_INTERACTION))
        return;
    tell_pending(session);
    struct json *object = news_object(registry, EVENT_INTERACTION, session);
    struct json *facts = json_object_new();
    add_facts(facts, session->journal);
    struct json *call_id = json_detach(facts, "call_id"); /* of the call that began the command, as with Codex */
    if (call_id)
        json_add(object, "call_id", call_id);
    json_free(facts);
    json_add_text(object, "by", input_who_word(author->who));
    if (author->pid > 0)
        json_add_int(object, "by_pid", author->pid);
    if (author->client)
        json_add_text(object, "client", author->client);
    json_add_int(object, "bytes", (int64_t)size);
    if (secret) {
        json_add_bool(object, "secret", true);
    } else if (author->who != INPUT_BY_PERSON) { /* nobody wants a person's keys back */
        size_t shown = utf8_cut(data, size, NEWS_TEXT_MAX);
        json_add_str(object, "text", data, shown);
        if (shown < size)
            json_add_bool(object, "text_cut", true);
    }
    news_publish(registry, EVENT_INTERACTION, session, 0, 0, object);
}
