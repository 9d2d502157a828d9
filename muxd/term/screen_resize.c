/* screen_resize: owns changes of size. For one of the main screen all its rows join the scrollback,
 * where lines have no width, and as many come back as there are rows then.
 *
 * Which of them come back: where the text reached down to the last row, the newest ones. Else the
 * first row stays the first while the text below it fits: a prompt at the top of a cleared screen
 * stays there. What was the first row is remembered over several changes of size, so that going
 * back to a size gives back its picture, until the program has scrolled or text has come or gone at
 * the end. So is the place of a cursor that had to leave it, until the program writes. */
#include "base/bug.h"
#include "base/mem.h"
#include "term/internal.h"
#include "term/modes.h"
#include <stdlib.h>
#include <string.h>

#define POINTS 2

/* A place on the main screen that stays at its character. */
struct point {
    struct screen_cursor *at;
    bool *pending;
    bool known;  /* place and below, from the last change of size */
    bool behind; /* the last column */
    struct scrollback_place place;
    int below; /* rows behind the last one, in column place.col; 0: it is at `place` */
};

struct reflow {
    struct screen *screen;
    int rows, cols;
    struct point points[POINTS]; /* the cursor, and the one that the program has saved */
    int last;                    /* the last row that has text or the cursor */
    bool as_left; /* the screen's `home` holds: its rows are those of the last change of size */
};

static int last_used(const struct screen *screen, int cursor_row)
{
    int row = screen->rows - 1;
    while (row > cursor_row && line_written(&screen->grids[0][row]) == 0)
        row--;
    return row;
}

/* The place of a point in the row that has just been added at `place`. */
static void note_point(struct point *point, int row, struct scrollback_place place)
{
    if (point->known || point->at->row != row)
        return;
    point->place = place;
    point->place.col += (uint32_t)(point->at->col + point->behind);
}

/* What is below the last row has no place there. */
static void note_below(struct point *point, int last)
{
    if (point->known || point->at->row <= last)
        return;
    point->below = point->at->row - last;
    point->place.col = (uint32_t)point->at->col;
}

/* The columns of a row that must not be left out: those left of the cursor, and the free one that
 * it stands in. */
static int least_of(const struct reflow *reflow, int row, bool wrapped)
{
    const struct point *cursor = &reflow->points[0];
    return cursor->at->row == row && !cursor->known ? cursor->at->col + (cursor->behind || wrapped)
                                                    : 0;
}

/* A point that has not moved since it had to leave its character belongs there. What is written on
 * the alternate screen does not move it. */
static void recall_points(struct reflow *reflow)
{
    const struct screen *screen = reflow->screen;
    bool silent = screen->current == 1 || screen->version == screen->home.version;
    for (int i = 0; i < POINTS; i++) {
        const struct screen_astray *astray = &screen->home.astray[i];
        struct point *point = &reflow->points[i];
        bool unmoved = reflow->as_left && silent && astray->at.row == point->at->row &&
                       astray->at.col == point->at->col;
        point->known = unmoved && astray->known;
        point->behind = *point->pending || (unmoved && astray->behind);
        if (!point->known)
            continue;
        point->place = astray->place;
        point->below = astray->below;
    }
}

static void join_scrollback(struct reflow *reflow)
{
    struct screen *screen = reflow->screen;
    struct screen_home *home = &screen->home;
    struct scrollback_place first = {0};
    for (int row = 0; row < screen->rows; row++) {
        struct line *line = &screen->grids[0][row];
        if (row <= reflow->last) {
            line->wrapped &= row < reflow->last;
            struct scrollback_place place = scrollback_add(screen->scrollback, line,
                                                           least_of(reflow, row, line->wrapped));
            first = row == 0 ? place : first;
            for (int i = 0; i < POINTS; i++)
                note_point(&reflow->points[i], row, place);
        }
        line_fini(line);
    }
    for (int i = 0; i < POINTS; i++)
        note_below(&reflow->points[i], reflow->last);
    if (!reflow->as_left)
        *home = (struct screen_home){.top = first,
                                     .full = reflow->last == screen->rows - 1,
                                     .pushes = scrollback_pushes(screen->scrollback) + 1};
}

/* The row of the scrollback that becomes the first one. */
static size_t choose_top(const struct reflow *reflow)
{
    const struct screen *screen = reflow->screen;
    size_t all = scrollback_count(screen->scrollback), rows = (size_t)reflow->rows,
           top = all > rows ? all - rows : 0, home;
    int col;
    if (screen->home.full)
        return top;
    scrollback_find(screen->scrollback, screen->home.top, &home, &col, NULL);
    return home > top ? home : top;
}

/* Where it is now, and what of that could not be. */
static struct screen_astray settle_point(const struct reflow *reflow, struct point *point,
                                         size_t top)
{
    const struct scrollback *scrollback = reflow->screen->scrollback;
    size_t row;
    int col = (int)point->place.col;
    bool behind = false;
    if (point->below > 0)
        row = scrollback_count(scrollback) - 1 + (size_t)point->below;
    else
        scrollback_find(scrollback, point->place, &row, &col, &behind);
    size_t on_screen = row > top ? row - top : 0, most = (size_t)reflow->rows - 1;
    bool there = row >= top && on_screen <= most && col < reflow->cols;
    point->at->row = (int)(on_screen < most ? on_screen : most);
    point->at->col = screen_clamp(col, 0, reflow->cols);
    *point->pending = behind && reflow->screen->modes.autowrap;
    return (struct screen_astray){.known = !there,
                                  .behind = behind && !*point->pending,
                                  .place = point->place,
                                  .below = point->below,
                                  .at = *point->at};
}

static void settle_points(struct reflow *reflow, size_t top)
{
    for (int i = 0; i < POINTS; i++)
        reflow->screen->home.astray[i] = settle_point(reflow, &reflow->points[i], top);
}

static void reflow_main(struct reflow *reflow)
{
    struct screen *screen = reflow->screen;
    struct scrollback *scrollback = screen->scrollback;
    reflow->last = last_used(screen, reflow->points[0].at->row);
    reflow->as_left = screen->home.pushes == scrollback_pushes(scrollback) + 1 &&
                      screen->home.last == reflow->last;
    recall_points(reflow);
    scrollback_hold(scrollback);
    join_scrollback(reflow);
    scrollback_set_cols(scrollback, reflow->cols);
    size_t top = choose_top(reflow), all = scrollback_count(scrollback), taken = all - top;
    settle_points(reflow, top);
    BUG_UNLESS(top < all && taken <= (size_t)reflow->rows);
    free(screen->grids[0]);
    screen->grids[0] = xcalloc((size_t)reflow->rows, sizeof *screen->grids[0]);
    scrollback_take(scrollback, screen->grids[0], taken);
    for (size_t row = taken; row < (size_t)reflow->rows; row++)
        line_init(&screen->grids[0][row], reflow->cols);
    screen->home.last = (int)taken - 1;
    scrollback_release(scrollback);
}

/* The lines above the cursor's go when there is no room for all. */
static void resize_alternate(struct screen *screen, int rows, int cols, int *row)
{
    struct line *from = screen->grids[1], *to;
    int old = screen->rows, below = old - 1 - *row, off = old - rows - below;
    if (!from)
        return;
    to = xcalloc((size_t)rows, sizeof *to);
    off = off > 0 ? off : 0;
    int kept = old - off < rows ? old - off : rows;
    memcpy(to, from + off, (size_t)kept * sizeof *to);
    for (int i = 0; i < old; i++)
        if (i < off || i >= off + kept)
            line_fini(&from[i]);
    for (int i = 0; i < rows; i++) {
        if (i < kept)
            line_resize(&to[i], cols);
        else
            line_init(&to[i], cols);
    }
    free(from);
    screen->grids[1] = to;
    *row -= off;
}

/* 132 columns as long as the mode is set, whatever the size of those who look at it; else as many
 * as they have. */
void screen_columns(struct screen *screen, bool many)
{
    screen->many_columns = many;
    screen_resize(screen, screen->rows, screen->own_cols);
    screen_margins(screen, 0, screen->rows);
    screen_erase_display(screen, 2);
}

void screen_resize(struct screen *screen, int rows, int cols)
{
    rows = screen_clamp_size(rows);
    cols = screen_clamp_size(cols);
    screen->own_cols = cols;
    cols = screen->many_columns ? MODES_COLUMNS : cols;
    if (rows == screen->rows && cols == screen->cols)
        return;
    struct screen_cursor cursor = screen->cursor;
    bool pending = screen->pending;
    struct screen_saved *main = &screen->before_alternate, *saved = &screen->saved[0];
    main->cursor.row = screen_clamp(main->cursor.row, 0, screen->rows);
    main->pending = main->pending && main->cursor.col == screen->cols - 1;
    saved->cursor.row = screen_clamp(saved->cursor.row, 0, screen->rows);
    saved->pending = saved->pending && saved->cursor.col == screen->cols - 1;
    struct reflow reflow = {.screen = screen, .rows = rows, .cols = cols};
    reflow.points[0] = screen->current
                           ? (struct point){.at = &main->cursor, .pending = &main->pending}
                           : (struct point){.at = &cursor, .pending = &pending};
    reflow.points[1] = (struct point){.at = &saved->cursor, .pending = &saved->pending};
    reflow_main(&reflow);
    resize_alternate(screen, rows, cols, screen->current ? &cursor.row : &(int){0});
    screen->rows = rows;
    screen->cols = cols;
    screen_margins(screen, 0, rows);
    if (screen->current) {
        screen_move(screen, cursor.row, cursor.col + pending);
        screen->pending = pending && cursor.col + 1 >= cols;
    } else {
        screen_move(screen, cursor.row, cursor.col);
        screen->pending = pending;
    }
    screen->home.version = screen->version;
    screen_check(screen);
}
