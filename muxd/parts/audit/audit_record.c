/* audit_record: owns the facts of a session's two records. */
#include "parts/audit/audit_record.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "confine/confine.h"
#include "parts/audit/audit.h"
#include <stdio.h>
#include <string.h>

#define ARGV_MAX 65536 /* bytes; more than a person is asked to read */

void audit_add_command(struct json *facts, char *const *argv)
{
    struct json *list = json_add_array(facts, "command");
    size_t left = ARGV_MAX;
    for (; argv && *argv; argv++) {
        size_t size = strlen(*argv), shown = utf8_cut(*argv, size, left);
        json_add_str(list, NULL, *argv, shown);
        if (shown < size) {
            json_add_bool(facts, "command_cut", true);
            return;
        }
        left -= size;
    }
}

static void record_add_sandbox(struct json *facts, const struct confine_wish *wish)
{
    struct json *one = json_add_object(facts, "sandbox");
    json_add_text(one, "mode", wish ? confine_mode_word(wish->mode) : "full-access");
    if (wish)
        json_add_bool(one, "network", wish->network);
    if (wish && wish->roots && *wish->roots) {
        struct json *roots = json_add_array(one, "writable_roots");
        for (const char *const *at = wish->roots; *at; at++)
            json_add_text(roots, NULL, *at);
    }
}

void audit_record_daemon(const struct registry *registry, char out[AUDIT_DAEMON_MAX])
{
    snprintf(out, AUDIT_DAEMON_MAX, "%llx", (unsigned long long)registry_hook_mark(registry));
}

struct json *audit_record_begin(const struct session *session, const struct session_spec *spec)
{
    struct json *facts = spec->on_record ? json_copy(spec->on_record) : json_object_new();
    json_add_int(facts, "session", (int64_t)session_number(session));
    json_add_text(facts, "name", session_name(session));
    if (!spec->on_record)
        json_add_text(facts, "kind", "config");
    json_free(json_detach(facts, "command")); /* as it is executed */
    audit_add_command(facts, spec->argv);
    json_free(json_detach(facts, "cwd"));
    json_add_text(facts, "cwd", spec->cwd);
    json_add_bool(facts, "tty", spec->tty);
    record_add_sandbox(facts, spec->sandbox);
    return facts;
}

/* Who asked, as the journal knows it. */
static void record_add_asker(struct json *facts, const struct journal *journal)
{
    static const char *const names[] = {"client", "call_id"};
    struct err unused;
    const char *text = journal_facts(journal);
    struct json *known = text ? json_parse(text, strlen(text), &unused) : NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_get_str(known, names[i], NULL))
            json_add_text(facts, names[i], json_get_str(known, names[i], NULL));
    json_free(known);
}

static const char *ending_word(const struct session *session, unsigned killed_by)
{
    const struct journal_header *header = session->journal->header;
    if (!session->finished) /* removed before its program ran */
        return "not_started";
    /* what shell_command calls a timeout (cmd/oneshot.c) */
    if (header->kept_size && killed_by == KILLER_LIMIT + SESSION_LIFETIME)
        return "timeout";
    return session_state_word(session_state(session));
}

struct json *audit_record_end(const struct session *session)
{
    const struct journal_header *header = session->journal->header;
    struct json *facts = json_object_new();
    unsigned killed_by = atomic_load(&header->killed_by);
    int exit_code = atomic_load(&header->exit_code), signo = atomic_load(&header->term_signal);
    json_add_int(facts, "session", (int64_t)session_number(session));
    json_add_text(facts, "name", session_name(session));
    record_add_asker(facts, session->journal);
    json_add_text(facts, "ended", ending_word(session, killed_by));
    if (!session->finished)
        return facts;
    if (exit_code >= 0)
        json_add_int(facts, "exit_code", exit_code);
    if (signo > 0)
        json_add_int(facts, "signal", signo);
    if (session_killer_word(killed_by))
        json_add_text(facts, "killed_by", session_killer_word(killed_by));
    int64_t ran_ms = atomic_load(&header->ended_real_ms) - header->created_real_ms;
    json_add_int(facts, "ran_ms", ran_ms > 0 ? ran_ms : 0);
    return facts;
}
