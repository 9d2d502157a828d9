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

void attachment_notice(struct attachment *attachment, const char *text)
{
    if (!attachment->answered) {
        free(attachment->early);
        attachment->early = xstrdup(text);
    } else if (stream_pending(attachment->peer) < NOTICE_QUEUE && !attachment->finished)
        stream_send(attachment->peer, ATTACH_NOTICE, text, strlen(text));
}

/* From 1; 0: there is no screen yet. */
static int free_row(const struct attachment *attachment, int columns)
{
    const struct screen *screen = watch_screen(attachment->watch);
    int cols = paint_cols(attachment->paint);
    return screen ? 1 + paint_free_rows(attachment->paint, screen, (columns + cols - 1) / cols) : 0;
}

void attach_notice_apart(struct attachment *attachment, const char *text, int columns)
{
    struct session *session = attachment_session(attachment);
    int row = free_row(attachment, columns);
    if (session && row > 0)
        attach_keyboard_status(attachment, session, row);
    attachment_notice(attachment, text);
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
    attachment->approvals_row = free_row(attachment, cols);
    attach_notice_apart(attachment, text, cols);
    free(text);
}

/* A line that was shown elsewhere goes first: there is one at most. */
void attach_notice_asked(struct attachment *attachment)
{
    int row = free_row(attachment, paint_cols(attachment->paint)),
        before = attachment->approvals_row;
    attachment->approvals_due = true;
    if (!attachment->answered || row == 0)
        return; /* the first drawing comes */
    if (before > 0 && before != row)
        attachment_draw_anew(attachment);
    else
        attach_notice_approvals(attachment);
}
