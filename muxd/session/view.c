/* view.c: owns the making, feeding and dropping of screen models, and who watches them. */
#include "session/view.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/internal.h"
#include "term/modes.h"
#include <stdlib.h>
#include <string.h>

#define BUDGET_BYTES (128u << 10) /* fed in one turn, */
#define BUDGET_WORK (1u << 20)    /* or until so many cells were touched */
#define CURSOR_BYTES (4u << 20)   /* fed at once for a question about the cursor */
#define CURSOR_WORK (32u << 20)
#define IDLE_MS 60000 /* a model without watchers is kept so long */
#define SIZES_MAX 64  /* changes of size that are remembered with their place in the output */

struct view_size {
    uint64_t offset; /* from here on */
    int rows, cols;
};

struct view {
    struct session *session;
    struct list link;      /* registry->views, the most recently used last; only with a screen */
    struct screen *screen; /* NULL: nobody looks */
    uint64_t at;           /* output offset up to which it was fed */
    bool caught_up;
    bool cut, forced; /* it was begun in the middle; and once more, in the alternate screen */
    struct list watches;
    struct loop_timer more, idle;
    struct view_size sizes[SIZES_MAX]; /* [0] holds from the beginning */
    size_t size_count, sizes_done;     /* known; in force in the screen */
};

struct watch {
    struct list link;    /* of the view */
    struct list pending; /* of the registry: it will be told at the end of this turn */
    struct registry *registry;
    struct view *view; /* NULL: the session has gone */
    watch_fn *fn;
    void *arg;
    unsigned events;
    bool follows;     /* wants to be told also while the model is behind */
    bool seen, ended; /* it was told of the first screen; of the end */
    uint64_t version;
};

static void on_more(void *arg)
{
    struct view *view = arg;
    session_dirty(view->session);
}

static void drop_screen(struct view *view)
{
    screen_free(view->screen);
    view->screen = NULL;
    view->caught_up = false;
    list_remove(&view->link);
    loop_timer_stop(&view->more);
    loop_timer_stop(&view->idle);
}

static void on_idle(void *arg)
{
    drop_screen(arg);
}

static struct view *get(struct session *session)
{
    if (session->view)
        return session->view;
    struct view *view = xcalloc(1, sizeof *view);
    view->session = session;
    list_init(&view->link);
    list_init(&view->watches);
    loop_timer_init(&view->more, session->registry->loop, on_more, view);
    loop_timer_init(&view->idle, session->registry->loop, on_idle, view);
    session->view = view;
    return view;
}

/* Sizes. */

static const struct view_size *last_size(const struct view *view)
{
    return view->size_count > 0 ? &view->sizes[view->size_count - 1] : NULL;
}

static void note_size(struct view *view, int rows, int cols)
{
    uint64_t head = journal_head(view->session->journal);
    const struct view_size *last = last_size(view);
    if (last && last->rows == rows && last->cols == cols)
        return;
    if (view->size_count == SIZES_MAX) { /* what was between counts as the size after it */
        memmove(view->sizes + 1, view->sizes + 2, (SIZES_MAX - 2) * sizeof *view->sizes);
        view->size_count--;
        view->sizes_done -= view->sizes_done > 1;
    }
    view->sizes[view->size_count++] = (struct view_size){.offset = last ? head : 0, .rows = rows, .cols = cols};
}

void view_resized(struct session *session, int rows, int cols)
{
    int old_rows, old_cols;
    if (session_get_size(session, &old_rows, &old_cols) < 0)
        return;
    note_size(get(session), old_rows, old_cols);
    note_size(session->view, rows, cols);
    session_dirty(session);
}

/* The program may have changed it, too (stty rows). */
static void note_current_size(struct view *view)
{
    int rows, cols;
    if (session_get_size(view->session, &rows, &cols) == 0)
        note_size(view, rows, cols);
}

/* Sizes whose place has come. Returns the next place where one changes. */
static uint64_t apply_sizes(struct view *view)
{
    while (view->sizes_done < view->size_count && view->sizes[view->sizes_done].offset <= view->at) {
        screen_resize(view->screen, view->sizes[view->sizes_done].rows, view->sizes[view->sizes_done].cols);
        view->sizes_done++;
    }
    return view->sizes_done < view->size_count ? view->sizes[view->sizes_done].offset : UINT64_MAX;
}

/* The model. */

static size_t memory_of_all(const struct registry *registry)
{
    size_t bytes = 0;
    for (const struct list *at = registry->views.next; at != &registry->views; at = at->next)
        bytes += screen_memory(LIST_OWNER(at, struct view, link)->screen);
    return bytes;
}

/* The one that nobody has used for longest goes, until the others fit. */
static void make_room(struct registry *registry, const struct view *kept)
{
    size_t max = (size_t)registry->cfg->limits.screens_bytes, bytes = memory_of_all(registry);
    struct list *next;
    for (struct list *at = registry->views.next; at != &registry->views && bytes > max; at = next) {
        struct view *view = LIST_OWNER(at, struct view, link);
        next = at->next;
        if (view == kept || !list_is_empty(&view->watches))
            continue;
        bytes -= screen_memory(view->screen);
        drop_screen(view);
    }
}

static void begin(struct view *view, bool alternate)
{
    struct registry *registry = view->session->registry;
    note_current_size(view);
    screen_free(view->screen);
    view->screen = screen_new(view->sizes[0].rows, view->sizes[0].cols, (size_t)registry->cfg->limits.scrollback_bytes);
    view->at = 0;
    view->sizes_done = 0;
    view->caught_up = false;
    view->cut = false;
    view->forced = alternate;
    if (alternate)
        screen_feed(view->screen, "\033[?1049h", 8);
}

static void use(struct view *view)
{
    struct registry *registry = view->session->registry;
    if (!view->screen) {
        begin(view, false);
        make_room(registry, view);
    }
    list_remove(&view->link);
    list_append(&registry->views, &view->link);
    if (list_is_empty(&view->watches))
        loop_timer_set_ms(&view->idle, IDLE_MS);
    else
        loop_timer_stop(&view->idle);
}

/* Feeds up to limit, or as far as bytes and work allow. */
static void feed(struct view *view, uint64_t limit, size_t bytes, size_t work)
{
    struct journal *journal = view->session->journal;
    for (;;) {
        uint64_t change = apply_sizes(view), end = limit < change ? limit : change, from = view->at;
        size_t size;
        if (view->at >= limit || bytes == 0 || work == 0)
            return;
        const char *data = journal_view(journal, &from, &size);
        if (!data)
            return;
        if (from > view->at) { /* the journal holds no more what stood here */
            screen_gap(view->screen);
            view->cut = true;
            view->at = from;
            continue;
        }
        size = size < end - from ? size : (size_t)(end - from);
        size = size < bytes ? size : bytes;
        size_t used = screen_feed_some(view->screen, data, size, work), worked = screen_work(view->screen);
        view->at += used;
        bytes -= used;
        work -= worked < work ? worked : work;
    }
}

/* Where the beginning is lost, the way into the alternate screen may be lost with it; the session knows better. */
static bool begun_wrongly(const struct view *view)
{
    uint64_t modes = atomic_load(&view->session->journal->header->modes);
    return view->cut && !view->forced && modes_has(modes, MODE_ALTERNATE_SCREEN) && !screen_is_alternate(view->screen);
}

static void catch_up(struct view *view)
{
    uint64_t head = journal_head(view->session->journal);
    note_current_size(view);
    feed(view, head, BUDGET_BYTES, BUDGET_WORK);
    view->caught_up = view->at >= head;
    if (view->caught_up && begun_wrongly(view)) {
        begin(view, true);
        feed(view, head, BUDGET_BYTES, BUDGET_WORK);
        view->caught_up = view->at >= head;
    }
    if (!view->caught_up)
        loop_timer_set_ns(&view->more, loop_now_ns(view->session->registry->loop));
}

int view_cursor_at(struct session *session, uint64_t offset, int *row, int *col)
{
    if (!session_is_tty(session))
        return -1;
    struct view *view = get(session);
    use(view);
    note_current_size(view);
    feed(view, offset, CURSOR_BYTES, CURSOR_WORK);
    if (view->at < offset)
        return -1;
    struct screen_cursor cursor = screen_cursor(view->screen);
    *row = cursor.row + 1;
    *col = cursor.col + 1;
    return 0;
}

/* Watches. */

static void tell(struct watch *watch, unsigned events)
{
    watch->events |= events;
    if (!list_is_empty(&watch->pending))
        return;
    list_append(&watch->registry->watched, &watch->pending);
    registry_kick(watch->registry);
}

struct watch *session_watch(struct session *session, watch_fn *fn, void *arg, struct err *err)
{
    struct registry *registry = session->registry;
    if (!session_is_tty(session)) {
        err_set(err, ERR_NOT_AVAILABLE, "'%s' has no terminal and so no screen; read its output (ue poll), or start it with one "
                                        "(ue exec -t)", session_name(session));
        return NULL;
    }
    if (registry->waits >= (unsigned)registry->cfg->limits.waits) {
        err_set(err, ERR_LIMIT, "%u calls are waiting already, which is [limits] 'waits'; end some or raise it", registry->waits);
        return NULL;
    }
    struct watch *watch = xcalloc(1, sizeof *watch);
    *watch = (struct watch){.registry = registry, .view = get(session), .fn = fn, .arg = arg};
    list_init(&watch->pending);
    list_append(&watch->view->watches, &watch->link);
    registry->waits++;
    use(watch->view);
    session_dirty(session);
    return watch;
}

void watch_cancel(struct watch *watch)
{
    if (!watch)
        return;
    list_remove(&watch->link);
    list_remove(&watch->pending);
    watch->registry->waits--;
    if (watch->view)
        use(watch->view);
    free(watch);
}

const struct screen *watch_screen(const struct watch *watch)
{
    bool early = watch->follows && watch->seen;
    return watch->view && (watch->view->caught_up || early) ? watch->view->screen : NULL;
}

void watch_follow(struct watch *watch)
{
    watch->follows = true;
}

static void tell_followers(struct view *view)
{
    for (struct list *at = view->watches.next; at != &view->watches; at = at->next) {
        struct watch *watch = LIST_OWNER(at, struct watch, link);
        if (watch->follows && watch->seen)
            tell(watch, WATCH_BEHIND);
    }
}

void view_look(struct session *session)
{
    struct view *view = session->view;
    if (!view || !view->screen || list_is_empty(&view->watches))
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
        if (!watch->seen || watch->version != version)
            tell(watch, WATCH_CHANGED);
        if (session->finished && !watch->ended)
            tell(watch, WATCH_ENDED);
        fresh |= !watch->seen;
        watch->seen = true;
        watch->ended = session->finished;
        watch->version = version;
    }
    if (fresh) /* it may have grown since it was begun */
        make_room(session->registry, view);
}

void view_run_watches(struct registry *registry)
{
    while (!list_is_empty(&registry->watched)) {
        struct watch *watch = LIST_OWNER(registry->watched.next, struct watch, pending);
        unsigned events = watch->events;
        watch->events = 0;
        list_remove(&watch->pending);
        watch->fn(watch->arg, events);
    }
}

void view_free(struct session *session)
{
    struct view *view = session->view;
    if (!view)
        return;
    while (!list_is_empty(&view->watches)) {
        struct watch *watch = LIST_OWNER(view->watches.next, struct watch, link);
        list_remove(&watch->link);
        watch->view = NULL;
        watch->events = 0;
        tell(watch, WATCH_GONE);
    }
    drop_screen(view);
    free(view);
    session->view = NULL;
}
