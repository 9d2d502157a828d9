/* chooser: owns the list on the terminal, and the line that is selected. */
#include "client/attach/chooser.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "client/terminal/overlay.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chooser {
    const struct json **sessions; /* owned array */
    size_t count, at, top;
    int64_t current, chosen;
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

static void chooser_append_session(struct buf *out, const struct json *session)
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
    buf_printf(out, "%6" PRId64 "  %-20s  %-8s  %-6s  %-12s  ", number, name ? name : "?",
               state ? state : "?", waits ? waits : "-", people);
    utf8_append_escaped(out, cmd ? cmd : "", len, false);
}

static void chooser_draw(void *arg, struct buf *out, int rows, int cols)
{
    struct chooser *chooser = arg;
    static const char title[] =
        "    no  name                  state     waits   people        command";
    static const char help[] = "Enter goes there, q stays";
    size_t shown = rows > 2 ? (size_t)rows - 2 : 1;
    if (chooser->at < chooser->top)
        chooser->top = chooser->at;
    if (chooser->at >= chooser->top + shown)
        chooser->top = chooser->at - shown + 1;
    if (rows > 2) {
        overlay_line(out, 0, cols, "\033[1m", title, strlen(title));
        overlay_line(out, rows - 1, cols, "\033[2m", help, strlen(help));
    }
    for (size_t row = 0; row < shown && chooser->top + row < chooser->count; row++) {
        struct buf text = BUF_INIT;
        chooser_append_session(&text, chooser->sessions[chooser->top + row]);
        overlay_line(out, (int)row + (rows > 2), cols,
                     chooser->top + row == chooser->at ? "\033[7m" : "", text.data, text.len);
        buf_fini(&text);
    }
}

static void chooser_move(struct chooser *chooser, long by)
{
    long at = (long)chooser->at + by, last = (long)chooser->count - 1;
    chooser->at = (size_t)(at < 0 ? 0 : at > last ? last : at);
}

static bool chooser_on_key(void *arg, int32_t key, int rows)
{
    struct chooser *chooser = arg;
    long page = rows > 3 ? rows - 3 : 1;
    BUG_UNLESS(chooser->at < chooser->count);
    switch (key) {
    case OVERLAY_UP:
    case OVERLAY_WHEEL_UP:
    case 'k':
        chooser_move(chooser, -1);
        break;
    case OVERLAY_DOWN:
    case OVERLAY_WHEEL_DOWN:
    case 'j':
        chooser_move(chooser, 1);
        break;
    case OVERLAY_PAGE_UP:
        chooser_move(chooser, -page);
        break;
    case OVERLAY_PAGE_DOWN:
    case ' ':
        chooser_move(chooser, page);
        break;
    case OVERLAY_HOME: case 'g': chooser->at = 0; break;
    case OVERLAY_END: case 'G': chooser->at = chooser->count - 1; break;
    case '\r': case '\n':
        json_get_int(chooser->sessions[chooser->at], "session_id", &chooser->chosen);
        return true;
    case 'q': case 033: case 3:
        return true;
    default:
        break;
    }
    return false;
}

int chooser_run(const struct json *sessions, int64_t current, struct buf *out, int64_t *chosen)
{
    struct chooser chooser = {.current = current};
    struct overlay overlay = {.draw = chooser_draw, .key = chooser_on_key, .arg = &chooser};
    int64_t number;
    for (const struct json *it = json_first(sessions); it; it = json_next(it)) {
        if (!chooser_takes(it, &number))
            continue;
        if (number == current)
            chooser.at = chooser.count;
        chooser.sessions = xreallocarray(chooser.sessions, chooser.count + 1,
                                         sizeof *chooser.sessions);
        chooser.sessions[chooser.count++] = it;
    }
    bool alive = chooser.count == 0 || overlay_run(&overlay, out);
    free(chooser.sessions);
    *chosen = chooser.chosen;
    return alive ? 0 : -1;
}
