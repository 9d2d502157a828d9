/* complete: `ue complete KIND`: candidates for the completion scripts, one a line, with a tab and a description behind it. Silent where
 * there is nothing to offer, quick where nobody answers, and never the reason that a daemon starts. */
#include "base/utf8.h"
#include "base/value.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "client/rpc/schemas.h"
#include "client/rpc/ue.h"
#include "wire/event.h"
#include "wire/keynames.h"
#include "wire/tool.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ANSWER_MS 500 /* a person waits for the list */
#define DESCRIPTION_BYTES_MAX 60

static void add(struct buf *out, const char *word, const char *description)
{
    struct buf safe = BUF_INIT;
    size_t len = description ? strlen(description) : 0, keep = utf8_cut(description, len, DESCRIPTION_BYTES_MAX);
    utf8_append_escaped(&safe, description ? description : "", keep, false);
    buf_printf(out, "%s\t%s%s\n", word, safe.data ? safe.data : "", keep < len ? "\xe2\x80\xa6" : "");
    buf_fini(&safe);
}

/* The result of a call to a daemon that runs; NULL: none, or it does not answer in time. */
static const struct json *ask(struct ue *ue, const char *method, const struct json *params, struct msg_answer *answer)
{
    struct err err = {0};
    struct timeval patience = {.tv_sec = ANSWER_MS / 1000, .tv_usec = ANSWER_MS % 1000 * 1000};
    *answer = (struct msg_answer){0};
    ue->conn.may_start = false;
    if (connection_try(&ue->conn, &err) < 0 || setsockopt(ue->conn.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0)
        return NULL;
    return call_run(&ue->conn, method, params, CALL_ONCE, answer, &err) == 0 ? answer->result : NULL;
}

static bool is_running(const struct json *session)
{
    const char *state = json_get_str(session, "state", NULL);
    return state && strcmp(state, "running") == 0;
}

static void add_sessions(struct ue *ue, struct buf *out, bool running)
{
    struct msg_answer answer;
    struct json *params = json_object_new();
    json_add_bool(params, "all", !running);
    params_meta(ue, params, META_VERB);
    const struct json *result = ask(ue, "list_sessions", params, &answer);
    for (const struct json *it = json_first(json_get(result, "sessions")); it; it = json_next(it)) {
        const char *name = json_get_str(it, "name", NULL);
        if (name && is_running(it) == running)
            add(out, name, json_get_str(it, "cmd", NULL));
    }
    msg_answer_fini(&answer);
    json_free(params);
}

static void complete_sessions(struct ue *ue, struct buf *out)
{
    add_sessions(ue, out, true);
}

static void complete_ended(struct ue *ue, struct buf *out)
{
    add_sessions(ue, out, false);
}

static bool runs(const struct json *list, const char *name)
{
    for (const struct json *it = json_first(json_get(list, "sessions")); it; it = json_next(it)) {
        const char *other = json_get_str(it, "name", NULL);
        if (other && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

/* What a [session NAME] runs: its cmd or argv. */
static void complete_described(struct ue *ue, struct buf *out)
{
    struct msg_answer config, list;
    const struct json *values = json_get(ask(ue, "config", NULL, &config), "values");
    const struct json *live = values ? ask(ue, "list_sessions", NULL, &list) : NULL;
    for (const struct json *it = json_first(values); it; it = json_next(it)) {
        const char *section = json_get_str(it, "section", NULL), *name = json_get_str(it, "name", NULL);
        const char *key = json_get_str(it, "key", NULL), *value = json_get_str(it, "value", NULL);
        bool what = key && (strcmp(key, "cmd") == 0 || strcmp(key, "argv") == 0) && value && *value;
        if (section && name && what && strcmp(section, "session") == 0 && !runs(live, name))
            add(out, name, value);
    }
    if (values)
        msg_answer_fini(&list);
    msg_answer_fini(&config);
}

static void complete_signals(struct ue *ue, struct buf *out)
{
    (void)ue;
    for (int signo = 1; signo < SIGRTMIN; signo++) {
        const char *name = value_signal_name(signo), *description = sigdescr_np(signo);
        if (name)
            add(out, name, description);
    }
}

static void add_key(void *arg, const char *name)
{
    add(arg, name, "");
}

static void complete_keys(struct ue *ue, struct buf *out)
{
    (void)ue;
    keyname_each(add_key, out);
}

static void complete_tools(struct ue *ue, struct buf *out)
{
    (void)ue;
    for (size_t i = 0; i < TOOL_COUNT_; i++)
        if (tools[i].kind != TOOL_INNER)
            add(out, tools[i].name, tools[i].description);
}

static void complete_events(struct ue *ue, struct buf *out)
{
    (void)ue;
    for (size_t i = 0; i < EVENT_COUNT_; i++)
        add(out, event_rows[i].name, event_rows[i].help);
    add(out, "all", "all of them");
}

static void complete_formats(struct ue *ue, struct buf *out)
{
    (void)ue;
    for (size_t i = 0; i < sizeof schemas_formats / sizeof *schemas_formats; i++)
        add(out, schemas_formats[i], "");
}

static void complete_verbs(struct ue *ue, struct buf *out)
{
    (void)ue;
    for (size_t i = VERB_GLOBAL + 1; i < VERB_COUNT_; i++)
        if (!verbs[i].hidden)
            add(out, verbs[i].name, verbs[i].summary);
}

static void complete_shells(struct ue *ue, struct buf *out)
{
    char line[256];
    FILE *file = fopen("/etc/shells", "re");
    (void)ue;
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '/')
            add(out, line, "");
    }
    if (file)
        fclose(file);
}

static const struct {
    const char *name;
    void (*fn)(struct ue *ue, struct buf *out);
} kinds[] = {{"sessions", complete_sessions}, {"ended", complete_ended},   {"described", complete_described}, {"signals", complete_signals},
             {"keys", complete_keys},         {"tools", complete_tools}, {"verbs", complete_verbs},         {"shells", complete_shells},
             {"events", complete_events},     {"formats", complete_formats}};

int verb_COMPLETE(struct ue *ue)
{
    struct buf out = BUF_INIT;
    struct err err;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, ue->args.operands[0]) == 0) {
            kinds[i].fn(ue, &out);
            say_buf(&out);
            return 0;
        }
    }
    err_set(&err, ERR_USAGE, "'%s': no kind of candidates", ue->args.operands[0]);
    return ue_fail(ue, &err);
}
