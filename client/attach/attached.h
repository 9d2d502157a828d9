/* attached: one person's terminal while it shows a session: shared by attach.c, which owns it, and
 * attach_view.c, which covers the session for a while with something of ue's own. */
#ifndef MUXD_CLIENT_ATTACHED_H
#define MUXD_CLIENT_ATTACHED_H
#include "client/attach/prefix.h"
#include "client/rpc/ue.h"
#include "wire/attach.h"
#include "wire/json.h"
#include "wire/outer.h"

enum attach_state {
    ATTACH_SHOWING,
    ATTACH_LOST,
    ATTACH_DETACHED,
    ATTACH_ENDED,
    ATTACH_FAILED,
    ATTACH_MOVES
};

struct attach {
    struct ue *ue;
    int64_t number, next; /* the session; the one to go to (ATTACH_MOVES) */
    char name[80];
    struct json *wanted;  /* owned: of the method attach, what the command line says */
    bool read_only;
    enum attach_state state;
    struct prefix prefix;
    const char *prefix_given; /* -k or $MUXD_ATTACH_KEY; NULL: the daemon's config says it */
    char prefix_word[8];      /* as people write it */
    bool mouse;
    char *clipboard;          /* owned: [attach] clipboard */
    int rows, cols;           /* what the daemon was told last */
    struct buf out;           /* what the terminal has not taken */
    struct buf keys;          /* typed, not sent yet: while others are on their way */
    /* sent, and the daemon has not said that it has them: whole frames; goes again after a restart
     * of it */
    struct buf sent;
    uint64_t keys_number;     /* of the last such frame */
    struct buf later;         /* to be printed when the terminal was given back */
    /* drawings are skipped: so many times everything was asked for anew */
    unsigned stale;
    int64_t notice_until_ms;  /* clock_mono_ms; 0: none is shown */
    char *said;               /* owned: a notice for when the session is drawn again; NULL: none */
    char *keyboard;           /* owned: who has it, for people; NULL: nobody said */
    struct json *end;         /* owned */
    struct err err;
};

/* attach_turn.c. One turn of the loop; frames that have come already; keys that a view has left
 * over; what the terminal takes now. */
void attach_turn(struct attach *attach);
void attach_take_frames(struct attach *attach);
void attach_take_unused_keys(struct attach *attach);
void attach_write_out(struct attach *attach);
/* in the last line, until the next key */
void attach_notice(struct attach *attach, const char *text, size_t size);
/* the terminal shows something else: everything, please */
void attach_redraw(struct attach *attach);

/* attach_keys.c. A frame; what was typed, to the daemon, and again to its successor; what the
 * daemon says it has of it. */
void attach_send(struct attach *attach, enum attach_type type, const char *data, size_t size);
void attach_send_keys(struct attach *attach);
void attach_send_again(struct attach *attach);
void attach_take_typed(struct attach *attach, const struct attach_frame *frame);
/* true once the daemon has taken all that was typed; false: it has died before that */
bool attach_leave(struct attach *attach);
void attach_tell_terminal(struct attach *attach, const struct outer *outer);
static inline bool attach_asks(const struct attach *attach) /* the terminal, what it is */
{
    return !attach->read_only;
}

/* attach_view.c: each covers the session until the person leaves it, and asks for everything
 * anew. */
void attach_view_help(struct attach *attach);
void attach_view_scroll(struct attach *attach);
void attach_view_list(struct attach *attach); /* the state may become ATTACH_MOVES */
#endif
