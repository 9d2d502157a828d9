/* view_feed.c: owns a screen model's way through the output: how much a turn may take, changes
 * of size at their places, and what replaces output that the journal no longer has. */
#include "base/bug.h"
#include "base/clock.h"
#include "parts/view/view_internal.h"
#include "term/modes.h"
#include "term/scan.h"
#include <string.h>

#define TURN_NS (2 * NS_PER_MS) /* for all models together */
/* The least that each model gets, however slow the machine is: more than a turn reads, or the
 * model would never catch up. */
#define LEAST_BYTES (96u << 10)
#define LEAST_WORK (1u << 20)
#define SLICE_BYTES (16u << 10)
#define SLICE_WORK (256u << 10) /* about so many cells that it touches */

/* Sizes. */

static const struct view_size *last_size(const struct view *view)
{
    return view->size_count > 0 ? &view->sizes[view->size_count - 1] : NULL;
}

void view_note_size(struct view *view, int rows, int cols)
{
    uint64_t head = journal_head(view->session->journal);
    const struct view_size *last = last_size(view);
    BUG_UNLESS(view->sizes_done <= view->size_count && view->size_count <= VIEW_SIZES);
    if (last && last->rows == rows && last->cols == cols)
        return;
    /* the second oldest is dropped: what came under it counts for the next one */
    if (view->size_count == VIEW_SIZES) {
        memmove(view->sizes + 1, view->sizes + 2, (VIEW_SIZES - 2) * sizeof *view->sizes);
        view->size_count--;
        view->sizes_done -= view->sizes_done > 1;
    }
    view->sizes[view->size_count++] = (struct view_size){
        .offset = last ? head : 0, .rows = rows, .cols = cols};
}

/* The program may have changed it, too (stty rows). The model itself follows DECCOLM. */
static void note_current_size(struct view *view)
{
    int rows, cols;
    if (session_get_own_size(view->session, &rows, &cols) == 0)
        view_note_size(view, rows, cols);
}

/* Applies the sizes whose place has come. Returns the next place where the size changes. */
static uint64_t apply_sizes(struct view *view)
{
    while (view->sizes_done < view->size_count &&
           view->sizes[view->sizes_done].offset <= view->at) {
        screen_resize(view->screen, view->sizes[view->sizes_done].rows,
                      view->sizes[view->sizes_done].cols);
        view->sizes_done++;
    }
    return view->sizes_done < view->size_count ? view->sizes[view->sizes_done].offset : UINT64_MAX;
}

void view_begin(struct view *view)
{
    note_current_size(view);
    BUG_UNLESS(view->size_count > 0);
    screen_free(view->screen);
    view->screen = screen_new(view->sizes[0].rows, view->sizes[0].cols,
                              (size_t)view->session->registry->cfg->limits.scrollback_bytes);
    view->at = 0;
    view->sizes_done = 0;
    view->caught_up = false;
}

/* Gaps. */

/* The first of a kind of switch in a piece of output. */
struct first {
    bool any;
    bool value;  /* the switch sets the mode */
    bool by_csi; /* the switch is a sequence, not a reset of the terminal */
};

static void note_first(struct first *first, bool value, bool by_csi)
{
    if (!first->any)
        *first = (struct first){.any = true, .value = value, .by_csi = by_csi};
}

/* What the output from `from` up to the place of the session's known modes does to the alternate
 * screen and to kitty's keyboard flags. A sequence switches a mode if the mode is the same after
 * it, whether it was set or reset before. */
static void find_switches(const struct session *session, uint64_t from, struct first *alternate,
                          struct first *kitty)
{
    uint64_t end = atomic_load(&session->journal->header->answered_to),
             always = UINT64_C(1) << MODE_ALTERNATE_SCREEN;
    while (from < end) {
        size_t size, at = 0;
        const char *data = journal_view(session->journal, &from, &size);
        struct scan_seq seq;
        if (!data)
            return;
        size = size < end - from ? size : (size_t)(end - from);
        scan_past_drawing(data, size, &at);
        while (scan_next(data, size, &at, &seq)) {
            uint64_t clear = 0, set = always;
            if (seq.kind == SCAN_CSI && seq.final == 'u' && seq.prefix && seq.prefix != '?')
                note_first(kitty, true, true);
            else if (modes_apply(&clear, &seq) && modes_apply(&set, &seq) &&
                     !((clear ^ set) & always))
                note_first(alternate, clear & always, seq.kind == SCAN_CSI);
            scan_past_drawing(data, size, &at);
        }
        from += size;
    }
}

/* Whether the byte at `at` shows that all before it belongs to a control string: ESC \ has no
 * other meaning, and BEL ends one where no line of text would be so long. */
static bool shows_string(const char *data, size_t at, size_t size)
{
    if (data[at] != '\a' || at < SCAN_STRING_MAX)
        return data[at] == '\033' && at + 1 < size && data[at + 1] == '\\';
    for (size_t i = 0; i < at; i++)
        if ((unsigned char)data[i] < ' ')
            return false;
    return true;
}

/* Whether the output from `from` on begins within a control string. */
static bool begins_in_string(const struct session *session, uint64_t from)
{
    uint64_t end = atomic_load(&session->journal->header->answered_to);
    while (from < end) {
        size_t size, at = 0;
        const char *data = journal_view(session->journal, &from, &size);
        if (!data)
            return false;
        size = size < end - from ? size : (size_t)(end - from);
        while (at < size && !scan_ends_string(data[at]))
            at++;
        if (at < size)
            return shows_string(data, at, size);
        from += size;
    }
    return modes_has(atomic_load(&session->journal->header->modes), MODE_LONG_STRING);
}

/* Replaces missing output. The modes that it has set are what the session has now, except for
 * those that the remaining output sets again. Which of the two screens was shown follows from
 * the first switch to the other. */
static void bridge_gap(struct view *view, uint64_t from)
{
    const struct session *session = view->session;
    uint64_t modes = atomic_load(&session->journal->header->modes);
    bool alternate = modes_has(modes, MODE_ALTERNATE_SCREEN);
    struct first screens = {.any = false}, kitty = {.any = false};
    struct buf words = BUF_INIT;
    find_switches(session, from, &screens, &kitty);
    if (screens.any)
        alternate = screens.by_csi && !screens.value;
    screen_gap(view->screen);
    modes_append(&words, modes, !kitty.any);
    if (screen_colours(view->screen) || terminal_get(view->session)->colours)
        colours_append(&words, terminal_get(view->session)->colours);
    if (alternate != screen_is_alternate(view->screen))
        buf_append_text(&words, alternate ? "\033[?1049h" : "\033[?1049l");
    screen_say(view->screen, words.data, words.len);
    buf_fini(&words);
    if (begins_in_string(session, from))
        screen_gap_in_string(view->screen);
    view->at = from;
}

/* Feeding. */

/* Feeds a slice at most. False: nothing is left to feed. */
static bool feed_slice(struct view *view, uint64_t limit)
{
    uint64_t change = apply_sizes(view), end = limit < change ? limit : change, from = view->at;
    size_t size;
    if (view->at >= limit)
        return false;
    const char *data = journal_view(view->session->journal, &from, &size);
    if (!data)
        return false;
    if (from > view->at) { /* the journal no longer has the output in between */
        bridge_gap(view, from);
        return true;
    }
    size = size < end - from ? size : (size_t)(end - from);
    view->at += screen_feed_some(view->screen, data, size < SLICE_BYTES ? size : SLICE_BYTES,
                                 SLICE_WORK);
    return true;
}

bool view_feed(struct view *view, uint64_t limit)
{
    const struct registry *registry = view->session->registry;
    struct views *views = registry->part[PART_VIEW];
    BUG_UNLESS(view->screen);
    note_current_size(view);
    if (views->feed_turn != registry->turn) {
        views->feed_turn = registry->turn;
        views->fed_ns = 0;
    }
    int64_t begin = clock_mono_ns(), now = begin;
    uint64_t from = view->at;
    size_t work = 0;
    while (feed_slice(view, limit)) {
        work += screen_work(view->screen);
        now = clock_mono_ns();
        if (views->fed_ns + now - begin >= TURN_NS &&
            (view->at - from >= LEAST_BYTES || work >= LEAST_WORK))
            break;
    }
    views->fed_ns += now - begin;
    return view->at >= limit;
}
