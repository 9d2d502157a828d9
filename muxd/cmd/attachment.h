/* attachment: a connection that shows a session. attach.c owns it; each attach_*.c owns one
 * thing that the viewers of a session share: its keyboard, its size, its colours. */
#ifndef MUXD_CMD_ATTACHMENT_H
#define MUXD_CMD_ATTACHMENT_H
#include "cmd/cmd.h"
#include "parts/keyboard/keyboard.h"
#include "parts/view/view.h"
#include "term/paint.h"
#include "wire/attach.h"
#include "wire/paste.h"
#include "wire/profile.h"

struct attachment {
    struct attachment *next;
    struct cmd_context *ctx;
    struct peer *peer;
    struct watch *watch;
    struct paint *paint;
    enum fold fold; /* the colours of its terminal */
    uint64_t number, host; /* the session; the session that the client runs in, 0: none */
    bool read_only, ended, finished;
    bool followed;   /* attach_nested.c: seen in this search */
    bool due;        /* the screen may differ from what was drawn */
    uint64_t drawn_at; /* the output offset of the last drawing */
    bool late_drawn; /* the program is still drawing, and was waited for long enough */
    /* how often the client has asked for everything since the last drawing: it counts the
     * ATTACH_ANEW that go before the next one */
    unsigned anew;
    bool answered;   /* the request is answered; no frame may go out before that */
    char *early;     /* owned: a notice that waits for `answered` */
    /* attach_notice.c: the person is to be told of commands that wait, behind the next whole
     * drawing; where they were told last, from 1, 0: nowhere yet */
    bool approvals_due;
    int approvals_row;
    struct loop_timer pace, drawn, resize;
    struct author author; /* attach_keyboard.c: who types here; author.client points to `client` */
    char client[40];
    struct keyboard_watch *keyboard;
    struct paste paste;   /* a paste that is under way in what is typed here */
    uint64_t keys_id;     /* the number of the frame that is being typed; 0: none */
    /* attach_terminal.c: owned; what its terminal has reported; NULL: nothing */
    struct profile *profile;
    /* programs of the session are answered with this terminal's colours; and have been told so */
    bool leads, spoke;
    int64_t led_ns;       /* when the client came, or the last key was pressed */
};

/* attach.c. NULL once the session was removed */
struct session *attachment_session(const struct attachment *attachment);
/* Draws all of the screen again, over notices too: now, or when its terminal takes data. */
void attachment_draw_anew(struct attachment *attachment);

/* Shows the session to the client of the request, which is answered: with the session, or why
 * not. who: types there; INPUT_BY_AGENT only where scripts may attach. */
void attachment_begin(struct cmd_context *ctx, struct request *request, struct session *session,
                      enum input_who who);

/* attach_notice.c. A line for the person, in rows that the program doesn't use, where there are
 * some, and never over the cursor's line: where a terminal has no other room, it rings. Dropped
 * when too much is queued; the last one before the first drawing is told behind it. */
void attachment_notice(struct attachment *attachment, const char *text);
void attach_notice_early(struct attachment *attachment); /* the first drawing is there */
/* The first of the texts (up to NULL) that has room beside the cursor's line; or the first of
 * all. */
const char *attach_notice_fitting(const struct attachment *attachment, const char *const *texts);
/* Commands wait for a person: says so in one row, however many there are. Nothing when none
 * waits. */
void attach_notice_approvals(struct attachment *attachment);
/* One more waits: attach_notice_approvals follows, at once or behind a drawing. */
void attach_notice_asked(struct attachment *attachment);

/* attach_nested.c. 0, or why this session can't be shown to a client that runs in `own` (NULL: in
 * none): it has no terminal, has ended, or would show itself. */
int attach_nested_check(struct cmd_context *ctx, struct session *session,
                        const struct session *own, struct err *err);

/* attach_keyboard.c. Tells the client who holds the keyboard, and in which row of its terminal,
 * from 1, the next notice is to stand; 0: anywhere. */
void attach_keyboard_status(struct attachment *attachment, struct session *session, int notice_row);
/* The client has come; has typed; has pressed the key that takes the
 * keyboard, or the one that gives it back; has gone. */
void attach_keyboard_begin(struct attachment *attachment, struct session *session,
                           struct request *request, enum input_who who);
int attach_keyboard_type(struct attachment *attachment, struct session *session, const char *data,
                         size_t size, struct err *err);
/* An ATTACH_KEYS becomes its bytes. False: they were typed before the worker was restarted. */
bool attach_keyboard_begin_keys(struct attachment *attachment, struct attach_frame *frame);
void attach_keyboard_take(struct attachment *attachment);
void attach_keyboard_give(struct attachment *attachment);
void attach_keyboard_end(struct attachment *attachment);

/* attach_terminal.c. The client has come (again: after a restart of the worker); has typed; its
 * terminal has reported its colours; it has gone (and is still in the list). */
void attach_terminal_joined(struct attachment *attachment, bool again);
void attach_terminal_typed(struct attachment *attachment);
void attach_terminal_told(struct attachment *attachment, const char *data, size_t size);
void attach_terminal_left(struct attachment *attachment);

/* attach_size.c. The client has come or its terminal has changed its size; it has typed; it has
 * gone (and is no longer in the list). */
void attach_size_changed(struct attachment *attachment);
void attach_size_typed(struct attachment *attachment);
void attach_size_left(struct cmd_context *ctx, uint64_t number);
#endif
