/* screen: read_screen: what a person would see, now or once it has changed or settled. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/value.h"
#include "cmd/describe.h"
#include "cmd/failure.h"
#include "cmd/meta.h"
#include "cmd/op.h"
#include "parts/view/view.h"
#include "term/render.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define YIELD_MAX_MS 300000
#define VERB_YIELD_MS 30000
#define HALF_DRAWN_MS 100         /* how long a program that says it is drawing is waited for */
#define DRAWING_MAX (4u << 20)    /* bytes; the answer has the drawing twice */

struct look { /* a request that waits for the screen */
    struct cmd_context *ctx;
    struct request *request;
    struct watch *watch;
    uint64_t number;
    struct render_options options;
    bool waits_change, waits_stable, changed, late_drawn;
    uint64_t change_hash;
    uint64_t hash; /* of the last screen that was seen */
    bool seen;
    int64_t stable_ms;
    struct loop_timer stable, deadline, drawn;
    const char *reason;
};

static void look_free(struct look *look)
{
    loop_timer_stop(&look->stable);
    loop_timer_stop(&look->deadline);
    loop_timer_stop(&look->drawn);
    watch_cancel(look->watch);
    free(look);
}

static void cmd_screen_on_cancel(void *arg)
{
    look_free(arg);
}

static void cmd_screen_fail(struct look *look, const struct err *err)
{
    struct request *request = look->request;
    request_on_cancel(request, NULL, NULL);
    look_free(look);
    failure_reply(request, &tools[TOOL_READ_SCREEN], err);
}

static void cmd_screen_add_facts(struct json *answer, const struct screen *screen, bool with_cursor)
{
    char hash[17];
    struct screen_cursor cursor = screen_cursor(screen);
    json_add_int(answer, "rows", screen_rows(screen));
    json_add_int(answer, "cols", screen_cols(screen));
    struct json *place = json_add_object(answer, "cursor");
    json_add_int(place, "row", cursor.row + 1);
    json_add_int(place, "col", cursor.col + 1);
    json_add_bool(place, "visible", screen_modes(screen)->cursor_visible);
    json_add_text(answer, "title", screen_title(screen));
    json_add_bool(answer, "alternate", screen_is_alternate(screen));
    snprintf(hash, sizeof hash, "%016" PRIx64, screen_hash(screen, with_cursor));
    json_add_text(answer, "hash", hash);
    json_add_int(answer, "history_lines", (int64_t)scrollback_count(screen_scrollback(screen)));
}

static void cmd_screen_answer(struct look *look, const char *reason)
{
    const struct screen *screen = watch_screen(look->watch);
    struct session *session = registry_by_number(look->ctx->registry, look->number);
    struct request *request = look->request;
    struct buf drawing;
    struct err err;
    BUG_UNLESS(screen && session); /* an ended session is answered before it can be removed */
    buf_init(&drawing, DRAWING_MAX + RENDER_LINE_MAX);
    if (!render(screen, &look->options, &drawing)) {
        buf_fini(&drawing);
        err_set(&err, ERR_TOO_LARGE,
                "'%s': the drawing is larger than 4 MiB; ask for less history, or for text",
                session_name(session));
        cmd_screen_fail(look, &err);
        return;
    }
    struct json *result = json_object_new();
    json_add_str(result, "content", drawing.data ? drawing.data : "", drawing.len);
    json_add_str(result, "screen", drawing.data ? drawing.data : "", drawing.len);
    buf_fini(&drawing);
    cmd_screen_add_facts(result, screen, look->options.cursor);
    if (session_is_live(session))
        json_add_int(result, "session_id", (int64_t)look->number);
    json_add_int(result, "number", (int64_t)look->number);
    json_add_text(result, "name", session_name(session));
    describe_end(result, session);
    if (session_is_live(session))
        describe_keyboard(result, session);
    if (reason)
        json_add_text(result, "reason", reason);
    request_on_cancel(request, NULL, NULL);
    look_free(look);
    request_reply(request, result);
}

static void on_stable(void *arg)
{
    struct look *look = arg;
    if (watch_screen(look->watch) && !loop_timer_is_set(&look->drawn))
        cmd_screen_answer(look, "stable");
    else /* output was read that the model does not show yet */
        loop_timer_set_ms(&look->stable, look->stable_ms);
}

/* A deadline that comes before there is a screen waits for the screen, which takes milliseconds. */
static void cmd_screen_on_deadline(void *arg)
{
    struct look *look = arg;
    look->reason = "deadline";
    if (watch_screen(look->watch))
        cmd_screen_answer(look, look->reason);
}

static void cmd_screen_look_at(struct look *look);

static void on_drawn(void *arg)
{
    struct look *look = arg;
    look->late_drawn = true;
    if (watch_screen(look->watch))
        cmd_screen_look_at(look);
}

/* The screen is up to date: answers if this is what the call waits for. */
static void cmd_screen_look_at(struct look *look)
{
    const struct screen *screen = watch_screen(look->watch);
    BUG_UNLESS(screen);
    if (!look->reason && screen_modes(screen)->synchronized && !look->late_drawn) {
        if (!loop_timer_is_set(&look->drawn))
            loop_timer_set_ms(&look->drawn, HALF_DRAWN_MS);
        return;
    }
    loop_timer_stop(&look->drawn);
    look->late_drawn = false;
    uint64_t hash = screen_hash(screen, look->options.cursor);
    bool moved = !look->seen || hash != look->hash;
    look->seen = true;
    look->hash = hash;
    look->changed |= look->waits_change && hash != look->change_hash;
    if (look->reason || (!look->waits_change && !look->waits_stable))
        cmd_screen_answer(look, look->reason);
    else if (look->changed && !look->waits_stable)
        cmd_screen_answer(look, "change");
    else if (look->waits_stable && moved && (look->changed || !look->waits_change))
        loop_timer_set_ms(&look->stable, look->stable_ms);
}

static void cmd_screen_on_watch(void *arg, unsigned events)
{
    struct look *look = arg;
    struct err err;
    if (events & WATCH_GONE) {
        failure_removed(&err, look->number);
        cmd_screen_fail(look, &err);
        return;
    }
    if ((events & WATCH_ENDED) && (look->waits_change || look->waits_stable))
        look->reason = "exit";
    cmd_screen_look_at(look);
}

static int cmd_screen_yield_ms(struct look *look, const struct json *params, int64_t *out,
                               struct err *err)
{
    bool verb = meta_bool(look->request, "verb"), given = schema_has(params, "yield_time_ms");
    int64_t yield = schema_int(&tools[TOOL_READ_SCREEN], params, "yield_time_ms", 0),
            max = look->ctx->config->limits.max_wait_ms;
    *out = verb && meta_bool(look->request, "no_deadline") ? INT64_MAX
           : !verb ? (yield < YIELD_MAX_MS ? yield : YIELD_MAX_MS)
           : given ? yield
                   : (VERB_YIELD_MS < max ? VERB_YIELD_MS : max);
    return *out == INT64_MAX ? 0 : op_check_wait(look->ctx, *out, err);
}

static int cmd_screen_parse(struct look *look, const struct json *params, struct err *err)
{
    const struct tool *tool = &tools[TOOL_READ_SCREEN];
    const char *change = schema_str(tool, params, "wait_change", NULL);
    char *end = NULL;
    render_format(schema_str(tool, params, "format", NULL), &look->options.format);
    look->options.join = schema_bool(tool, params, "join", false);
    look->options.cursor = schema_bool(tool, params, "cursor", false);
    look->options.history = (size_t)schema_int(tool, params, "history", 0);
    look->stable_ms = schema_int(tool, params, "stable_ms", 0);
    look->waits_stable = look->stable_ms > 0;
    look->waits_change = change != NULL;
    if (!change)
        return 0;
    if (strlen(change) == 16 && strspn(change, "0123456789abcdef") == 16)
        look->change_hash = strtoull(change, &end, 16);
    return end ? 0
               : err_set(err, ERR_ARGUMENTS,
                         "failed to parse function arguments: `wait_change`: '%.40s' is not the "
                         "hash of a screen; take one from an earlier answer",
                         change);
}

void cmd_READ_SCREEN(struct cmd_context *ctx, struct request *request)
{
    const struct json *params = request_params(request);
    struct err err = {0};
    struct look *look = xcalloc(1, sizeof *look);
    *look = (struct look){.ctx = ctx, .request = request};
    loop_timer_init(&look->stable, ctx->loop, on_stable, look);
    loop_timer_init(&look->deadline, ctx->loop, cmd_screen_on_deadline, look);
    loop_timer_init(&look->drawn, ctx->loop, on_drawn, look);
    request_on_cancel(request, cmd_screen_on_cancel, look);
    struct session *session = meta_session(ctx, json_get(params, "session_id"), &err);
    int64_t yield = 0;
    if (session && cmd_screen_parse(look, params, &err) == 0 &&
        cmd_screen_yield_ms(look, params, &yield, &err) == 0)
        look->watch = session_watch(session, cmd_screen_on_watch, look, &err);
    if (!look->watch) {
        cmd_screen_fail(look, &err);
        return;
    }
    look->number = session_number(session);
    if ((look->waits_change || look->waits_stable) && yield != INT64_MAX)
        loop_timer_set_ms(&look->deadline, yield);
    session_touch(session);
}
