/* play_report: what a script says while it runs: traces, reports as JSON, and what failed. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "client/play/playing.h"
#include "client/print/say.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command with its values in place of variables. */
static void append_step(struct buf *out, const struct play_step *step)
{
    const struct script_row *row = &script_rows[step->node->id];
    if (row->session && step->session)
        buf_printf(out, "@%s ", step->session->name);
    buf_append_text(out, row->name);
    if (step->node->id != SCRIPT_START)
        script_show_options(out, step->node);
    for (size_t i = 0; i < step->count; i++) {
        if (i == 1 && step->node->id == SCRIPT_START)
            script_show_options(out, step->node);
        buf_append_byte(out, ' ');
        script_show_value(out, step->values[i].data ? step->values[i].data : "",
                          step->values[i].len);
    }
}

void play_trace(const struct play *play, const struct play_step *step)
{
    if (!(play->flags & PLAY_TRACE))
        return;
    struct buf line = BUF_INIT;
    buf_append_text(&line, "+ ");
    buf_append_text(&line, play->script->name);
    buf_printf(&line, ":%u: ", step->node->line);
    append_step(&line, step);
    say_aside(line.data, line.len);
    buf_fini(&line);
}

void play_report_begin(struct play *play, const struct play_step *step)
{
    BUG_UNLESS(!play->report);
    play->begun_ms = clock_mono_ms();
    if (!(play->flags & PLAY_JSON))
        return;
    struct buf text = BUF_INIT;
    append_step(&text, step);
    play->report = json_object_new();
    json_add_int(play->report, "line", step->node->line);
    json_add_text(play->report, "command", script_rows[step->node->id].name);
    json_add_buf(play->report, "text", &text);
    if (step->session) {
        json_add_text(play->report, "session", step->session->name);
        json_add_int(play->report, "session_id", step->session->number);
    }
}

void play_report_end(struct play *play)
{
    struct json *report = play->report;
    play->report = NULL;
    if (!report)
        return;
    json_add_bool(report, "ok", !json_get(report, "error"));
    json_add_int(report, "ms", clock_mono_ms() - play->begun_ms);
    say_json(report);
    json_free(report);
}

static enum play_flow vfail(struct play *play, int status, const char *code, const char *format,
                            va_list args) __attribute__((format(printf, 4, 0)));
static enum play_flow vfail(struct play *play, int status, const char *code, const char *format,
                            va_list args)
{
    char *text = xvasprintf(format, args);
    say_note("%s:%u: %s: %s", play->script->name, play->node->line,
             script_rows[play->node->id].name, text);
    if (play->report) {
        if (code)
            json_add_text(play->report, "code", code);
        json_add_text(play->report, "error", text);
    }
    free(text);
    play->status = status;
    return PLAY_STOP;
}

enum play_flow play_fail(struct play *play, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum play_flow flow = vfail(play, status, NULL, format, args);
    va_end(args);
    return flow;
}

static enum play_flow fail_code(struct play *play, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static enum play_flow fail_code(struct play *play, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum play_flow flow = vfail(play, err_exit_status(code), err_name(code), format, args);
    va_end(args);
    return flow;
}

enum play_flow play_fail_err(struct play *play, const struct err *err)
{
    BUG_UNLESS(err->code < 0);
    return fail_code(play, err->code, "%s", err->text);
}
