/* view.c: owns how screen models are made and dropped, and who watches them. */
#include "base/bug.h"
#include "base/log.h"
#include "base/mem.h"
#include "parts/view/queries.h"
#include "parts/view/view_internal.h"
#include "sys/pty.h"
#include <stdlib.h>
#include <string.h>

#define IDLE_MS 60000                 /* how long a model without watches is kept */
/* how often the followers of a model that can't catch up are shown what it has */
#define BEHIND_NS (30 * NS_PER_MS)

struct watch {
    struct list link;    /* of the view's watches */
    struct deferred told; /* at the end of this turn */
    struct registry *registry;
    struct view *view; /* NULL: the session was removed */
    watch_fn *fn;
    void *arg;
    unsigned events;
    bool follows;     /* it is told also while the model is behind */
    bool rests;       /* it can't show anything now */
    bool woken;       /* it will be told, also if nothing has changed */
    bool seen, ended; /* it was told of the first screen; and of the end */
    uint64_t version;
};

static struct views *views_of(const struct session *session)
{
    return session->registry->part[PART_VIEW];
}

static struct terminal *terminal_of(const struct session *session)
{
    return session->part[PART_VIEW];
}

struct terminal *terminal_get(struct session *session)
{
    if (!terminal_of(session))
        session->part[PART_VIEW] = xcalloc(1, sizeof(struct terminal));
    return terminal_of(session);
}

static void on_more(void *arg)
{
    struct view *view = arg;
    session_dirty(view->session);
}

static void drop_screen(struct view *view)
{
    screen_free(view->screen);
    view->screen = NULL;
    view->caught_up = view->asked = false;
    list_remove(&view->link);
    loop_timer_stop(&view->more);
    loop_timer_stop(&view->idle);
}

static void view_on_idle(void *arg)
{
    drop_screen(arg);
}

static struct view *view_get(struct session *session)
{
    struct terminal *terminal = terminal_get(session);
    if (terminal->view)
        return terminal->view;
    struct view *view = xcalloc(1, sizeof *view);
    view->session = session;
    view->ask = UINT64_MAX;
    list_init(&view->link);
    list_init(&view->watches);
    loop_timer_init(&view->more, session->registry->loop, on_more, view);
    loop_timer_init(&view->idle, session->registry->loop, view_on_idle, view);
    terminal->view = view;
    session_io_watched(session);
    return view;
}

/* All output before the change was read. */
static void view_resized(struct session *session, const struct part_resize *resize)
{
    struct view *view = view_get(session);
    view_note_size(view, resize->old_rows, resize->old_cols);
    view_note_size(view, resize->rows, resize->cols);
    session_dirty(session);
}

/* The model. */

static size_t memory_of_all(const struct views *views)
{
    size_t bytes = 0;
    for (const struct list *at = views->used.next; at != &views->used; at = at->next)
        bytes += screen_memory(LIST_OWNER(at, struct view, link)->screen);
    return bytes;
}

/* Drops models without watches, the least recently used first, until the others fit. */
static void view_make_room(const struct view *kept)
{
    struct views *views = views_of(kept->session);
    size_t max = (size_t)kept->session->registry->cfg->limits.screens_bytes,
           bytes = memory_of_all(views);
    struct list *next;
    for (struct list *at = views->used.next; at != &views->used && bytes > max; at = next) {
        struct view *view = LIST_OWNER(at, struct view, link);
        next = at->next;
        if (view == kept || view->asked || !list_is_empty(&view->watches))
            continue;
        bytes -= screen_memory(view->screen);
        drop_screen(view);
    }
}

static void view_use(struct view *view)
{
    if (!view->screen) {
        view_begin(view);
        view_make_room(view);
    }
    list_remove(&view->link);
    list_append(&views_of(view->session)->used, &view->link);
    if (list_is_empty(&view->watches))
        loop_timer_set_ms(&view->idle, IDLE_MS);
    else
        loop_timer_stop(&view->idle);
}

static void catch_up(struct view *view)
{
    uint64_t head = journal_head(view->session->journal);
    int64_t now = loop_now_ns(view->session->registry->loop);
    view_feed(view, view->ask < head ? view->ask : head);
    view->ask = UINT64_MAX; /* a query that still waits asks again in each look */
    BUG_UNLESS(view->at <= head);
    view->caught_up = view->at >= head;
    if (view->caught_up) {
        view->behind_ns = 0;
        return;
    }
    if (view->behind_ns == 0)
        view->behind_ns = now;
    loop_timer_set_ns(&view->more, now);
}

int view_screen_at(struct session *session, uint64_t offset, const struct screen **screen)
{
    if (!session_is_tty(session))
        return -1;
    struct view *view = view_get(session);
    view_use(view);
    view->asked = !view_feed(view, offset);
    view->ask = view->asked ? offset : UINT64_MAX;
    if (view->asked) {
        loop_timer_set_ns(&view->more, loop_now_ns(session->registry->loop));
        return 0;
    }
    *screen = view->screen;
    return 1;
}

/* Watches. */

static void view_on_told(void *arg)
{
    struct watch *watch = arg;
    unsigned events = watch->events;
    watch->events = 0;
    watch->fn(watch->arg, events);
}

static void view_tell(struct watch *watch, unsigned events)
{
    BUG_UNLESS(watch->view || events == WATCH_GONE);
    watch->events |= events;
    registry_defer(watch->registry, &watch->told);
}

struct watch *session_watch(struct session *session, watch_fn *fn, void *arg, struct err *err)
{
    struct registry *registry = session->registry;
    if (!session_is_tty(session)) {
        err_set(err, ERR_NOT_AVAILABLE,
                "'%s' has no terminal and so no screen; read its output (ue poll), or start it "
                "with one "
                "(ue exec -t)",
                session_name(session));
        return NULL;
    }
    if (waiter_take_place(registry, err) != 0)
        return NULL;
    struct watch *watch = xcalloc(1, sizeof *watch);
    *watch = (struct watch){.registry = registry, .view = view_get(session), .fn = fn, .arg = arg};
    watch->told = (struct deferred){.fn = view_on_told, .arg = watch};
    list_append(&watch->view->watches, &watch->link);
    watch->view->awake++;
    view_use(watch->view);
    watch->view->caught_up &= watch->view->at >= journal_head(session->journal);
    session_dirty(session);
    return watch;
}

void watch_cancel(struct watch *watch)
{
    if (!watch)
        return;
    list_remove(&watch->link);
    defer_cancel(&watch->told);
    waiter_give_place(watch->registry);
    if (watch->view) {
        BUG_UNLESS(watch->rests || watch->view->awake > 0);
        watch->view->awake -= !watch->rests;
        view_use(watch->view);
    }
    free(watch);
}

const struct screen *watch_screen(const struct watch *watch)
{
    bool early = watch->follows && watch->seen;
    return watch->view && (watch->view->caught_up || early) ? watch->view->screen : NULL;
}

uint64_t watch_offset(const struct watch *watch)
{
    return watch->view ? watch->view->at : 0;
}

void watch_follow(struct watch *watch)
{
    watch->follows = true;
}

void watch_rest(struct watch *watch)
{
    if (watch->rests || !watch->view)
        return;
    BUG_UNLESS(watch->view->awake > 0);
    watch->rests = true;
    watch->view->awake--;
}

void watch_wake(struct watch *watch, bool tell_anyway)
{
    struct view *view = watch->view;
    if (!view)
        return;
    bool rested = watch->rests;
    view->awake += rested;
    watch->rests = false;
    watch->woken |= tell_anyway;
    bool missed = view->at < journal_head(view->session->journal) ||
                  watch->version != screen_version(view->screen) ||
                  (view->session->finished && !watch->ended);
    if (watch->woken || (rested && missed))
        session_dirty(view->session);
}

/* Watches that rest are told once they wake. */
static void tell_followers(struct view *view)
{
    int64_t now = loop_now_ns(view->session->registry->loop);
    if (now - view->behind_ns < BEHIND_NS)
        return;
    view->behind_ns = now;
    for (struct list *at = view->watches.next; at != &view->watches; at = at->next) {
        struct watch *watch = LIST_OWNER(at, struct watch, link);
        if (watch->follows && watch->seen && !watch->rests)
            view_tell(watch, WATCH_BEHIND);
    }
}

static void view_look(struct session *session)
{
    struct terminal *terminal = terminal_of(session);
    struct view *view = terminal ? terminal->view : NULL;
    if (!view || !view->screen || view->awake == 0)
        return;
    catch_up(view);
    if (!view->caught_up) {
        tell_followers(view);
        return;
    }
    uint64_t version = screen_version(view->screen);
    bool fresh = false;
    for (struct list *at = view->watches.next; at != &view->watches; at = at->next) {
        struct watch *watch = LIST_OWNER(at, struct watch, link);
        if (watch->rests)
            continue;
        if (!watch->seen || watch->woken || watch->version != version)
            view_tell(watch, WATCH_CHANGED);
        if (session->finished && !watch->ended)
            view_tell(watch, WATCH_ENDED);
        fresh |= !watch->seen;
        watch->seen = true;
        watch->woken = false;
        watch->ended = session->finished;
        watch->version = version;
    }
    if (fresh) /* the model may have grown since it was made */
        view_make_room(view);
}

static void free_view(struct view *view)
{
    while (!list_is_empty(&view->watches)) {
        struct watch *watch = LIST_OWNER(view->watches.next, struct watch, link);
        list_remove(&watch->link);
        watch->view = NULL;
        watch->events = 0;
        view_tell(watch, WATCH_GONE);
    }
    drop_screen(view);
    free(view);
}

static void view_free_terminal(struct session *session)
{
    struct terminal *terminal = terminal_of(session);
    if (!terminal)
        return;
    if (terminal->view)
        free_view(terminal->view);
    queries_free(terminal->queries);
    colours_reset(&terminal->colours);
    free(terminal);
    session->part[PART_VIEW] = NULL;
}

static void view_init(struct registry *registry)
{
    struct views *views = xcalloc(1, sizeof *views);
    list_init(&views->used);
    registry->part[PART_VIEW] = views;
}

static void view_fini(struct registry *registry)
{
    const struct views *views = registry->part[PART_VIEW];
    BUG_UNLESS(list_is_empty(&views->used));
    free(registry->part[PART_VIEW]);
    registry->part[PART_VIEW] = NULL;
}

const struct part view_part = {
    .init = view_init,
    .fini = view_fini,
    .late_look = view_look,
    .free = view_free_terminal,
    .answer = queries_look,
    .answer_late = queries_type_late,
    .resized = view_resized,
};

void session_set_cell(struct session *session, int height, int width)
{
    int old_height, old_width;
    if (!session_is_tty(session) || session->finished || session->out.fd < 0 || height < 1 ||
        width < 1 || pty_get_cell(session->out.fd, &old_height, &old_width) < 0 ||
        (height == old_height && width == old_width))
        return;
    int code = pty_set_cell(session->out.fd, height, width);
    if (code < 0)
        log_debug("session %llu: the size of its cells can't be set: %s",
                  (unsigned long long)session_number(session), strerror(-code));
}
