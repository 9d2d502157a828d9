/* events_tell: owns what is told of a session's life: when, and in which words. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "base/value.h"
#include "parts/events/events_internal.h"
#include "session/internal.h"
#include <string.h>

/* All of them but what only a plan needs. */
static void events_tell_add_facts(struct json *object, const struct journal *journal)
{
    struct err err;
    const char *text = journal_facts(journal);
    struct json *facts = text ? json_parse(text, strlen(text), &err) : NULL;
    for (const struct json *it = json_first(facts); it; it = json_next(it))
        if (json_key(it) && strcmp(json_key(it), "sandbox_env") != 0 &&
            !json_get(object, json_key(it)))
            json_add(object, json_key(it), json_copy(it));
    json_free(facts);
}

static void add_cut(struct json *object, const char *key, const char *text)
{
    json_add_str(object, key, text, utf8_cut(text, strlen(text), EVENTS_TEXT_MAX));
}

static void add_command(struct json *object, struct session *session)
{
    add_cut(object, "cmd", journal_cmd(session->journal));
    add_cut(object, "cwd", journal_cwd(session->journal));
    events_tell_add_facts(object, session->journal);
}

void events_began(struct session *session)
{
    struct registry *registry = session->registry;
    struct journal_header *header = session->journal->header;
    if (header->told_begin)
        return;
    struct json *created = events_object(registry, EVENT_CREATED, session);
    json_add_bool(created, "tty", session_is_tty(session));
    if (session_is_tty(session)) {
        json_add_int(created, "rows", header->rows);
        json_add_int(created, "cols", header->cols);
    }
    if (journal_declared(session->journal))
        json_add_text(created, "declared", journal_declared(session->journal));
    events_publish(registry, EVENT_CREATED, session, 0, 0, created);
    struct json *begin = events_object(registry, EVENT_BEGIN, session);
    add_command(begin, session);
    if (session_pid(session) > 0)
        json_add_int(begin, "pid", session_pid(session));
    events_publish(registry, EVENT_BEGIN, session, 0, 0, begin);
    header->told_begin = 1; /* last: a successor searches the ring, too */
    if (events_wants(registry, EVENT_OUTPUT)) /* all that it has printed so far is told after it */
        events_of_session(session)->epoch = events_of(registry)->output_epoch;
}

void events_ended(struct session *session)
{
    struct registry *registry = session->registry;
    struct journal_header *header = session->journal->header;
    int exit_code = -1, signo = 0;
    if (header->told_end || !header->told_begin)
        return;
    events_output_rest(session);
    struct json *end = events_object(registry, EVENT_END, session);
    session_has_exit(session, &exit_code, &signo);
    BUG_UNLESS(!session_is_live(session));
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
    events_publish(registry, EVENT_END, session, 0, head, end);
    header->told_end = 1;
}

void events_forget(struct session *session, bool told)
{
    if (told && session->journal->header->told_begin)
        events_publish(session->registry, EVENT_REMOVED, session, 0, 0,
                       events_object(session->registry, EVENT_REMOVED, session));
}

/* What it was told to wait for since the last write. */
static int told_waiting(struct session *session)
{
    const struct events_of_session *own = session->part[PART_EVENTS];
    return own && own->mark == session->prompt.marks ? own->waiting : WAITING_NONE;
}

static void events_tell_prompt(struct session *session)
{
    struct registry *registry = session->registry;
    bool secret = session->prompt.waiting_for == WAITING_SECRET;
    enum event_type type = secret ? EVENT_SECRET : EVENT_READY;
    /* a ready_pattern says that it waits, not for what */
    int waiting = session->prompt.waiting_for == WAITING_NONE ? WAITING_LINE
                                                              : (int)session->prompt.waiting_for;
    if (told_waiting(session) == waiting)
        return;
    events_of_session(session)->waiting = waiting;
    events_of_session(session)->mark = session->prompt.marks;
    if (!events_wants(registry, type))
        return;
    events_output_pending(session);
    struct json *object = events_object(registry, type, session);
    if (waiting_for_word(session->prompt.waiting_for))
        json_add_text(object, "waiting_for", waiting_for_word(session->prompt.waiting_for));
    json_add_text(object, "evidence", evidence_word(session->prompt.evidence));
    json_add_int(object, "output_bytes", (int64_t)journal_head(session->journal));
    events_publish(registry, type, session, 0, 0, object);
}

void events_look(struct session *session, uint64_t seen_head)
{
    const struct registry *registry = session->registry;
    if (seen_head != session->seen_head)
        events_output_look(session, seen_head);
    if (session->prompt.evidence != EVIDENCE_NONE)
        events_tell_prompt(session);
    if (told_waiting(session) == WAITING_NONE &&
        (events_wants(registry, EVENT_READY) || events_wants(registry, EVENT_SECRET)))
        prompt_ask(session);
}

void events_resized(struct session *session, const struct part_resize *resize)
{
    if (resize->same)
        return;
    struct json *object = events_object(session->registry, EVENT_RESIZE, session);
    json_add_int(object, "rows", resize->rows);
    json_add_int(object, "cols", resize->cols);
    events_publish(session->registry, EVENT_RESIZE, session, 0, 0, object);
}

void events_renamed(struct session *session, const char *old_name)
{
    struct json *object = events_object(session->registry, EVENT_RENAMED, session);
    json_add_text(object, "from_name", old_name);
    events_publish(session->registry, EVENT_RENAMED, session, 0, 0, object);
}

void events_keyboard(struct session *session, const struct events_holder *holder)
{
    if (!events_wants(session->registry, EVENT_KEYBOARD))
        return;
    events_output_pending(session);
    struct json *object = events_object(session->registry, EVENT_KEYBOARD, session);
    json_add_text(object, "owner", holder->who);
    if (!holder->nobody) {
        json_add_int(object, "uid", (int64_t)holder->uid);
        json_add_int(object, "pid", (int64_t)holder->pid);
    }
    if (!holder->nobody && *holder->client)
        json_add_text(object, "client", holder->client);
    events_publish(session->registry, EVENT_KEYBOARD, session, 0, 0, object);
}

void events_secret_lost(struct session *session)
{
    events_publish(session->registry, EVENT_SECRET_LOST, session, 0, 0,
                   events_object(session->registry, EVENT_SECRET_LOST, session));
}

void events_killed(struct session *session, const char *by, int signo)
{
    struct json *object = events_object(session->registry, EVENT_KILLED, session);
    json_add_text(object, "by", by);
    if (signo > 0 && value_signal_name(signo))
        json_add_text(object, "signal", value_signal_name(signo));
    events_publish(session->registry, EVENT_KILLED, session, 0, 0, object);
}

void events_patched(struct registry *registry, const char *call_id, const char *cwd,
                    const struct json *files, int exit_code)
{
    struct json *object = events_object(registry, EVENT_PATCH, NULL);
    size_t count = json_count(files), shown = 0;
    if (call_id)
        json_add_text(object, "call_id", call_id);
    add_cut(object, "cwd", cwd);
    json_add_int(object, "exit_code", exit_code);
    json_add_int(object, "file_count", (int64_t)count);
    struct json *list = json_add_array(object, "files");
    for (const struct json *it = json_first(files); it && shown++ < 64; it = json_next(it))
        json_add(list, NULL, json_copy(it));
    events_publish(registry, EVENT_PATCH, NULL, 0, 0, object);
}

void events_approval(struct registry *registry, const struct json *facts)
{
    struct json *object = events_object(registry, EVENT_APPROVAL, NULL);
    for (const struct json *it = json_first(facts); it; it = json_next(it)) {
        if (json_str(it, NULL))
            add_cut(object, json_key(it), json_str(it, NULL));
        else
            json_add(object, json_key(it), json_copy(it));
    }
    events_publish(registry, EVENT_APPROVAL, NULL, 0, 0, object);
}

void events_typed(struct session *session, const struct author *author, const char *data,
                  size_t size, bool secret)
{
    struct registry *registry = session->registry;
    if (!events_wants(registry, EVENT_INTERACTION))
        return;
    events_output_pending(session);
    struct json *object = events_object(registry, EVENT_INTERACTION, session);
    struct json *facts = json_object_new();
    events_tell_add_facts(facts, session->journal);
    /* of the call that started the command, as with Codex */
    struct json *call_id = json_detach(facts, "call_id");
    if (call_id)
        json_add(object, "call_id", call_id);
    json_free(facts);
    json_add_text(object, "by", input_who_word(author->who));
    if (author->pid > 0)
        json_add_int(object, "by_pid", author->pid);
    if (author->from_session) {
        const struct session *from = registry_by_number(registry, author->from_session);
        json_add_int(object, "from_session", (int64_t)author->from_session);
        json_add_text(object, "from_session_name", from ? session_name(from) : "");
    }
    if (author->client)
        json_add_text(object, "client", author->client);
    json_add_int(object, "bytes", (int64_t)size);
    if (secret) {
        json_add_bool(object, "secret", true);
    } else if (author->who != INPUT_BY_PERSON) { /* a person's keys are not told */
        size_t shown = utf8_cut(data, size, EVENTS_TEXT_MAX);
        json_add_str(object, "text", data, shown);
        if (shown < size)
            json_add_bool(object, "text_cut", true);
    }
    events_publish(registry, EVENT_INTERACTION, session, 0, 0, object);
}

void events_input(struct session *session, const struct input *input)
{
    if (input->kind <= INPUT_SECRET) /* the other kinds are not bytes */
        events_typed(session, input->author, input->data, input->size, input->kind == INPUT_SECRET);
}
