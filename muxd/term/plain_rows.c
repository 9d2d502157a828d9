/* plain_rows: owns the rows of both pages. */
#include "term/plain_rows.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "term/screen.h"
#include <stdlib.h>
#include <string.h>

#define WORK_MAX ((size_t)1 << 25) /* cells touched; an answer's output touches few millions */

static struct plain_row **slot_of(const struct plain_rows *rows, const struct plain_page *page,
                                  size_t at)
{
    return &page->rows[(page->first + at) % rows->height];
}

static void page_add(struct plain_rows *rows, struct plain_page *page)
{
    BUG_UNLESS(page->count < rows->height);
    rows->work++;
    struct plain_row **slot = slot_of(rows, page, page->count++);
    if (!*slot)
        *slot = xcalloc(1, sizeof **slot);
    (*slot)->count = 0;
    (*slot)->wrapped = (*slot)->edited = false;
}

static void page_init(struct plain_rows *rows, struct plain_page *page)
{
    page->rows = xcalloc(rows->height, sizeof *page->rows);
    page_add(rows, page);
}

void plain_rows_init(struct plain_rows *rows, int height, int width, struct plain *plain)
{
    *rows = (struct plain_rows){.plain = plain};
    rows->height = height < 1 ? 1 : height > SCREEN_SIZE_MAX ? SCREEN_SIZE_MAX : (size_t)height;
    rows->width = width < 0 ? 0 : width > SCREEN_SIZE_MAX ? SCREEN_SIZE_MAX : (size_t)width;
    page_init(rows, &rows->pages[0]);
    page_init(rows, &rows->pages[1]);
    rows->page = &rows->pages[0];
}

void plain_rows_fini(struct plain_rows *rows)
{
    for (size_t i = 0; i < 2; i++) {
        for (size_t at = 0; at < rows->height; at++) {
            struct plain_row *row = rows->pages[i].rows[at];
            free(row ? row->cells : NULL);
            free(row);
        }
        free(rows->pages[i].rows);
    }
}

bool plain_rows_spent(const struct plain_rows *rows)
{
    return rows->work >= WORK_MAX;
}

size_t plain_rows_count(const struct plain_rows *rows)
{
    return rows->page->count;
}

const struct plain_row *plain_rows_get(const struct plain_rows *rows, size_t at)
{
    BUG_UNLESS(at < rows->page->count);
    return *slot_of(rows, rows->page, at);
}

void plain_rows_cursor(const struct plain_rows *rows, size_t *at, size_t *col)
{
    *at = rows->page->at;
    *col = rows->page->col;
}

bool plain_rows_is_alternate(const struct plain_rows *rows)
{
    return rows->page == &rows->pages[1];
}

struct plain_row *plain_rows_open(struct plain_rows *rows)
{
    struct plain_page *page = rows->page;
    while (page->count <= page->at)
        page_add(rows, page);
    return *slot_of(rows, page, page->at);
}

/* The oldest row leaves. */
static void page_drop_first(struct plain_rows *rows)
{
    struct plain_page *page = rows->page;
    if (page == &rows->pages[0])
        plain_close_row(rows->plain, *slot_of(rows, page, 0));
    page->first = (page->first + 1) % rows->height;
    page->count--;
}

void plain_rows_down(struct plain_rows *rows)
{
    struct plain_page *page = rows->page;
    plain_rows_open(rows);
    rows->work++;
    if (page->at + 1 < rows->height) {
        page->at++;
    } else {
        page_drop_first(rows);
        page_add(rows, page);
    }
    plain_rows_open(rows);
}

void plain_rows_close_all(struct plain_rows *rows)
{
    struct plain_page *page = &rows->pages[0];
    size_t last = page->count;
    BUG_UNLESS(rows->page == page);
    while (last > 0 && (*slot_of(rows, page, last - 1))->count == 0)
        last--;
    for (size_t i = 0; i < last; i++)
        plain_close_row(rows->plain, *slot_of(rows, page, i));
    page->count = page->at = page->col = 0;
    page_add(rows, page);
}

void plain_rows_clear(struct plain_rows *rows)
{
    struct plain_page *page = rows->page;
    size_t at = page->at, col = page->col;
    if (plain_rows_is_alternate(rows)) {
        page->count = 0;
        page_add(rows, page);
    } else {
        plain_rows_close_all(rows);
    }
    page->at = at;
    page->col = col;
}

void plain_rows_shift(struct plain_rows *rows, size_t at, bool insert)
{
    struct plain_page *page = rows->page;
    plain_rows_open(rows);
    if (insert && page->count < rows->height)
        page_add(rows, page);
    size_t last = page->count - 1;
    struct plain_row *moved = *slot_of(rows, page, insert ? last : at);
    for (size_t i = last; insert && i > at; i--)
        *slot_of(rows, page, i) = *slot_of(rows, page, i - 1);
    for (size_t i = at; !insert && i < last; i++)
        *slot_of(rows, page, i) = *slot_of(rows, page, i + 1);
    *slot_of(rows, page, insert ? at : last) = moved;
    moved->count = 0;
    moved->wrapped = moved->edited = false;
    rows->work += last - at + 1;
}

void plain_rows_enter(struct plain_rows *rows, bool alternate)
{
    if (alternate == plain_rows_is_alternate(rows))
        return;
    rows->page = &rows->pages[alternate];
    if (!alternate)
        return;
    rows->page->count = rows->page->at = rows->page->col = 0;
    page_add(rows, rows->page);
}

void plain_rows_leave_alternate(struct plain_rows *rows)
{
    plain_rows_enter(rows, false);
}

void plain_rows_keep_alternate(struct plain_rows *rows)
{
    struct plain_page *page = &rows->pages[1];
    rows->page = &rows->pages[0];
    plain_rows_close_all(rows);
    rows->page = page;
}

size_t plain_row_used(const struct plain_row *row)
{
    size_t used = row->count;
    while (used > 0 && (row->cells[used - 1].rune == 0 ||
                        (row->edited && row->cells[used - 1].rune == ' ')))
        used--;
    return used;
}

bool plain_cell_append(struct buf *out, const struct plain_cell *cell)
{
    char bytes[4 * (1 + PLAIN_MARKS)];
    if (cell->rune < 0)
        return true;
    size_t size = utf8_encode(cell->rune ? cell->rune : ' ', bytes);
    for (size_t i = 0; i < PLAIN_MARKS && cell->marks[i]; i++)
        size += utf8_encode(cell->marks[i], bytes + size);
    return buf_append(out, bytes, size);
}
