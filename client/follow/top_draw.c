/* top_draw: owns the screen of `ue top`, and the rates of output. */
#include "client/follow/top.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "client/print/listing.h"
#include "client/print/render.h"
#include "client/terminal/fit.h"
#include "client/terminal/terminal.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct top_rate *rate_of(struct top *top, int64_t number)
{
    for (size_t i = 0; i < top->rate_count; i++)
        if (top->rates[i].number == number)
            return &top->rates[i];
    return NULL;
}

static const struct json *sessions_of(const struct top *top)
{
    return json_get(top->list.result, "sessions");
}

void top_rates_look(struct top *top)
{
    size_t kept = 0;
    for (size_t i = 0; i < top->rate_count; i++)
        top->rates[i].used = false;
    for (const struct json *it = json_first(sessions_of(top)); it; it = json_next(it)) {
        int64_t number = 0, bytes = 0;
        json_get_int(it, "session_id", &number);
        json_get_int(it, "output_bytes", &bytes);
        struct top_rate *rate = rate_of(top, number);
        if (!rate) {
            top->rates = xreallocarray(top->rates, top->rate_count + 1, sizeof *top->rates);
            rate = &top->rates[top->rate_count++];
            *rate = (struct top_rate){.number = number, .seen = bytes};
        }
        rate->used = true;
    }
    for (size_t i = 0; i < top->rate_count; i++)
        if (top->rates[i].used)
            top->rates[kept++] = top->rates[i];
    top->rate_count = kept;
}

void top_rates_tick(struct top *top)
{
    for (const struct json *it = json_first(sessions_of(top)); it; it = json_next(it)) {
        int64_t number = 0, bytes = 0;
        json_get_int(it, "session_id", &number);
        json_get_int(it, "output_bytes", &bytes);
        struct top_rate *rate = rate_of(top, number);
        if (!rate)
            continue;
        memmove(rate->samples, rate->samples + 1, (TOP_SAMPLES - 1) * sizeof rate->samples[0]);
        rate->samples[TOP_SAMPLES - 1] = bytes - rate->seen;
        rate->seen = bytes;
    }
}

/* All sessions share a scale on which each step is eight times the last one, so that both a line a
 * second and a flood show. */
static char *spark(void *arg, int64_t number)
{
    static const char *const bars[] = {" ",
                                       "\xe2\x96\x81",
                                       "\xe2\x96\x82",
                                       "\xe2\x96\x83",
                                       "\xe2\x96\x84",
                                       "\xe2\x96\x85",
                                       "\xe2\x96\x86",
                                       "\xe2\x96\x87",
                                       "\xe2\x96\x88"};
    const struct top_rate *rate = rate_of(arg, number);
    struct buf out = BUF_INIT;
    for (size_t i = 0; rate && i < TOP_SAMPLES; i++) {
        size_t height = 0;
        for (int64_t bytes = rate->samples[i]; bytes > 0 && height < 8; bytes /= 8)
            height++;
        buf_append_text(&out, bars[height]);
    }
    return buf_take(&out);
}

size_t top_rows(const struct top *top)
{
    return json_count(sessions_of(top));
}

size_t top_row_of(const struct top *top, int64_t number)
{
    size_t row = 0;
    for (const struct json *it = json_first(sessions_of(top)); it; it = json_next(it), row++) {
        int64_t own = 0;
        if (json_get_int(it, "session_id", &own) && own == number)
            return row;
    }
    return SIZE_MAX;
}

int64_t top_number_at(const struct top *top, size_t row)
{
    int64_t number = 0;
    const struct json *it = json_first(sessions_of(top));
    for (; it && row > 0; row--)
        it = json_next(it);
    json_get_int(it, "session_id", &number);
    return number;
}

/* A line of a text, by its number. */
static const char *top_draw_line_of(const struct buf *text, size_t number, size_t *len)
{
    const char *at = text->data, *end = text->data + text->len;
    for (; at && number > 0; number--) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    const char *stop = at && at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    *len = stop ? (size_t)(stop - at) : 0;
    return stop ? at : "";
}

/* Erased first: behind a full line the cursor still stands on its last character. */
static void top_draw_append_line(struct buf *out, int row, const char *style, const char *text,
                                 size_t len)
{
    buf_printf(out, "\033[%d;1H\033[m\033[K%s", row, style);
    buf_append(out, text, len);
    buf_append_text(out, "\033[m");
}

static const char *top_name_of(const struct top *top, int64_t number)
{
    int64_t own = 0;
    for (const struct json *it = json_first(sessions_of(top)); it; it = json_next(it))
        if (json_get_int(it, "session_id", &own) && own == number)
            return json_get_str(it, "name", NULL);
    return NULL;
}

/* What stands below the rows, escaped. */
static void status_text(const struct top *top, struct buf *out)
{
    char text[sizeof top->status + 80];
    if (top->asks_kill)
        snprintf(text, sizeof text, "kill '%s' with all its processes? y/n",
                 top_name_of(top, top->selected));
    else if (top->status[0])
        snprintf(text, sizeof text, "%s", top->status);
    else
        snprintf(text, sizeof text, "Enter attach  k kill  a %s  p approvals  q quit",
                 top->all ? "live ones only" : "ended ones, too");
    utf8_append_escaped(out, text, strlen(text), false);
}

/* Rows that the text takes: at most a half of them. */
static int status_rows(const struct buf *text, int rows, int cols)
{
    int count = 0;
    for (size_t at = 0; at < text->len && (count == 0 || count < rows / 2); count++)
        at += fit_words(text->data + at, text->len - at, cols);
    return count;
}

/* In the last rows of the terminal. */
static void append_status(const struct buf *text, struct buf *out, int count, int rows, int cols)
{
    size_t at = 0;
    for (int row = rows - count + 1; row <= rows; row++) {
        size_t part = fit_words(text->data + at, text->len - at, cols);
        top_draw_append_line(out, row, "", text->data + at, fit_line(text->data + at, part, cols));
        at += part;
    }
}

/* Titles in the first line, help in the last ones, rows between; what doesn't fit is left out. */
void top_draw(struct top *top, struct buf *out)
{
    struct render_table table;
    struct buf plain = BUF_INIT, colored = BUF_INIT, status = BUF_INIT;
    int rows, cols;
    size_t len;
    terminal_size(&rows, &cols);
    status_text(top, &status);
    int below = status_rows(&status, rows, cols);
    size_t room = rows > 2    ? (size_t)(rows - 1 - below)
                  : rows == 2 ? 1
                              : 0,
           selected = top_row_of(top, top->selected), count = top_rows(top);
    if (selected != SIZE_MAX && selected < top->first)
        top->first = selected;
    if (selected != SIZE_MAX && room > 0 && selected >= top->first + room)
        top->first = selected - room + 1;
    if (top->first + room > count)
        top->first = count > room ? count - room : 0;
    listing_people(&table, sessions_of(top), spark, top);
    render_people(&plain, &table, (size_t)cols, false);
    render_people(&colored, &table, (size_t)cols, render_wants_colors());
    render_fini(&table);
    buf_append_text(out, "\033[?2026h\033[?25l");
    const char *line = top_draw_line_of(&colored, 0, &len);
    if (rows > 2)
        top_draw_append_line(out, 1, "", line, len);
    for (size_t i = 0; i < room; i++) {
        bool chosen = top->first + i == selected;
        line = top_draw_line_of(chosen ? &plain : &colored, top->first + i + 1, &len);
        top_draw_append_line(out, (int)i + (rows > 2 ? 2 : 1), chosen ? "\033[7m" : "", line, len);
    }
    append_status(&status, out, below, rows, cols);
    buf_append_text(out, "\033[?2026l");
    buf_fini(&plain);
    buf_fini(&colored);
    buf_fini(&status);
}
