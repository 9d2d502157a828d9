/* answering: owns the question on the terminal. An answer counts when the whole question was shown
 * before its key was typed, and the key came alone. */
#include "client/rpc/answering.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "client/print/approval.h"
#include "client/rpc/call.h"
#include "client/terminal/fit.h"
#include "client/terminal/overlay.h"
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define COMMAND_BYTES 50 /* of a command that was answered: its outcome fits into 80 columns */

struct answering {
    const struct json *approval;
    struct buf text;   /* the question */
    const char *said;  /* what became of the one before, or why a key was no answer */
    size_t at, of;     /* the first one is 1 */
    size_t first;      /* the line at the top */
    size_t shown;      /* how many lines have room */
    bool more, seen;   /* lines follow below; the last line was shown */
    int cols;          /* of the last drawing: with others it begins anew */
    int32_t key;       /* what ended it; 0: the prefix key */
};

bool answering_means(int32_t key)
{
    return key == 'y' || key == 's' || key == 'a' || key == 'n';
}

int answering_list(struct connection *conn, struct msg_answer *answer, struct err *err)
{
    struct json *params = json_object_new();
    json_add_bool(params, "to_answer", true);
    int result = call_run(conn, "list_approvals", params, CALL_AGAIN, answer, err);
    json_free(params);
    return result;
}

int answering_send(struct connection *conn, const struct json *approval, int32_t key,
                   struct msg_answer *answer, struct err *err)
{
    struct json *params = json_object_new();
    json_add_text(params, "approval", approval_text(approval, "id"));
    if (key == 's' || key == 'a')
        json_add_text(params, "span", key == 's' ? "session" : "always");
    int result = call_run(conn, key == 'n' ? "deny" : "approve", params, CALL_ONCE, answer, err);
    json_free(params);
    return result;
}

/* Draws the lines from `first` on into the rows [row, end). Returns how many lines there are. */
static size_t draw_lines(const struct answering *view, struct buf *out, int row, int end, int cols)
{
    size_t line = 0;
    for (size_t at = 0; at < view->text.len; line++) {
        const char *text = view->text.data + at;
        size_t part = fit_line(text, view->text.len - at, cols);
        if (line >= view->first && row < end)
            overlay_line(out, row++, cols, "", text, part);
        at += part;
        at += at < view->text.len && view->text.data[at] == '\n';
    }
    return line;
}

static void draw_question(const struct answering *view, struct buf *out, int row, int cols)
{
    static const char *const unread[] = {
        "there is more to read: Space; then it can be answered. n deny, q leave, Enter later",
        "more: Space; then answer. n deny, q leave", "Space: more; n, q", NULL};
    bool always = json_get(view->approval, "always"), scrolls = view->more || view->first;
    struct buf full = BUF_INIT, brief = BUF_INIT, keys = BUF_INIT;
    buf_printf(&full, "y once, s for the session%s, n deny, q leave, Enter later%s",
               always ? ", a always" : "", scrolls ? ", Space and b scroll" : "");
    buf_printf(&brief, "y once, s session%s, n deny, q leave", always ? ", a always" : "");
    buf_printf(&keys, "y, s%s, n, q", always ? ", a" : "");
    const char *const read[] = {full.data, brief.data, keys.data, NULL};
    const char *text = fit_one(view->seen ? read : unread, cols);
    overlay_line(out, row, cols, "\033[7m", text, strlen(text));
    buf_fini(&full);
    buf_fini(&brief);
    buf_fini(&keys);
}

/* In as many rows as it needs, up to a half of them: an error may be long. Returns how many. */
static int draw_title(const struct answering *view, struct buf *out, int rows, int cols)
{
    struct buf title = BUF_INIT;
    int row = 0;
    buf_printf(&title, "%zu of %zu that wait for you%s%s", view->at, view->of,
               *view->said ? ". " : "", view->said);
    for (size_t at = 0; at < title.len && row < rows / 2; row++) {
        size_t part = fit_words(title.data + at, title.len - at, cols);
        overlay_line(out, row, cols, "\033[1m", title.data + at, part);
        at += part;
        at += at < title.len && title.data[at] == '\n';
    }
    buf_fini(&title);
    return row;
}

static void answering_draw(void *arg, struct buf *out, int rows, int cols)
{
    struct answering *view = arg;
    int top = rows > 2 ? draw_title(view, out, rows, cols) : 0, end = rows > 1 ? rows - 1 : 1;
    if (cols != view->cols) {
        view->first = 0;
        view->seen = false;
        view->cols = cols;
    }
    size_t lines = draw_lines(view, out, top, end, cols);
    view->shown = (size_t)(end - top);
    view->more = lines > view->first + view->shown;
    view->seen |= !view->more;
    if (rows > 1)
        draw_question(view, out, rows - 1, cols);
}

/* Whether the key ends the question. A yes is for what was read to its end. */
static bool answering_ends(const struct answering *view, int32_t key)
{
    switch (key) {
    case 'a': return view->seen && json_get(view->approval, "always");
    case 'y':
    case 's': return view->seen;
    case 'n':
    case 'q':
    case '\r':
    case '\n':
    case 033:
    case 3: return true;
    default: return false;
    }
}

static bool answering_on_key(void *arg, int32_t key, int rows)
{
    struct answering *view = arg;
    size_t page = view->shown > 2 ? view->shown - 1 : 1;
    (void)rows;
    switch (key) {
    case ' ':
    case OVERLAY_PAGE_DOWN: view->first += view->more ? page : 0; break;
    case OVERLAY_DOWN: view->first += view->more ? 1 : 0; break;
    case 'b':
    case OVERLAY_PAGE_UP: view->first -= view->first < page ? view->first : page; break;
    case OVERLAY_UP: view->first -= view->first > 0; break;
    default: break;
    }
    view->key = answering_ends(view, key) ? key : 0;
    return view->key != 0;
}

/* What was typed so far answers nothing: the question was not there. */
static size_t drop_keys(void)
{
    char unused[OVERLAY_AHEAD];
    size_t size = overlay_unused(unused);
    mem_wipe(unused, sizeof unused);
    tcflush(STDIN_FILENO, TCIFLUSH);
    return size;
}

/* Shows the question until a key ends it. False: the terminal is gone. */
static bool answering_ask(struct answering *view, struct buf *out)
{
    struct overlay overlay = {.draw = answering_draw, .key = answering_on_key, .arg = view};
    bool alive = true;
    buf_init(&view->text, 0);
    approval_append(&view->text, view->approval);
    view->first = 0;
    view->seen = false;
    do {
        drop_keys();
        view->key = 0;
        alive = overlay_run(&overlay, out);
        if (view->key == 0 || drop_keys() == 0)
            break;
        view->said = "several keys at once answer nothing";
    } while (alive);
    buf_fini(&view->text);
    return alive;
}

/* The command, which was read to its end, is named by its beginning. */
static void append_settled(struct buf *text, int32_t key, const char *command)
{
    size_t size = strlen(command),
           len = size > COMMAND_BYTES ? utf8_cut(command, size, COMMAND_BYTES) : size;
    buf_printf(text, "%s: %.*s%s", key == 'n' ? "denied" : "approved", (int)len, command,
               len < size ? "..." : "");
}

/* What became of it; the caller's. */
static char *answering_outcome(const struct answering *view, const struct msg_answer *answer,
                               const struct err *err)
{
    const char *rule = approval_text(answer->result, "rule"),
               *warning = approval_text(answer->result, "warning");
    struct buf text = BUF_INIT;
    if (err->code < 0)
        buf_append_text(&text, err->text);
    else if (*warning)
        buf_printf(&text, "the rule holds once the config can be read again: %s", warning);
    else if (*rule)
        buf_printf(&text, "from now on allowed: %s", rule);
    else
        append_settled(&text, view->key, approval_text(view->approval, "command"));
    return buf_take(&text);
}

/* The walk through the list. False: the terminal is gone. */
static bool answering_walk(struct connection *conn, const struct json *list, struct buf *out,
                           char **said)
{
    struct answering view = {.of = json_count(list)};
    bool alive = true;
    for (const struct json *it = json_first(list); it && alive; it = json_next(it)) {
        struct msg_answer answer = {0};
        struct err err = {0};
        view.approval = it;
        view.said = *said;
        view.at++;
        alive = answering_ask(&view, out);
        if (alive && answering_means(view.key)) {
            answering_send(conn, it, view.key, &answer, &err);
            free(*said);
            *said = answering_outcome(&view, &answer, &err);
        } else if (view.key != '\r' && view.key != '\n') {
            break;
        }
        msg_answer_fini(&answer);
    }
    return alive;
}

bool answering_run(const struct connection *conn, struct buf *out, char **said)
{
    struct connection side;
    struct msg_answer answer;
    struct err err = {0};
    bool alive = true;
    connection_init(&side, conn->path, NULL, false);
    side.named = conn->named;
    side.shows_person = true;
    int result = answering_list(&side, &answer, &err);
    const struct json *list = result < 0 ? NULL : json_get(answer.result, "approvals");
    *said = xstrdup(result < 0         ? err.text
                    : json_first(list) ? ""
                                       : "nothing waits for an approval");
    if (json_first(list))
        alive = answering_walk(&side, list, out, said);
    msg_answer_fini(&answer);
    connection_fini(&side);
    return alive;
}
