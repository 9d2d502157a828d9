/* record: owns the words in which people read what is on record. */
#include "client/print/record.h"
#include "base/strv.h"
#include "base/utf8.h"
#include "client/print/render.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *record_str(const struct json *record, const char *key)
{
    const char *text = json_get_str(record, key, NULL);
    return text ? text : "";
}

/* text may be anything: a client has said it. */
static void record_add(struct buf *out, const char *before, const char *text)
{
    if (!*text)
        return;
    buf_append_text(out, before);
    utf8_append_escaped(out, text, strlen(text), false);
}

static void record_add_words(struct buf *out, const char *before, const struct json *list)
{
    struct strv words = {0};
    for (const struct json *it = json_first(list); it; it = json_next(it))
        strv_add(&words, json_str(it, NULL) ? json_str(it, NULL) : "");
    char *shown = words.count ? strv_quoted(words.items) : NULL;
    if (shown)
        record_add(out, before, shown);
    free(shown);
    strv_fini(&words);
}

static void record_add_files(struct buf *out, const struct json *files)
{
    const char *before = "patch: ";
    for (const struct json *it = json_first(files); it; it = json_next(it), before = ", ") {
        record_add(out, before, record_str(it, "kind"));
        record_add(out, " ", record_str(it, "path"));
    }
}

/* Local, in the form that --since reads. */
static void record_add_time(struct buf *out, const struct json *record)
{
    char text[40] = "?";
    int64_t ms = render_time_of(json_get_str(record, "time", NULL));
    time_t at = (time_t)(ms / 1000);
    struct tm tm;
    if (ms >= 0 && localtime_r(&at, &tm))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    buf_printf(out, "%-19s  ", text);
}

static void record_add_who(struct buf *out, const struct json *record)
{
    int64_t pid = 0, uid = 0, from = 0;
    bool person = false;
    if (!json_get_int(record, "pid", &pid) || !json_get_int(record, "uid", &uid))
        return;
    json_get_bool(record, "person", &person);
    const char *client = record_str(record, "client");
    record_add(out, "; by ", *client ? client : "a client");
    buf_printf(out, ", user %" PRId64 ", process %" PRId64 "%s", uid, pid,
               person ? ", a person" : "");
    if (json_get_int(record, "from_session", &from))
        buf_printf(out, ", in session %" PRId64, from);
    record_add(out, ", call ", record_str(record, "call_id"));
}

static void record_add_decision(struct buf *out, const struct json *record)
{
    const struct json *policy = json_get(record, "policy"),
                      *approver = json_get(record, "approver"),
                      *sandbox = json_get(record, "sandbox");
    int64_t pid = 0, uid = 0;
    if (json_str(policy, NULL))
        record_add(out, "; policy ", *json_str(policy, NULL) ? json_str(policy, NULL) : "[policy]");
    record_add(out, "; rule ", record_str(record, "rule"));
    record_add(out, "; sandbox ", record_str(sandbox, "mode"));
    record_add(out, "; approval ", record_str(record, "approval"));
    record_add(out, " ", record_str(record, "span"));
    record_add_words(out, ": ", json_get(record, "always"));
    if (json_get_int(approver, "pid", &pid) && json_get_int(approver, "uid", &uid)) {
        buf_printf(out, " by user %" PRId64 ", process %" PRId64, uid, pid);
        record_add(out, ", ", record_str(approver, "evidence"));
    }
    record_add(out, "; ", record_str(record, "reason"));
}

static void record_add_end(struct buf *out, const struct json *record)
{
    int64_t code = 0, ran = 0, signo = 0;
    record_add(out, "", record_str(record, "ended"));
    record_add(out, " by ", record_str(record, "killed_by"));
    if (json_get_int(record, "signal", &signo))
        buf_printf(out, ", signal %" PRId64, signo);
    if (json_get_int(record, "exit_code", &code))
        buf_printf(out, ", status %" PRId64, code);
    if (json_get_int(record, "ran_ms", &ran))
        buf_printf(out, ", after %" PRId64 ".%03" PRId64 " s", ran / 1000, ran % 1000);
    record_add(out, ", call ", record_str(record, "call_id"));
}

void record_append(struct buf *out, const struct json *record)
{
    struct buf name = BUF_INIT;
    int64_t number;
    record_add_time(out, record);
    record_add(&name, "", record_str(record, "record"));
    buf_printf(out, "%-9s  ", name.data ? name.data : "?");
    buf_clear(&name);
    if (json_get_int(record, "session", &number))
        buf_printf(&name, "%" PRId64 " ", number);
    record_add(&name, "", record_str(record, "name"));
    buf_printf(out, "%-14s  ", name.len ? name.data : "-");
    buf_fini(&name);
    if (*record_str(record, "ended")) {
        record_add_end(out, record);
    } else {
        record_add_words(out, "", json_get(record, "command"));
        record_add_files(out, json_get(record, "files"));
        record_add(out, "; in ", record_str(record, "cwd"));
        record_add_decision(out, record);
        record_add_who(out, record);
    }
    buf_append_byte(out, '\n');
}
