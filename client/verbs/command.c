/* command: `ue run`, `ue history`, `ue output`: commands that run, and ran, in sessions. */
#include "base/mem.h"
#include "base/value.h"
#include "client/print/render.h"
#include "client/print/say.h"
#include "client/rpc/call.h"
#include "client/rpc/talk.h"
#include "client/verbs/run.h"
#include "wire/base64.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static bool is_raw(const struct ue *ue)
{
    return args_has(&ue->args, "raw");
}

static int raw_fill(struct ue *ue, struct json *params, struct err *err)
{
    (void)err;
    if (is_raw(ue))
        params_set(params, "encoding", json_string_new("base64", 6));
    return 0;
}

static bool flag_of(const struct json *result, const char *key)
{
    bool truth = false;
    return json_get_bool(result, key, &truth) && truth;
}

/* What was asked for and nothing else: `ue run` stands in scripts. */
static void output_print(struct ue *ue, const struct json *params, const struct json *result)
{
    (void)params;
    size_t size;
    int64_t omitted = 0;
    const char *text = json_get_str(result, "output", &size),
               *exact = json_get_str(result, "output_base64", NULL);
    struct buf bytes = BUF_INIT;
    if (exact && base64_decode(&bytes, exact, strlen(exact)))
        say_out(bytes.data ? bytes.data : "", bytes.len);
    else if (text)
        say_text(text, size);
    buf_fini(&bytes);
    if (json_get_int(result, "omitted_bytes", &omitted) && omitted > 0)
        say_note("'%s': %" PRId64 " bytes of the command's output are left out; `ue poll --raw "
                 "--since` reads what is kept of them",
                 json_get_str(result, "name", NULL), omitted);
    ue->lost |= omitted > 0;
}

/* That of the command, which is known by its marks, or by the session's end. */
static int command_status(struct ue *ue, const struct json *result)
{
    int64_t status = 0;
    const char *reason = json_get_str(result, "reason", NULL),
               *name = json_get_str(result, "name", NULL);
    if (flag_of(result, "incomplete")) {
        ue_tell_status(ue, "incomplete");
        say_note("'%s': waits for the rest of this command%s", name,
                 flag_of(result, "interrupted")
                     ? ", which was given up by ^C"
                     : "; type it by `ue write`, or C-c (--interrupt-incomplete does that)");
        return UE_FAILED;
    }
    if (json_get_int(result, "status", &status)) {
        ue_tell_status(ue, "exited %" PRId64, status);
        return (int)status;
    }
    if (reason && strcmp(reason, "deadline") == 0) {
        ue_tell_status(ue, "deadline");
        return UE_NOT_TRUE;
    }
    ue_tell_status(ue, "unknown");
    return 0;
}

/* The session, and the rest joined with blanks, as ssh does. */
static int command_fill(struct ue *ue, struct json *params, struct err *err)
{
    const struct args *args = &ue->args;
    struct buf command = BUF_INIT;
    for (size_t i = 1; i < args->operand_count; i++)
        buf_printf(&command, "%s%s", i > 1 ? " " : "", args->operands[i]);
    json_add_text(params, "session_id", args->operands[0]);
    json_add_buf(params, "command", &command);
    return raw_fill(ue, params, err);
}

int verb_RUN(struct ue *ue)
{
    return run_verb(ue, &(struct run){.meta = META_ID,
                                      .call = CALL_WAITS,
                                      .fill = command_fill,
                                      .print = output_print,
                                      .status = command_status});
}

int verb_OUTPUT(struct ue *ue)
{
    return run_verb(ue, &(struct run){.fill = raw_fill, .print = output_print});
}

static char *command_status_text(const struct json *command)
{
    int64_t status;
    if (flag_of(command, "running"))
        return xstrdup("runs");
    return json_get_int(command, "status", &status) ? xasprintf("%" PRId64, status) : NULL;
}

static char *seconds_text(const struct json *command)
{
    int64_t start = render_time_of(json_get_str(command, "start", NULL)),
            end = render_time_of(json_get_str(command, "end", NULL));
    return start >= 0 && end >= start ? xasprintf("%.3f", (double)(end - start) / 1000) : NULL;
}

static char *text_copy(const struct json *command, const char *key)
{
    const char *text = json_get_str(command, key, NULL);
    return text ? xstrdup(text) : NULL;
}

static void history_row(struct render_table *table, const struct json *command)
{
    int64_t id = 0, status = 0;
    struct render_cell *cells = render_add_row(table);
    json_get_int(command, "id", &id);
    json_get_int(command, "status", &status);
    cells[0].text = xasprintf("%" PRId64, id);
    cells[1] = (struct render_cell){command_status_text(command),
                                    status > 0 ? RENDER_RED : RENDER_PLAIN};
    cells[2] = (struct render_cell){text_copy(command, "start"), RENDER_DIM};
    cells[3].text = seconds_text(command);
    cells[4] = (struct render_cell){text_copy(command, "cwd"), RENDER_DIM};
    cells[5].text = text_copy(command, "who");
    cells[6].text = text_copy(command, "command");
}

static void history_print(struct ue *ue, const struct json *params, const struct json *result)
{
    static const char *const titles[] = {"ID",        "STATUS", "START",  "SECONDS",
                                         "DIRECTORY", "WHO",    "COMMAND"};
    static const bool to_the_right[] = {true, true, false, true, false, false, false};
    static const size_t spare[] = {2, 5, 4};
    struct render_table table = {.titles = titles,
                                 .to_the_right = to_the_right,
                                 .column_count = 7,
                                 .spare = spare,
                                 .spare_count = 3};
    struct buf out = BUF_INIT;
    (void)ue;
    (void)params;
    for (const struct json *it = json_first(json_get(result, "commands")); it; it = json_next(it))
        history_row(&table, it);
    if (say_is_tty(STDOUT_FILENO))
        render_people(&out, &table, render_width_of(STDOUT_FILENO), render_wants_colors());
    else
        render_tabs(&out, &table);
    say_buf(&out);
    render_fini(&table);
}

int verb_HISTORY(struct ue *ue)
{
    return run_verb(ue, &(struct run){.print = history_print});
}
