/* watch: `ue watch`: prints the output of several sessions as it comes, each line behind the name
 * of its session. */
#include "base/clock.h"
#include "client/follow/follow.h"
#include "client/print/render.h"
#include "client/print/say.h"
#include "client/follow/when.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_COLUMNS 24

struct watching {
    struct follow follow;
    bool json, colors;
    size_t width; /* of the column of names */
};

static void append_prefix(struct watching *watching, struct buf *out,
                          const struct followed *session)
{
    static const int colors[] = {36, 33, 32, 35, 34, 96, 93, 92, 95, 94};
    size_t len = strlen(session->name);
    if (len > watching->width)
        watching->width = len < NAME_MAX_COLUMNS ? len : NAME_MAX_COLUMNS;
    int color = colors[(size_t)session->number % (sizeof colors / sizeof *colors)];
    if (watching->colors)
        buf_printf(out, "\033[%dm", color);
    buf_printf(out, "%-*s |", (int)watching->width, session->name);
    buf_append_text(out, watching->colors ? "\033[m " : " ");
}

static void watch_on_line(void *arg, struct followed *session, const char *text, size_t size)
{
    struct watching *watching = arg;
    struct buf out = BUF_INIT;
    if (watching->json) {
        struct json *line = json_object_new();
        json_add_int(line, "session_id", session->number);
        json_add_text(line, "name", session->name);
        json_add_str(line, "line", text, size);
        say_json(line);
        json_free(line);
        return;
    }
    append_prefix(watching, &out, session);
    buf_append(&out, text, size);
    buf_append_byte(&out, '\n');
    say_buf(&out);
}

static void watch_on_end(void *arg, struct followed *session, const struct json *result)
{
    struct watching *watching = arg;
    int64_t code = 0;
    struct buf out = BUF_INIT;
    const char *state = json_get_str(result, "state", NULL);
    bool known = json_get_int(result, "exit_code", &code);
    if (watching->json) {
        struct json *line = json_object_new();
        json_add_int(line, "session_id", session->number);
        json_add_text(line, "name", session->name);
        json_add_text(line, "state", state ? state : "removed");
        if (known)
            json_add_int(line, "exit_code", code);
        say_json(line);
        json_free(line);
        return;
    }
    append_prefix(watching, &out, session);
    buf_append_text(&out, watching->colors ? "\033[2m" : "");
    if (known)
        buf_printf(&out, "(%s, status %" PRId64 ")", state, code);
    else
        buf_printf(&out, "(%s)", state ? state : "removed");
    buf_append_text(&out, watching->colors ? "\033[m\n" : "\n");
    say_buf(&out);
}

int verb_WATCH(struct ue *ue)
{
    struct watching watching = {.json = args_has(&ue->args, "json"),
                                .follow = {.ue = ue, .line = watch_on_line, .end = watch_on_end}};
    struct err err = {0};
    const char *since = args_get(&ue->args, "since");
    int result = 0;
    watching.colors = !watching.json && say_is_tty(STDOUT_FILENO) && render_wants_colors();
    watching.follow.arg = &watching;
    watching.follow.colors = watching.colors;
    if (since && !when_read(since, clock_real_ms(), &watching.follow.since_ms))
        result = err_set(
            &err, ERR_USAGE,
            "'--since %s': is no time; give one such as 10m, 14:05 or 2026-08-30T14:05", since);
    if (result == 0)
        result = follow_begin(&watching.follow, &err);
    if (result == 0 && watching.follow.count == 0)
        say_note("no session runs; waiting for one (^C ends this)");
    if (result == 0)
        result = follow_run(&watching.follow, &err);
    follow_fini(&watching.follow);
    if (result < 0)
        return err.code == ERR_CANCELLED ? UE_INTERRUPTED : ue_fail(ue, &err);
    return 0;
}
