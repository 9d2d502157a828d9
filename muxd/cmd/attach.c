/* attach: owns the connections that show a session: each has a drawing of its own, made when its terminal has taken the one before, so
 * that a slow one sees less often and slows nobody. What people type goes the way of all input. */
#include "base/mem.h"
#include "base/value.h"
#include "cmd/op.h"
#include "peer/stream.h"
#include "session/view.h"
#include "term/paint.h"
#include <stdlib.h>
#include <string.h>

#define LARGE_BYTES 1024    /* after a drawing larger than this … */
#define PACE_MS 10          /* … the next one waits */
#define HALF_DRAWN_MS 100   /* a program that says it is drawing is given this long */
#define RESIZE_MS 15        /* a storm of changes of size becomes one */
#define NOTICE_QUEUE 4096   /* over this a notice is one too many */
#define CHAIN_MAX 64        /* sessions shown in sessions */

struct attachment {
    struct attachment *next;
    struct cmd_context *ctx;
    struct peer *peer;
    struct watch *watch;
    struct paint *paint;
    uint64_t number, host; /* the session; the one that its viewer runs in, 0: none */
    bool read_only, ended, finished;
    bool followed;   /* in this search of shows() */
    bool due;        /* the screen may differ from what was drawn */
    bool late_drawn; /* the program is still drawing: enough waited */
    struct loop_timer pace, drawn, resize;
};

static struct session *session_of(const struct attachment *attachment)
{
    return registry_by_number(attachment->ctx->registry, attachment->number);
}

static void notice(struct attachment *attachment, const char *text)
{
    if (stream_pending(attachment->peer) < NOTICE_QUEUE && !attachment->finished)
        stream_send(attachment->peer, ATTACH_NOTICE, text, strlen(text));
}

/* The last frame: what became of the session. */
static void finish(struct attachment *attachment, struct session *session)
{
    struct buf text = BUF_INIT;
    struct json *end = session ? describe_session(session) : json_object_new();
    if (!session)
        json_add_text(end, "state", "removed");
    json_print(&text, end);
    stream_send(attachment->peer, ATTACH_END, text.data, text.len < ATTACH_PAYLOAD_MAX ? text.len : 0);
    json_free(end);
    buf_fini(&text);
    if (session)
        session_end_read(session);
    attachment->finished = true;
    peer_finish(attachment->peer);
}

/* False: it is half drawn, and will be looked at again. */
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

static void draw(struct attachment *attachment)
{
    const struct screen *screen = watch_screen(attachment->watch);
    struct buf out;
    attachment->due = true;
    if (attachment->finished || !screen || stream_pending(attachment->peer) > 0 ||
        (loop_timer_is_set(&attachment->pace) && !attachment->ended) || !is_drawn(attachment, screen))
        return;
    buf_init(&out, PAINT_BYTES_MAX);
    attachment->due = !paint_draw(attachment->paint, screen, &out);
    if (out.len > 0)
        stream_send(attachment->peer, ATTACH_OUTPUT, out.data, out.len);
    if (out.len > LARGE_BYTES)
        loop_timer_set_ms(&attachment->pace, PACE_MS);
    buf_fini(&out);
    if (attachment->ended && !attachment->due)
        finish(attachment, session_of(attachment));
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

static void on_watch(void *arg, unsigned events)
{
    struct attachment *attachment = arg;
    attachment->ended |= events & WATCH_ENDED;
    if (attachment->finished)
        return;
    if (events & WATCH_GONE)
        finish(attachment, NULL);
    else
        draw(attachment);
}

/* Who typed or changed the size of its terminal last decides. */
static void lead(struct attachment *attachment)
{
    struct session *session = session_of(attachment);
    int rows, cols, wanted_rows = paint_rows(attachment->paint), wanted_cols = paint_cols(attachment->paint);
    struct err err;
    if (attachment->read_only || !session || !session_is_live(session) || session_get_size(session, &rows, &cols) < 0)
        return;
    if ((rows != wanted_rows || cols != wanted_cols) && session_resize(session, wanted_rows, wanted_cols, &err) < 0)
        notice(attachment, err.text);
}

static void on_resize(void *arg)
{
    lead(arg);
}

static void take_size(struct attachment *attachment, const struct attach_frame *frame)
{
    char text[32] = "";
    int rows, cols;
    memcpy(text, frame->data, frame->size < sizeof text ? frame->size : sizeof text - 1);
    if (!value_size(text, &rows, &cols)) {
        notice(attachment, "this terminal's size can't be used; it has 1 to 1000 lines and columns");
        return;
    }
    paint_resize(attachment->paint, rows, cols);
    if (!loop_timer_is_set(&attachment->resize))
        loop_timer_set_ms(&attachment->resize, RESIZE_MS);
    draw(attachment);
}

static void type(struct attachment *attachment, const struct attach_frame *frame)
{
    struct session *session = session_of(attachment);
    struct err err;
    if (!session || !session_is_live(session) || frame->size == 0)
        return;
    if (attachment->read_only) {
        notice(attachment, "you are looking only: this was not typed");
        return;
    }
    lead(attachment);
    session_touch(session);
    /* As a secret: it may be one, and nobody wants a person's keys back. */
    if (session_type(session, frame->data, frame->size, 0, true, &err) < 0)
        notice(attachment, err.text);
}

static void on_frame(void *arg, const struct attach_frame *frame)
{
    struct attachment *attachment = arg;
    if (attachment->finished)
        return;
    switch (frame->type) {
    case ATTACH_INPUT:
        type(attachment, frame);
        break;
    case ATTACH_RESIZE:
        take_size(attachment, frame);
        break;
    case ATTACH_REDRAW:
        paint_forget(attachment->paint);
        draw(attachment);
        break;
    case ATTACH_DETACH:
        attachment->finished = true;
        peer_finish(attachment->peer);
        break;
    default: /* of a newer client */
        break;
    }
}

static void attachment_free(struct attachment *attachment)
{
    struct attachment **at = &attachment->ctx->attachments;
    struct session *session = session_of(attachment);
    while (*at != attachment)
        at = &(*at)->next;
    *at = attachment->next;
    if (session)
        session_attach(session, -1);
    loop_timer_stop(&attachment->pace);
    loop_timer_stop(&attachment->drawn);
    loop_timer_stop(&attachment->resize);
    watch_cancel(attachment->watch);
    paint_free(attachment->paint);
    free(attachment);
}

static void on_gone(void *arg)
{
    attachment_free(arg);
}

static const struct stream_handlers handlers = {.frame = on_frame, .drained = draw_if_due, .gone = on_gone};

/* Whether `inside` is shown, directly or through others, in something that runs in `from`: it would show itself for ever. */
static bool leads_to(const struct cmd_context *ctx, uint64_t from, uint64_t inside, int depth)
{
    if (from == inside || depth >= CHAIN_MAX)
        return true;
    for (struct attachment *at = ctx->attachments; at; at = at->next) {
        if (at->host != from || at->followed)
            continue;
        at->followed = true;
        if (leads_to(ctx, at->number, inside, depth + 1))
            return true;
    }
    return false;
}

static bool shows(const struct cmd_context *ctx, uint64_t from, uint64_t inside)
{
    for (struct attachment *at = ctx->attachments; at; at = at->next)
        at->followed = false;
    return leads_to(ctx, from, inside, 0);
}

static int check(struct cmd_context *ctx, struct session *session, const struct session *own, struct err *err)
{
    if (!session_is_live(session) && session_is_tty(session))
        return err_set(err, ERR_ENDED, "'%s': has ended; `ue screen %s` shows what it left", session_name(session), session_name(session));
    if (own == session)
        return err_set(err, ERR_SELF, "'%s': you are inside this session already; to show it in itself would never end",
                       session_name(session));
    if (own && shows(ctx, session_number(session), session_number(own)))
        return err_set(err, ERR_SELF, "'%s': shows the session '%s' that you are in; one in the other would never end",
                       session_name(session), session_name(own));
    return 0;
}

static struct attachment *attachment_new(struct cmd_context *ctx, struct request *request, struct session *session, struct err *err)
{
    const struct tool *tool = &tools[TOOL_ATTACH];
    const struct json *params = request_params(request);
    struct session *own = registry_of_process(ctx->registry, peer_pid(request_peer(request)));
    if (check(ctx, session, own, err) < 0)
        return NULL;
    struct attachment *attachment = xcalloc(1, sizeof *attachment);
    *attachment = (struct attachment){.ctx = ctx,
                                      .peer = request_peer(request),
                                      .number = session_number(session),
                                      .host = own ? session_number(own) : 0,
                                      .read_only = schema_bool(tool, params, "read_only", false)};
    attachment->watch = session_watch(session, on_watch, attachment, err);
    if (!attachment->watch || !stream_begin(request, &handlers, attachment)) {
        if (attachment->watch)
            err_set(err, ERR_INVALID_REQUEST, "'attach' changes its connection; wait for the answers to what was asked on it before");
        watch_cancel(attachment->watch);
        free(attachment);
        return NULL;
    }
    attachment->paint = paint_new((int)schema_int(tool, params, "rows", 24), (int)schema_int(tool, params, "cols", 80));
    watch_follow(attachment->watch);
    loop_timer_init(&attachment->pace, ctx->loop, draw_if_due, attachment);
    loop_timer_init(&attachment->drawn, ctx->loop, on_late, attachment);
    loop_timer_init(&attachment->resize, ctx->loop, on_resize, attachment);
    attachment->next = ctx->attachments;
    ctx->attachments = attachment;
    session_attach(session, 1);
    return attachment;
}

void cmd_ATTACH(struct cmd_context *ctx, struct request *request)
{
    char room[SCHEMA_SESSION_ROOM];
    struct err err;
    struct session *session = registry_find(ctx->registry, schema_session(json_get(request_params(request), "session_id"), room), &err);
    struct attachment *attachment = session ? attachment_new(ctx, request, session, &err) : NULL;
    if (!attachment) {
        request_fail(request, &err);
        return;
    }
    lead(attachment);
    session_touch(session);
    request_reply(request, describe_session(session));
}
