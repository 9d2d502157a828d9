/* attach_notice: owns the lines for the person at an attached terminal, and where they stand. */
#include "base/mem.h"
#include "base/utf8.h"
#include "cmd/approvals.h"
#include "cmd/attachment.h"
#include "peer/stream.h"
#include <stdlib.h>
#include <string.h>

#define NOTICE_QUEUE 4096 /* with more than this queued a notice is dropped */
#define KEY_COLUMNS 7     /* of the longest name of a prefix key */
#define COMMAND_LEAST 16  /* columns of a command: with fewer it is not shown */

/* NULL: there is none yet. */
static const struct screen *screen_now(const struct attachment *attachment)
{
    return attachment->answered && attachment->watch ? watch_screen(attachment->watch) : NULL;
}

static int notice_columns(const char *text)
{
    return (int)strlen(text) + (strchr(text, ATTACH_PREFIX) ? KEY_COLUMNS : 0);
}

static int notice_rows(const struct attachment *attachment, const char *text)
{
    int cols = paint_cols(attachment->paint);
    return (notice_columns(text) + cols - 1) / cols;
}

/* From 1; 0: there is no screen yet. */
static int free_row(const struct attachment *attachment, int rows)
{
    const struct screen *screen = screen_now(attachment);
    return screen ? 1 + paint_free_rows(attachment->paint, screen, rows) : 0;
}

void attachment_notice(struct attachment *attachment, const char *text)
{
    struct session *session = attachment_session(attachment);
    int row = free_row(attachment, notice_rows(attachment, text));
    if (row == 0) {
        free(attachment->early);
        attachment->early = xstrdup(text);
    } else if (stream_pending(attachment->peer) < NOTICE_QUEUE && !attachment->finished) {
        if (session)
            attach_keyboard_status(attachment, session, row);
        stream_send(attachment->peer, ATTACH_NOTICE, text, strlen(text));
    }
}

void attach_notice_early(struct attachment *attachment)
{
    char *text = attachment->early;
    attachment->early = NULL;
    if (text)
        attachment_notice(attachment, text);
    free(text);
}

const char *attach_notice_fitting(const struct attachment *attachment, const char *const *texts)
{
    const struct screen *screen = screen_now(attachment);
    int rows = paint_rows(attachment->paint), first = rows, last = rows;
    if (screen)
        paint_prompt_rows(attachment->paint, screen, &first, &last);
    int below = rows - 1 - last, room = first > below ? first : below;
    const char *const *at = texts;
    while (*at && notice_rows(attachment, *at) > room)
        at++;
    return *at ? *at : texts[0];
}

struct waiting {
    unsigned count;
    const struct approval *last;
};

static void count_waiting(void *arg, const struct approval *approval)
{
    struct waiting *waiting = arg;
    waiting->count++;
    waiting->last = approval;
}

/* In one row of so many columns, which bytes never exceed; the caller's. */
static char *approvals_line(const struct waiting *waiting, int cols)
{
    const char *id = waiting->last->id;
    struct buf shown = BUF_INIT;
    int room = cols - KEY_COLUMNS - (int)sizeof "approval : ...;  a answers" - APPROVAL_ID_CHARS;
    if (waiting->count > 1)
        return xasprintf("%u commands wait: %c a", waiting->count, ATTACH_PREFIX);
    if (room < COMMAND_LEAST)
        return xasprintf("a command waits: %c a", ATTACH_PREFIX);
    utf8_append_escaped(&shown, waiting->last->shown, strlen(waiting->last->shown), false);
    size_t len = shown.len > (size_t)room ? utf8_cut(shown.data, shown.len, (size_t)room)
                                          : shown.len;
    char *text = xasprintf("approval %s: %.*s%s; %c a answers", id, (int)len,
                           shown.data ? shown.data : "", len < shown.len ? "..." : "",
                           ATTACH_PREFIX);
    buf_fini(&shown);
    return text;
}

void attach_notice_approvals(struct attachment *attachment)
{
    struct waiting waiting = {0};
    approvals_each(attachment->ctx, count_waiting, &waiting);
    attachment->approvals_due = false;
    if (waiting.count == 0 || paint_rows(attachment->paint) < 2)
        return;
    int cols = paint_cols(attachment->paint);
    char *text = approvals_line(&waiting, cols);
    attachment->approvals_row = free_row(attachment, 1);
    attachment_notice(attachment, text);
    free(text);
}

/* A line that was shown elsewhere goes first: there is one at most. */
void attach_notice_asked(struct attachment *attachment)
{
    int row = free_row(attachment, 1), before = attachment->approvals_row;
    attachment->approvals_due = true;
    if (row == 0)
        return; /* the first drawing comes */
    if (before > 0 && before != row)
        attachment_draw_anew(attachment);
    else
        attach_notice_approvals(attachment);
}
