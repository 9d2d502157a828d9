/* logs_input: `ue logs --input`: prints who typed what into a session, from its journal. */
#include "base/clock.h"
#include "base/utf8.h"
#include "base/value.h"
#include "client/rpc/call.h"
#include "client/follow/logs.h"
#include "client/rpc/params.h"
#include "client/print/render.h"
#include "client/print/say.h"
#include "client/follow/when.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct log {
    struct ue *ue;
    int64_t next, number, since_ms;
    bool follow, running;
};

/* What clients say of themselves can't look like another column or another line. */
static void append_said(struct buf *out, const char *text)
{
    utf8_append_escaped(out, text, strlen(text), false);
}

/* The kind of the entry, and what it shows of its contents. */
static void append_what(struct buf *out, const struct json *entry)
{
    int64_t bytes = 0, rows = 0, cols = 0;
    size_t len = 0;
    bool cut = false;
    const char *kind = json_get_str(entry, "kind", NULL), *text = json_get_str(entry, "text", &len);
    const char *signal = json_get_str(entry, "signal", NULL);
    buf_printf(out, "%s", kind ? kind : "?");
    json_get_int(entry, "bytes", &bytes);
    json_get_bool(entry, "cut", &cut);
    if (text) {
        buf_append_text(out, "\t");
        utf8_append_escaped(out, text, len, false);
        buf_append_text(out, cut ? "\xe2\x80\xa6" : "");
    } else if (signal) {
        buf_append_byte(out, '\t');
        append_said(out, signal);
    } else if (json_get_int(entry, "rows", &rows) && json_get_int(entry, "cols", &cols)) {
        buf_printf(out, "\t%" PRId64 "x%" PRId64, rows, cols);
    } else if (bytes > 0) {
        buf_printf(out, "\t%" PRId64 " bytes", bytes);
    }
}

static void show_entry(const struct log *log, const struct json *entry)
{
    int64_t pid = 0, from = 0;
    struct buf line = BUF_INIT;
    const char *time = json_get_str(entry, "time", NULL),
               *author = json_get_str(entry, "author", NULL);
    const char *client = json_get_str(entry, "client", NULL),
               *call_id = json_get_str(entry, "call_id", NULL),
               *name = json_get_str(entry, "from_session_name", NULL);
    if (log->since_ms && render_time_of(time) < log->since_ms)
        return;
    if (args_next(&log->ue->args, "json", NULL)) {
        say_json(entry);
        return;
    }
    json_get_int(entry, "pid", &pid);
    buf_printf(&line, "%s\t%s", time ? time : "-", author ? author : "?");
    if (client || pid) {
        buf_append_byte(&line, ' ');
        append_said(&line, client ? client : "");
        buf_printf(&line, "[%" PRId64 "]", pid);
    }
    if (json_get_int(entry, "from_session", &from)) {
        buf_append_text(&line, " from session ");
        name ? append_said(&line, name) : buf_printf(&line, "%" PRId64, from);
    }
    if (call_id) {
        buf_append_byte(&line, ' ');
        append_said(&line, call_id);
    }
    buf_append_byte(&line, '\t');
    append_what(&line, entry);
    buf_append_byte(&line, '\n');
    say_text(line.data, line.len);
    buf_fini(&line);
}

static struct json *logs_input_params_of(const struct log *log, bool wait)
{
    struct json *params = json_object_new();
    if (log->number)
        json_add_int(params, "session_id", log->number);
    else
        json_add_text(params, "session_id", log->ue->args.operands[0]);
    json_add_int(params, "since", log->next);
    params_meta(log->ue, params, META_VERB);
    if (wait)
        params_wait(params, INT64_MAX);
    return params;
}

static int logs_input_read_once(struct log *log, bool wait, bool *more, struct err *err)
{
    struct msg_answer answer;
    int64_t lost = 0, before = log->next;
    struct json *params = logs_input_params_of(log, wait);
    int result = call_run(&log->ue->conn, "read_input", params, CALL_WAITS, &answer, err);
    json_free(params);
    if (result == 0) {
        const char *state = json_get_str(answer.result, "state", NULL);
        if (json_get_int(answer.result, "lost", &lost) && lost > 0 && !log->since_ms)
            say_note("'%s': %" PRId64 " older entries are no longer kept",
                     log->ue->args.operands[0], lost);
        for (const struct json *it = json_first(json_get(answer.result, "entries")); it;
             it = json_next(it))
            show_entry(log, it);
        json_get_int(answer.result, "number", &log->number);
        json_get_int(answer.result, "next", &log->next);
        *more = json_first(json_get(answer.result, "entries")) && log->next > before;
        log->running = state && strcmp(state, "running") == 0;
    }
    msg_answer_fini(&answer);
    return result;
}

int logs_input(struct ue *ue)
{
    struct log log = {.ue = ue, .follow = args_has(&ue->args, "follow")};
    struct err err = {0};
    const char *since = args_get(&ue->args, "since");
    bool more = true;
    int result = 0;
    if (since && !value_int(since, 0, JSON_INTEGER_MAX, &log.next) &&
        !when_read(since, clock_real_ms(), &log.since_ms))
        result = err_set(
            &err, ERR_USAGE,
            "'--since %s': is neither the number of an entry nor a time such as 10m or 14:05",
            since);
    while (result == 0 && more)
        result = logs_input_read_once(&log, false, &more, &err);
    while (result == 0 && log.follow && log.running)
        result = logs_input_read_once(&log, true, &more, &err);
    if (result < 0)
        return err.code == ERR_CANCELLED ? UE_INTERRUPTED : ue_fail(ue, &err);
    return 0;
}
