/* describe: owns the JSON objects that stand for sessions. */
#include "cmd/describe.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/value.h"
#include "cmd/attach_size.h"
#include "cmd/record.h"
#include "parts/keyboard/keyboard.h"
#include "parts/keyboard/secret.h"
#include "parts/reap/reap.h"
#include "session/sandbox.h"
#include "sys/proc.h"
#include "parts/record/recorder.h"
#include <stdlib.h>

#define COMMAND_SHOWN 128

void describe_time(struct json *into, const char *key, int64_t real_ms)
{
    char text[32];
    if (real_ms > 0) {
        clock_format_iso(real_ms, text);
        json_add_text(into, key, text);
    }
}

void describe_end(struct json *into, struct session *session)
{
    int exit_code, signo;
    bool live = session_is_live(session);
    const struct journal_header *header = session_journal(session)->header;
    json_add_text(into, "state", session_state_word(session_state(session)));
    if (live) {
        const char *waiting_for = session_waiting_for(session);
        if (waiting_for)
            json_add_text(into, "waiting_for", waiting_for);
        else if (session_is_tty(session))
            json_add_null(into, "waiting_for");
        return;
    }
    if (session_has_exit(session, &exit_code, &signo) && exit_code >= 0) {
        json_add_int(into, "exit_code", exit_code);
        if (signo > 0) {
            const char *name = value_signal_name(signo);
            if (name)
                json_add_text(into, "signal", name);
            else
                json_add_int(into, "signal", signo);
        }
    }
    unsigned killer = atomic_load(&header->killed_by);
    if (killer != KILLER_NONE)
        json_add_text(into, "killed_by", session_killer_word(killer));
    int children = session_children_told(session);
    if (children >= 0)
        json_add_int(into, "children_left", children);
}

void describe_from_session(struct json *into, struct registry *registry, uint64_t number)
{
    const struct session *from = number ? registry_by_number(registry, number) : NULL;
    if (number)
        json_add_int(into, "from_session", (int64_t)number);
    if (from)
        json_add_text(into, "from_session_name", session_name(from));
}

void describe_owner(struct json *into, const struct keyboard_holder *state)
{
    if (state->kind == HOLDER_NOBODY)
        return;
    json_add_int(into, "uid", (int64_t)state->uid);
    json_add_int(into, "pid", (int64_t)state->pid);
    if (*state->client)
        json_add_text(into, "client", state->client);
    describe_time(into, "since", state->since_real_ms);
}

void describe_keyboard(struct json *into, struct session *session)
{
    struct keyboard_holder state;
    keyboard_holder_get(session, &state);
    struct json *keyboard = json_add_object(into, "keyboard");
    json_add_text(keyboard, "owner", keyboard_holder_word(state.kind));
    describe_owner(keyboard, &state);
    if (secret_is_staged(session))
        json_add_bool(keyboard, "secret_staged", true);
    if (secret_was_lost(session))
        json_add_bool(keyboard, "secret_lost", true);
}

static void add_recording(struct json *into, const struct session *session)
{
    struct recorder_facts facts;
    if (recorder_is_on(session, &facts)) {
        record_describe(json_add_object(into, "recording"), &facts);
        free(facts.path);
    } else if (recorder_failure(session)) {
        json_add_text(into, "recording_failed", recorder_failure(session));
    }
}

struct json *describe_session(struct session *session)
{
    struct journal *journal = session_journal(session);
    const struct journal_header *header = journal->header;
    struct json *into = json_object_new();
    int rows, cols;
    json_add_int(into, "session_id", (int64_t)session_number(session));
    json_add_text(into, "name", session_name(session));
    describe_end(into, session);
    json_add_text(into, "cmd", journal_cmd(journal));
    json_add_text(into, "cwd", journal_cwd(journal));
    if (session_pid(session) > 0)
        json_add_int(into, "pid", session_pid(session));
    json_add_bool(into, "tty", session_is_tty(session));
    if (session_get_size(session, &rows, &cols) == 0) {
        json_add_int(into, "rows", rows);
        json_add_int(into, "cols", cols);
    }
    if (attach_size_word(session))
        json_add_text(into, "size_policy", attach_size_word(session));
    if (session_is_live(session) && session_is_tty(session)) {
        json_add_int(into, "attached", session_attached(session));
        describe_keyboard(into, session);
    }
    if (session_sandbox(session))
        json_add(into, "sandbox", session_sandbox_facts(session));
    add_recording(into, session);
    describe_time(into, "created", header->created_real_ms);
    describe_time(into, "ended", atomic_load(&header->ended_real_ms));
    json_add_int(into, "output_bytes", (int64_t)journal_head(journal));
    json_add_int(into, "unread_bytes",
                 (int64_t)(journal_head(journal) - atomic_load(&header->readers[0].cursor)));
    return into;
}

void describe_survivors(struct json *into, const struct reap_result *result)
{
    json_add_int(into, "survivors", result->survivors);
    struct json *shown = result->survivors > 0 ? json_add_array(into, "survivor_processes") : NULL;
    for (int i = 0; i < result->survivors && i < REAP_SHOWN; i++) {
        struct json *process = json_add_object(shown, NULL);
        json_add_int(process, "pid", result->shown[i].pid);
        json_add_text(process, "command", result->shown[i].command);
    }
}

struct json *describe_left(uint64_t number, const pid_t *pids, size_t count)
{
    BUG_UNLESS(count > 0);
    struct json *into = json_object_new();
    char command[COMMAND_SHOWN];
    json_add_int(into, "session_id", (int64_t)number);
    json_add_text(into, "state", "left");
    proc_command(pids[0], command, sizeof command);
    json_add_text(into, "cmd", command);
    json_add_int(into, "pid", pids[0]);
    struct json *all = json_add_array(into, "pids");
    for (size_t i = 0; i < count; i++)
        json_add_int(all, NULL, pids[i]);
    json_add_int(into, "children_left", (int64_t)count);
    return into;
}
