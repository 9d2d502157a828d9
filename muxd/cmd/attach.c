/* attach: owns the connections that show a session. Each gets a drawing of its own, made when
 * its terminal has taken the drawing before: a slow terminal gets fewer drawings and slows no
 * other. What people type goes the way of all input. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/value.h"
#include "cmd/attachment.h"
#include "cmd/describe.h"
#include "cmd/reach.h"
#include "cmd/record.h"
#include "peer/stream.h"
#include "wire/schema.h"
#include <stdlib.h>
#include <string.h>

#define LARGE_BYTES 1024    /* after a drawing larger than this */
#define LARGE_OUTPUT 4096   /* or one that skipped more output than this */
#define PACE_MS 10          /* the next drawing waits this long */
/* and a millisecond longer for each of these: a flood gets fewer drawings, not a slower program */
#define PACE_BYTES 32768
#define PACE_MAX_MS 50      /* at most */
#define HALF_DRAWN_MS 100   /* how long a program that says it is drawing is waited for */
#define RESIZE_MS 15        /* changes of size within this time become one */

struct session *attachment_session(const struct attachment *attachment)
{
    return registry_by_number(attachment->ctx->registry, attachment->number);
}

/* The last frame: how the session ended. */
static void cmd_attach_finish(struct attachment *attachment, struct session *session)
{
    BUG_UNLESS(!attachment->finished);
    struct buf text = BUF_INIT;
    struct json *end = session ? describe_session(session) : json_object_new();
    if (!session)
        json_add_text(end, "state", "removed");
    json_print(&text, end);
    stream_send(attachment->peer, ATTACH_END, text.data,
                text.len < ATTACH_PAYLOAD_MAX ? text.len : 0);
    json_free(end);
    buf_fini(&text);
    if (session)
        session_end_read(session);
    attachment->finished = true;
    peer_finish(attachment->peer);
}

/* False: the program is in the middle of a drawing, and a timer or its next output brings us
 * back. */
static bool is_drawn(struct attachment *attachment, const struct screen *screen)
{
    if (attachment->ended || !screen_modes(screen)->synchronized) {
        loop_timer_stop(&attachment->drawn);
        attachment->late_drawn = false;
        return true;
    }
    if (attachment->late_drawn || loop_timer_is_set(&attachment->drawn))
        return attachment->late_drawn;
    loop_timer_set_ms(&attachment->drawn, HALF_DRAWN_MS);
    return false;
}

static bool may_draw(const struct attachment *attachment)
{
    return stream_pending(attachment->peer) == 0 &&
           (!loop_timer_is_set(&attachment->pace) || attachment->ended);
}

/* The screen model is fed only while a drawing can be made. */
static void rest_or_wake(struct attachment *attachment)
{
    if (attachment->finished)
        return;
    if (may_draw(attachment))
        watch_wake(attachment->watch, attachment->due);
    else
        watch_rest(attachment->watch);
}

static void pace(struct attachment *attachment, size_t drawn)
{
    uint64_t at = watch_offset(attachment->watch);
    /* at is 0 once the session was removed */
    uint64_t output = at > attachment->drawn_at ? at - attachment->drawn_at : 0;
    uint64_t wait_ms = PACE_MS + output / PACE_BYTES;
    if (drawn > LARGE_BYTES || output > LARGE_OUTPUT)
        loop_timer_set_ms(&attachment->pace,
                          wait_ms < PACE_MAX_MS ? (int64_t)wait_ms : PACE_MAX_MS);
    attachment->drawn_at = at;
}

/* What programs copy goes to one person, not to all who look on. */
static void set_pass(struct attachment *attachment)
{
    const struct config_attach *cfg = &attachment->ctx->config->attach;
    const struct profile *profile = attachment->profile;
    bool tells_cursor = profile && (profile->known & 1u << PROFILE_CURSOR);
    const struct paint_pass pass = {.fold = attachment->fold,
                                    .cursor = tells_cursor && attachment->fold != FOLD_PLAIN,
                                    .bell = cfg->bell,
                                    .wheel = cfg->wheel,
                                    .links = cfg->links,
                                    .copies = attachment->leads &&
                                              strcmp(cfg->clipboard, "terminal") == 0};
    paint_pass(attachment->paint, &pass);
}

static void draw(struct attachment *attachment)
{
    const struct screen *screen = watch_screen(attachment->watch);
    struct buf out;
    attachment->due = true;
    if (attachment->finished || !screen)
        return;
    if (!may_draw(attachment)) {
        watch_rest(attachment->watch);
        return;
    }
    if (!is_drawn(attachment, screen))
        return;
    buf_init(&out, PAINT_BYTES_MAX);
    set_pass(attachment);
    attachment->due = !paint_draw(attachment->paint, screen, &out);
    for (; attachment->anew > 0; attachment->anew--)
        stream_send(attachment->peer, ATTACH_ANEW, "", 0);
    if (out.len > 0)
        stream_send(attachment->peer, ATTACH_OUTPUT, out.data, out.len);
    pace(attachment, out.len);
    buf_fini(&out);
    if (attachment->ended && !attachment->due)
        cmd_attach_finish(attachment, attachment_session(attachment));
    if (!attachment->due)
        attach_notice_early(attachment);
    if (attachment->approvals_due && !attachment->due)
        attach_notice_approvals(attachment);
    rest_or_wake(attachment);
}

void attachment_draw_anew(struct attachment *attachment)
{
    paint_forget(attachment->paint);
    attachment->due = true;
    draw(attachment);
}

static void on_may_draw(void *arg)
{
    rest_or_wake(arg);
}

static void draw_if_due(void *arg)
{
    struct attachment *attachment = arg;
    if (attachment->due)
        draw(attachment);
}

static void on_late(void *arg)
{
    struct attachment *attachment = arg;
    attachment->late_drawn = true;
    draw_if_due(attachment);
}

static void cmd_attach_on_watch(void *arg, unsigned events)
{
    struct attachment *attachment = arg;
    attachment->ended |= events & WATCH_ENDED;
    if (attachment->finished)
        return;
    if (events & WATCH_GONE)
        cmd_attach_finish(attachment, NULL);
    else
        draw(attachment);
}

static void on_resize(void *arg)
{
    attach_size_changed(arg);
}

static void cmd_attach_take_size(struct attachment *attachment, const struct attach_frame *frame)
{
    char text[32] = "";
    int rows, cols;
    memcpy(text, frame->data, frame->size < sizeof text ? frame->size : sizeof text - 1);
    if (!value_size(text, &rows, &cols)) {
        attachment_notice(attachment,
                          "this terminal's size can't be used; use 1 to 1000 lines and columns");
        return;
    }
    if (rows == paint_rows(attachment->paint) && cols == paint_cols(attachment->paint))
        return;
    paint_resize(attachment->paint, rows, cols);
    if (!loop_timer_is_set(&attachment->resize))
        loop_timer_set_ms(&attachment->resize, RESIZE_MS);
    draw(attachment);
}

/* A terminal reports by itself that its window has got or lost the focus. */
static bool is_report(const struct attach_frame *frame)
{
    return frame->size == 3 &&
           (memcmp(frame->data, "\033[I", 3) == 0 || memcmp(frame->data, "\033[O", 3) == 0);
}

static void cmd_attach_type(struct attachment *attachment, const struct attach_frame *frame)
{
    struct session *session = attachment_session(attachment);
    struct err err;
    if (!session || !session_is_live(session) || frame->size == 0)
        return;
    if (attachment->read_only) {
        if (!is_report(frame))
            attachment_notice(attachment, "you are looking only: this was not typed");
        return;
    }
    if (!is_report(frame)) {
        attach_terminal_typed(attachment);
        attach_size_typed(attachment);
    }
    loop_timer_stop(&attachment->pace); /* the echo of a key does not wait */
    rest_or_wake(attachment);
    session_touch(session);
    int code = is_report(frame)
                   ? session_type(session, frame->data, frame->size, 0, false, &err)
                   : attach_keyboard_type(attachment, session, frame->data, frame->size, &err);
    if (code < 0)
        attachment_notice(attachment, err.text);
}

static void cmd_attach_on_frame(void *arg, const struct attach_frame *frame)
{
    struct attachment *attachment = arg;
    if (attachment->finished)
        return;
    switch (frame->type) {
    case ATTACH_INPUT:
        cmd_attach_type(attachment, frame);
        break;
    case ATTACH_KEYS: {
        struct attach_frame keys = *frame;
        if (attach_keyboard_begin_keys(attachment, &keys))
            cmd_attach_type(attachment, &keys);
        attachment->keys_id = 0;
        break;
    }
    case ATTACH_RESIZE:
        cmd_attach_take_size(attachment, frame);
        break;
    case ATTACH_REDRAW:
        paint_forget(attachment->paint);
        attachment->anew++;
        loop_timer_stop(&attachment->pace);
        draw(attachment);
        break;
    case ATTACH_TERMINAL:
        attach_terminal_told(attachment, frame->data, frame->size);
        draw(attachment); /* it may take the colour of the cursor now */
        break;
    case ATTACH_TAKE:
        attach_keyboard_take(attachment);
        break;
    case ATTACH_GIVE:
        attach_keyboard_give(attachment);
        break;
    case ATTACH_DETACH:
        attachment->finished = true;
        peer_finish(attachment->peer);
        break;
    default: /* from a newer client */
        break;
    }
}

static void attachment_free(struct attachment *attachment)
{
    struct attachment **at = &attachment->ctx->attachments;
    struct session *session = attachment_session(attachment);
    for (; *at != attachment; at = &(*at)->next)
        BUG_UNLESS(*at);
    attach_terminal_left(attachment);
    *at = attachment->next;
    attach_keyboard_end(attachment);
    if (session)
        session_attach(session, -1);
    if (!attachment->read_only)
        attach_size_left(attachment->ctx, attachment->number);
    loop_timer_stop(&attachment->pace);
    loop_timer_stop(&attachment->drawn);
    loop_timer_stop(&attachment->resize);
    watch_cancel(attachment->watch);
    paint_free(attachment->paint);
    free(attachment->early);
    free(attachment);
}

static void cmd_attach_on_gone(void *arg)
{
    attachment_free(arg);
}

static const struct stream_handlers handlers = {
    .frame = cmd_attach_on_frame, .drained = on_may_draw, .gone = cmd_attach_on_gone, .wipe = true};

static struct attachment *attachment_new(struct cmd_context *ctx, struct request *request,
                                         struct session *session, enum input_who who,
                                         struct err *err)
{
    const struct tool *tool = &tools[TOOL_ATTACH];
    const struct json *params = request_params(request);
    struct session *own = registry_of_process(ctx->registry, peer_pid(request_peer(request)));
    bool read_only = schema_bool(tool, params, "read_only", false);
    if (attach_nested_check(ctx, session, own, err) < 0 ||
        (!read_only && who == INPUT_BY_AGENT && reach_check(ctx, request, session, err) < 0))
        return NULL;
    struct attachment *attachment = xcalloc(1, sizeof *attachment);
    *attachment = (struct attachment){.ctx = ctx,
                                      .peer = request_peer(request),
                                      .number = session_number(session),
                                      .host = own ? session_number(own) : 0,
                                      .read_only = read_only,
                                      .approvals_due = !read_only};
    attachment->watch = session_watch(session, cmd_attach_on_watch, attachment, err);
    if (!attachment->watch || !stream_begin(request, &handlers, attachment)) {
        if (attachment->watch)
            err_set(err, ERR_INVALID_REQUEST,
                    "'attach' needs a connection of its own; wait for the answers that are due on "
                    "this one");
        watch_cancel(attachment->watch);
        free(attachment);
        return NULL;
    }
    attachment->paint = paint_new((int)schema_int(tool, params, "rows", 24),
                                  (int)schema_int(tool, params, "cols", 80));
    attachment->fold = fold_for(schema_int(tool, params, "colors", 1 << 24));
    watch_follow(attachment->watch);
    loop_timer_init(&attachment->pace, ctx->loop, on_may_draw, attachment);
    loop_timer_init(&attachment->drawn, ctx->loop, on_late, attachment);
    loop_timer_init(&attachment->resize, ctx->loop, on_resize, attachment);
    attachment->next = ctx->attachments;
    ctx->attachments = attachment;
    session_attach(session, 1);
    attach_keyboard_begin(attachment, session, request, who);
    return attachment;
}

/* Ends the other attachments of the same session. */
static void dismiss_others(const struct attachment *attachment)
{
    static const char end[] = "{\"state\":\"detached\"}";
    struct attachment *next;
    for (struct attachment *at = attachment->ctx->attachments; at; at = next) {
        next = at->next;
        if (at == attachment || at->number != attachment->number || at->finished)
            continue;
        stream_send(at->peer, ATTACH_END, end, strlen(end));
        at->finished = true;
        peer_finish(at->peer);
    }
}

/* The settings of [attach] that the client acts upon. */
static void add_settings(struct json *answer, const struct config *config)
{
    struct json *settings = json_add_object(answer, "attach");
    json_add_text(settings, "key", config_attach_key(config));
    json_add_bool(settings, "mouse", config->attach.mouse);
    json_add_text(settings, "clipboard", config->attach.clipboard);
}

void attachment_begin(struct cmd_context *ctx, struct request *request, struct session *session,
                      enum input_who who)
{
    struct err err;
    struct attachment *attachment = attachment_new(ctx, request, session, who, &err);
    if (!attachment) {
        request_fail(request, &err);
        return;
    }
    const struct json *params = request_params(request);
    if (schema_bool(&tools[TOOL_ATTACH], params, "detach_others", false))
        dismiss_others(attachment);
    bool again = schema_bool(&tools[TOOL_ATTACH], params, "again", false);
    if (!again)
        attach_size_changed(attachment);
    attach_terminal_joined(attachment, again);
    session_touch(session);
    struct json *answer = describe_session(session);
    add_settings(answer, ctx->config);
    request_reply(request, answer);
    attachment->answered = true;
    if (!again)
        record_tell_comer(attachment, session);
}
