/* chooser: owns the list on the terminal, and the line that is selected. */
#include "client/attach/chooser.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/value.h"
#include "client/terminal/fit.h"
#include "client/terminal/overlay.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREVIEW_ROWS 8 /* at least; with less room there is no preview */
#define WIDE_COLS 69   /* with less there are no columns in the list */

struct chooser {
    const struct chooser_options *options;
    const struct json *all, **sessions; /* sessions: owned array of those that pass the filter */
    size_t count, at, top;
    struct chosen *chosen;
    bool typing; /* letters go to the filter */
    char filter[CHOOSER_TYPED_MAX + 1];
    char *preview; /* owned: of the session `shown`; NULL: nothing */
    int64_t shown;
};

bool chooser_takes(const struct json *session, int64_t *number)
{
    bool tty = false;
    const char *own = getenv("MUXD_SESSION_ID");
    char word[24];
    if (!json_get_bool(session, "tty", &tty) || !tty ||
        !json_get_int(session, "session_id", number))
        return false;
    snprintf(word, sizeof word, "%" PRId64, *number);
    return !own || strcmp(own, word) != 0;
}

/* cols: of the terminal; on a narrow one there is only what tells sessions apart. */
static void chooser_append_session(struct buf *out, const struct json *session, int cols)
{
    int64_t number = 0, attached = 0;
    size_t len = 0;
    const char *name = json_get_str(session, "name", NULL),
               *state = json_get_str(session, "state", NULL);
    const char *waits = json_get_str(session, "waiting_for", NULL),
               *cmd = json_get_str(session, "cmd", &len);
    char people[32] = "";
    json_get_int(session, "session_id", &number);
    json_get_int(session, "attached", &attached);
    if (attached > 0)
        snprintf(people, sizeof people, "%" PRId64 " attached", attached);
    if (cols < WIDE_COLS) {
        buf_printf(out, "%4" PRId64 "  %s  %s  ", number, name ? name : "?", waits ? waits : "");
        utf8_append_escaped(out, cmd ? cmd : "", len, false);
        return;
    }
    buf_printf(out, "%6" PRId64 "  %-20s  %-8s  %-6s  %-12s  ", number, name ? name : "?",
               state ? state : "?", waits ? waits : "-", people);
    utf8_append_escaped(out, cmd ? cmd : "", len, false);
}

static size_t chooser_rows(const struct chooser *chooser)
{
    return chooser->count + chooser->options->offers_new;
}

/* 0: none; CHOOSER_NEW */
static int64_t selected_of(const struct chooser *chooser)
{
    int64_t number = 0;
    if (chooser->at >= chooser_rows(chooser))
        return 0;
    if (chooser->at == chooser->count)
        return CHOOSER_NEW;
    json_get_int(chooser->sessions[chooser->at], "session_id", &number);
    return number;
}

static bool passes(const struct chooser *chooser, const struct json *session)
{
    static const char *const keys[] = {"name", "cmd", "waiting_for", "state"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *text = json_get_str(session, keys[i], NULL);
        if (!chooser->filter[0] || (text && strcasestr(text, chooser->filter)))
            return true;
    }
    return false;
}

static void chooser_filter(struct chooser *chooser)
{
    int64_t number;
    chooser->count = chooser->at = chooser->top = 0;
    for (const struct json *it = json_first(chooser->all); it; it = json_next(it)) {
        if (!chooser_takes(it, &number) || !passes(chooser, it))
            continue;
        if (number == chooser->options->current)
            chooser->at = chooser->count;
        chooser->sessions = xreallocarray(chooser->sessions, chooser->count + 1,
                                          sizeof *chooser->sessions);
        chooser->sessions[chooser->count++] = it;
    }
    if (chooser->count == 0 && chooser->filter[0]) /* nothing is selected: Enter does nothing */
        chooser->at = chooser_rows(chooser);
}

/* The name that a new session gets; NULL: none that it may have is typed. */
static const char *new_name(const struct chooser *chooser)
{
    return value_session_name(chooser->filter) ? chooser->filter : NULL;
}

static void append_row(const struct chooser *chooser, struct buf *text, size_t row, int cols)
{
    static const char *const new[] = {"   new  a shell in a new session", " new  a shell", NULL};
    if (row < chooser->count) {
        chooser_append_session(text, chooser->sessions[row], cols);
        return;
    }
    buf_append_text(text, fit_one(new, cols));
    if (chooser->count == 0 && new_name(chooser))
        buf_printf(text, ", %s", chooser->filter);
}

/* What the selected session shows, its last lines in the lines [from, rows). */
static void draw_preview(struct chooser *chooser, struct buf *out, int from, int rows, int cols)
{
    int64_t number = selected_of(chooser);
    if (number != chooser->shown) {
        free(chooser->preview);
        chooser->preview = number > 0 ? chooser->options->preview(chooser->options->arg, number)
                                      : NULL;
        chooser->shown = number;
    }
    overlay_line(out, from, cols, "\033[2m", "shows:", strlen("shows:"));
    const char *text = chooser->preview ? chooser->preview : "", *end = text + strlen(text),
               *at = end;
    while (at > text && at[-1] == '\n')
        end = --at;
    for (int row = from + 1; row < rows && at > text; at--)
        row += at[-1] == '\n';
    at += at > text || (at < end && *at == '\n');
    for (int row = from + 1; row < rows && at < end; row++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        overlay_line(out, row, cols, "", at, (size_t)(stop - at));
        at = stop < end ? stop + 1 : end;
    }
}

/* What is typed passes no session. */
static void append_no_match(const struct chooser *chooser, struct buf *text, int cols)
{
    struct buf full = BUF_INIT, brief = BUF_INIT;
    const char *name = new_name(chooser);
    buf_printf(&full, "nothing matches '%s'", chooser->filter);
    if (chooser->options->offers_new)
        buf_printf(&full, "; C-n starts a shell in a new session%s%s", name ? ", " : "",
                   name ? name : "");
    buf_append_text(&brief, chooser->options->offers_new ? "no match; C-n: new" : "no match");
    const char *const texts[] = {full.data, brief.data, "no match", "none", NULL};
    buf_append_text(text, fit_one(texts, cols));
    buf_fini(&full);
    buf_fini(&brief);
}

static bool matches_none(const struct chooser *chooser)
{
    return chooser->count == 0 && chooser->filter[0];
}

static void draw_help(const struct chooser *chooser, struct buf *out, int row, int cols)
{
    static const char *const types[] = {"Enter goes there, Escape leaves, letters filter",
                                        "Enter, Esc, letters", NULL},
                             *const walks[] = {"Enter goes there, q stays, / filters",
                                               "Enter, q, / filters", NULL};
    struct buf text = BUF_INIT;
    if (matches_none(chooser))
        append_no_match(chooser, &text, cols);
    else if (chooser->typing && chooser->filter[0])
        buf_printf(&text, "/%s", chooser->filter);
    else
        buf_append_text(&text, fit_one(chooser->typing ? types : walks, cols));
    overlay_line(out, row, cols, "\033[2m", text.data, text.len);
    buf_fini(&text);
}

static void chooser_draw(void *arg, struct buf *out, int rows, int cols)
{
    struct chooser *chooser = arg;
    static const char *const titles[] = {
        "    no  name                  state     waits   people        command", "  no  name",
        NULL};
    const char *title = fit_one(titles, cols);
    size_t count = chooser_rows(chooser), room = rows > 2 ? (size_t)rows - 2 : 1, shown = room;
    bool previews = chooser->options->preview && rows >= 2 * PREVIEW_ROWS;
    if (previews)
        shown = count < room - PREVIEW_ROWS ? count : room - PREVIEW_ROWS;
    if (chooser->at < chooser->top)
        chooser->top = chooser->at;
    if (shown > 0 && chooser->at < count && chooser->at >= chooser->top + shown)
        chooser->top = chooser->at - shown + 1;
    if (rows > 2)
        overlay_line(out, 0, cols, "\033[1m", title, strlen(title));
    if (rows > 2 || (matches_none(chooser) && chooser->at >= count)) {
        draw_help(chooser, out, rows - 1, cols);
        shown = rows > 1 ? shown : 0;
    }
    for (size_t row = 0; row < shown && chooser->top + row < count; row++) {
        struct buf text = BUF_INIT;
        append_row(chooser, &text, chooser->top + row, cols);
        overlay_line(out, (int)row + (rows > 2), cols,
                     chooser->top + row == chooser->at ? "\033[7m" : "", text.data, text.len);
        buf_fini(&text);
    }
    if (previews)
        draw_preview(chooser, out, (int)shown + 1, rows - 1, cols);
}

static void chooser_move(struct chooser *chooser, long by)
{
    long at = (long)chooser->at + by, last = (long)chooser_rows(chooser) - 1;
    chooser->at = (size_t)(at < 0 || last < 0 ? 0 : at > last ? last : at);
}

/* True: the key moves. */
static bool chooser_walk(struct chooser *chooser, int32_t key, int rows)
{
    long page = rows > 3 ? rows - 3 : 1, all = (long)chooser_rows(chooser);
    switch (key) {
    case OVERLAY_UP:
    case OVERLAY_WHEEL_UP: chooser_move(chooser, -1); break;
    case OVERLAY_DOWN:
    case OVERLAY_WHEEL_DOWN: chooser_move(chooser, 1); break;
    case OVERLAY_PAGE_UP: chooser_move(chooser, -page); break;
    case OVERLAY_PAGE_DOWN: chooser_move(chooser, page); break;
    case OVERLAY_HOME: chooser_move(chooser, -all); break;
    case OVERLAY_END: chooser_move(chooser, all); break;
    default: return false;
    }
    return true;
}

static void chooser_type(struct chooser *chooser, int32_t key)
{
    size_t len = strlen(chooser->filter);
    if (key == 0x7f || key == '\b') {
        while (len > 0 && !utf8_is_boundary(chooser->filter, len, len - 1))
            len--;
        chooser->filter[len > 0 ? len - 1 : 0] = '\0';
    } else if (key >= ' ' && key < OVERLAY_UP && len + 4 <= CHOOSER_TYPED_MAX) {
        len += utf8_encode(key, chooser->filter + len);
        chooser->filter[len] = '\0';
    }
    chooser_filter(chooser);
}

static int32_t letter_as_move(int32_t key)
{
    switch (key) {
    case 'k': return OVERLAY_UP;
    case 'j': return OVERLAY_DOWN;
    case ' ': return OVERLAY_PAGE_DOWN;
    case 'g': return OVERLAY_HOME;
    case 'G': return OVERLAY_END;
    default: return key;
    }
}

/* A name goes with it where it was typed for that, and not to find a session. */
static bool chooser_begin(const struct chooser *chooser, bool named)
{
    const char *name = named ? new_name(chooser) : NULL;
    chooser->chosen->number = CHOOSER_NEW;
    snprintf(chooser->chosen->name, sizeof chooser->chosen->name, "%s", name ? name : "");
    return true;
}

static bool chooser_on_key(void *arg, int32_t key, int rows)
{
    struct chooser *chooser = arg;
    if (key == ('N' & 0x1f) && chooser->options->offers_new)
        return chooser_begin(chooser, true);
    if (chooser_walk(chooser, chooser->typing ? key : letter_as_move(key), rows))
        return false;
    if (key == '\r' || key == '\n') {
        int64_t selected = selected_of(chooser);
        if (selected == CHOOSER_NEW)
            return chooser_begin(chooser, chooser->count == 0);
        chooser->chosen->number = selected;
        return selected != 0;
    }
    if (key == 033 || key == 3 || (key == 'q' && !chooser->typing))
        return true;
    if (chooser->typing)
        chooser_type(chooser, key);
    else
        chooser->typing = key == '/';
    return false;
}

int chooser_run(const struct chooser_options *options, const struct json *sessions, struct buf *out,
                struct chosen *chosen)
{
    struct chooser chooser = {
        .options = options, .all = sessions, .chosen = chosen, .typing = options->types};
    struct overlay overlay = {.draw = chooser_draw, .key = chooser_on_key, .arg = &chooser};
    *chosen = (struct chosen){0};
    chooser_filter(&chooser);
    bool alive = chooser_rows(&chooser) == 0 || overlay_run(&overlay, out);
    free(chooser.sessions);
    free(chooser.preview);
    return alive ? 0 : -1;
}
