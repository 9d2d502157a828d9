/* checks: owns the layout of the rows of `ue doctor`. */
#include "client/print/checks.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "client/print/render.h"
#include "wire/doctor.h"
#include <stdlib.h>
#include <string.h>

#define INDENT 21 /* "advice  completions  " */
#define NARROWEST 20

static const char *checks_member(const struct json *row, const char *key)
{
    const char *text = json_get_str(row, key, NULL);
    return text ? text : "";
}

static size_t characters(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

/* The text behind what stands in the line already; further lines are indented. */
static void checks_wrap(struct buf *out, const char *text, size_t room)
{
    struct buf safe = BUF_INIT;
    size_t used = 0;
    utf8_append_escaped(&safe, text, strlen(text), false);
    for (const char *at = safe.data ? safe.data : ""; *at;) {
        size_t size = strcspn(at, " "), columns = characters(at, size);
        if (used > 0 && used + 1 + columns > room) {
            buf_printf(out, "\n%*s", INDENT, "");
            used = 0;
        } else if (used > 0) {
            buf_append_byte(out, ' ');
            used++;
        }
        buf_append(out, at, size);
        used += columns;
        at += size + strspn(at + size, " ");
    }
    buf_append_byte(out, '\n');
    buf_fini(&safe);
}

static const char *checks_color(const char *state)
{
    if (strcmp(state, doctor_state_word(DOCTOR_OK)) == 0)
        return "\033[32m";
    return strcmp(state, doctor_state_word(DOCTOR_BAD)) == 0 ? "\033[31m" : "\033[33m";
}

static void checks_append(struct buf *out, const struct json *row, size_t room, bool colors)
{
    const char *state = checks_member(row, "state"), *means = checks_member(row, "means"),
               *todo = checks_member(row, "do");
    buf_printf(out, "%s%-6s%s  %-11s  ", colors ? checks_color(state) : "", state,
               colors ? "\033[0m" : "", checks_member(row, "name"));
    checks_wrap(out, checks_member(row, "found"), room);
    if (*means) {
        buf_printf(out, "%*s", INDENT, "");
        checks_wrap(out, means, room);
    }
    if (*todo) {
        char *line = xasprintf("do: %s", todo);
        buf_printf(out, "%*s", INDENT, "");
        checks_wrap(out, line, room);
        free(line);
    }
}

void checks_people(struct buf *out, const struct json *rows, size_t width, bool colors)
{
    size_t room = width > INDENT + NARROWEST ? width - INDENT : NARROWEST;
    for (const struct json *it = json_first(rows); it; it = json_next(it))
        checks_append(out, it, room, colors);
    size_t bad = doctor_count(rows, DOCTOR_BAD), advice = doctor_count(rows, DOCTOR_ADVICE);
    buf_printf(out, "bad: %zu, advice: %zu\n", bad, advice);
}

void checks_tabs(struct buf *out, const struct json *rows)
{
    static const char *const columns[] = {"state", "name", "found", "means", "do"};
    static const bool right[5];
    struct render_table table = {.titles = columns, .to_the_right = right, .column_count = 5};
    for (const struct json *it = json_first(rows); it; it = json_next(it)) {
        struct render_cell *row = render_add_row(&table);
        for (size_t i = 0; i < 5; i++)
            row[i].text = xstrdup(checks_member(it, columns[i]));
    }
    render_tabs(out, &table);
    render_fini(&table);
}
