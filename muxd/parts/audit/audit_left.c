/* audit_left: owns what is said of the ends that nobody has seen. */
#include "parts/audit/audit_left.h"
#include "base/mem.h"
#include "parts/audit/audit_open.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIED "the worker of muxd that asked has ended; a client that still waits asks again"
#define DIED_AFTER_YES "the worker of muxd has ended before it took effect"

struct finding {
    struct audit_left *left;
    audit_left_has_fn *has;
    void *arg;
};

/* What tells which call it was, as far as the line has it. */
static void left_copy(struct json *facts, const struct json *line, const char *const *names)
{
    for (; *names; names++)
        if (json_get(line, *names))
            json_add(facts, *names, json_copy(json_get(line, *names)));
}

static void left_add(struct audit_left *left, const char *what, char *id, struct json *facts)
{
    left->all = xreallocarray(left->all, left->count + 1, sizeof *left->all);
    left->all[left->count++] = (struct audit_left_one){.what = what, .id = id, .facts = facts};
}

static void left_add_end(struct finding *finding, const char *id, const struct json *line)
{
    static const char *const names[] = {"session", "name", "client", "call_id", NULL};
    int64_t session;
    if (json_get_int(line, "session", &session) && finding->has(finding->arg, (uint64_t)session))
        return;
    struct json *facts = json_object_new();
    left_copy(facts, line, names);
    json_add_text(facts, "ended", "lost");
    left_add(finding->left, "ended", xasprintf("%s.end", id), facts);
}

static void left_add_answer(struct finding *finding, bool yes, const struct json *line)
{
    static const char *const names[] = {"uid",    "pid",          "client",  "kind",
                                        "tool",   "person",       "call_id", "from_session",
                                        "policy", "command",      "files",   "sandbox",
                                        "cwd",    "rule",         "approval", NULL};
    struct json *facts = json_object_new();
    left_copy(facts, line, names);
    json_add_text(facts, "reason", yes ? DIED_AFTER_YES : DIED);
    left_add(finding->left, yes ? "failed" : "withdrawn", NULL, facts);
}

static void left_note(void *arg, enum audit_open_kind kind, const char *id, const char *text)
{
    struct err unused;
    struct json *line = json_parse(text, strlen(text), &unused);
    if (line && kind == AUDIT_OPEN_BEGUN)
        left_add_end(arg, id, line);
    else if (line)
        left_add_answer(arg, kind == AUDIT_OPEN_YES, line);
    json_free(line);
}

void audit_left_find(struct audit_left *left, const struct audit_file *file, const char *daemon,
                     audit_left_has_fn *has, void *arg)
{
    struct finding finding = {.left = left, .has = has, .arg = arg};
    char *with = xasprintf("\"daemon\":\"%s\"", daemon);
    audit_open_each(file, with, left_note, &finding);
    free(with);
}

void audit_left_fini(struct audit_left *left)
{
    for (size_t i = 0; i < left->count; i++) {
        free(left->all[i].id);
        json_free(left->all[i].facts);
    }
    free(left->all);
    *left = (struct audit_left){.count = 0};
}
