/* attachment: a connection that shows a session: shared by attach.c, which owns it, and attach_*.c,
 * each of which owns one thing that people who look at the same session share: its keyboard, its
 * size, its colours. */
#ifndef MUXD_CMD_ATTACHMENT_H
#define MUXD_CMD_ATTACHMENT_H
#include "cmd/cmd.h"
#include "parts/keyboard/keyboard.h"
#include "parts/view/view.h"
#include "term/paint.h"
#include "wire/attach.h"
#include "wire/outer.h"

struct attachment {
    struct attachment *next;
    struct cmd_context *ctx;
    struct peer *peer;
    struct watch *watch;
    struct paint *paint;
    uint64_t number, host; /* the session; the one that its viewer runs in, 0: none */
    bool read_only, ended, finished;
    bool followed;   /* in this search of shows() */
    bool due;        /* the screen may differ from what was drawn */
    uint64_t drawn_at; /* output offset that it was drawn for */
    bool late_drawn; /* the program is still drawing: enough waited */
    bool anew;       /* it asked for everything: ATTACH_ANEW goes before the drawing */
    bool answered;   /* the request: before that no frame may go out */
    char *early;     /* a notice that waits for it */
    struct loop_timer pace, drawn, resize;
    struct author author; /* attach_keyboard.c: who types here; its client is the text below */
    char client[40];
    struct keyboard_watch *keyboard;
    uint64_t keys_id;     /* of the frame that is being typed; 0: none */
    struct outer *outer;  /* attach_terminal.c: owned; what its terminal has told; NULL: nothing */
    /* it is the one of its session that programs are told of; and that has been done */
    bool leads, spoke;
    int64_t led_ns;       /* when it came, or was typed into last */
};

/* attach.c: NULL once the session was removed */
struct session *attachment_session(const struct attachment *attachment);
/* a line for the person; dropped when too many wait */
void attachment_notice(struct attachment *attachment, const char *text);

/* answers the request */
void attachment_begin(struct cmd_context *ctx, struct request *request, struct session *session);

/* attach_nested.c. 0, or why this session can't be shown to a client that runs in `own` (NULL: in
 * none): it has no terminal, has ended, or would show itself. */
int attach_nested_check(struct cmd_context *ctx, struct session *session,
                        const struct session *own, struct err *err);

/* attach_keyboard.c. It came (and now looks on); typed; pressed the keys that take or give back;
 * has gone. */
void attach_keyboard_begin(struct attachment *attachment, struct session *session,
                           struct request *request);
int attach_keyboard_type(struct attachment *attachment, struct session *session, const char *data,
                         size_t size, struct err *err);
/* An ATTACH_KEYS becomes its bytes. False: they were typed before a restart. */
bool attach_keyboard_begin_keys(struct attachment *attachment, struct attach_frame *frame);
void attach_keyboard_take(struct attachment *attachment);
void attach_keyboard_give(struct attachment *attachment);
void attach_keyboard_end(struct attachment *attachment);

/* attach_terminal.c. It came (again: after a restart); somebody typed there; it told what it is; it
 * has gone (and is still in the list). */
void attach_terminal_joined(struct attachment *attachment, bool again);
void attach_terminal_typed(struct attachment *attachment);
void attach_terminal_told(struct attachment *attachment, const char *data, size_t size);
void attach_terminal_left(struct attachment *attachment);

/* attach_size.c. This terminal came or has changed its own size; somebody typed there; it has gone
 * (and is no longer in the list). */
void attach_size_changed(struct attachment *attachment);
void attach_size_typed(struct attachment *attachment);
void attach_size_left(struct cmd_context *ctx, uint64_t number);
#endif
