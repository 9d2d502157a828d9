/* attached: a person's terminal while it shows a session: the state that the files attach*.c share.
 * attach.c owns it. */
#ifndef MUXD_CLIENT_ATTACHED_H
#define MUXD_CLIENT_ATTACHED_H
#include "client/attach/prefix.h"
#include "client/attach/torn.h"
#include "client/rpc/ue.h"
#include "wire/attach.h"
#include "wire/json.h"
#include "wire/profile.h"

enum attach_state {
    ATTACH_SHOWING,
    ATTACH_LOST,     /* the connection; attach.c connects to the worker's successor */
    ATTACH_DETACHED, /* the person leaves, or the terminal is gone */
    ATTACH_ENDED,    /* the daemon has sent the last frame: attach->end */
    ATTACH_FAILED,   /* attach->err says why */
    ATTACH_MOVES     /* to the session attach->next */
};

struct attach {
    struct ue *ue;
    int64_t number, next; /* the session; the next one (ATTACH_MOVES) */
    char name[80];
    struct json *wanted;  /* owned: the arguments of the method attach from the command line */
    bool read_only;
    enum attach_state state;
    struct prefix prefix;
    const char *prefix_given; /* --prefix or $MUXD_ATTACH_KEY; NULL: the daemon's config decides */
    char prefix_word[8];      /* as people write it */
    struct torn torn;
    bool mouse;
    bool rolled;              /* it was the wheel that opened the scrolled view */
    char *clipboard;          /* owned: [attach] clipboard */
    int rows, cols;           /* as last told to the daemon */
    struct buf out;           /* output that the terminal has not taken */
    struct buf keys;          /* typed, and held back until the daemon has acknowledged sent */
    struct buf sent;          /* whole frames, not acknowledged; resent after a restart */
    uint64_t keys_number;     /* of the last frame in sent */
    struct buf later;         /* to print when the terminal was restored */
    unsigned stale;           /* redraws that are due: until then drawings are skipped */
    int notice_row;           /* where the next notice begins, from 1; 0: in the last lines */
    int prompt_first, prompt_last; /* rows that none covers, from 1; 0: not known */
    int64_t notice_until_ms;  /* clock_mono_ms; 0: no notice is shown */
    char *said;               /* owned: a notice for the next drawing of the session; NULL: none */
    char *keyboard;           /* owned: who holds it, for people; NULL: not known */
    struct json *end;         /* owned: of the last frame */
    struct err err;
};

/* attach_turn.c */
void attach_turn(struct attach *attach);             /* one turn of the loop; ATTACH_SHOWING */
void attach_take_frames(struct attach *attach);      /* handles frames that have arrived already */
void attach_take_unused_keys(struct attach *attach); /* sends keys that a view has not used */
void attach_write_out(struct attach *attach);        /* as much of out as the terminal takes */
/* Asks for the whole screen, because the terminal shows something else. */
void attach_redraw(struct attach *attach);

/* attach_told.c. Shows a notice beside the prompt, until the next key or for a few seconds; rings
 * where a terminal has no room for it. */
void attach_notice(struct attach *attach, const char *text, size_t size);
void attach_notice_place(struct attach *attach, const struct json *status); /* of ATTACH_STATUS */
void attach_notice_end(struct attach *attach);

/* attach_keys.c */
void attach_send(struct attach *attach, enum attach_type type, const char *data, size_t size);
void attach_send_keys(struct attach *attach);  /* sends what is held back */
void attach_send_again(struct attach *attach); /* to the worker's successor: what it may lack */
/* The daemon has acknowledged keys. */
void attach_take_typed(struct attach *attach, const struct attach_frame *frame);
/* Detaches. True: the daemon has taken all keys; false: it died, or did not answer in time. */
bool attach_leave(struct attach *attach);
void attach_tell_terminal(struct attach *attach, const struct profile *profile);
/* Whether the daemon is told of the terminal: programs get replies for a person who may type. */
static inline bool attach_tells_terminal(const struct attach *attach)
{
    return !attach->read_only;
}

/* The bytes before the first report of the mouse that is for us; all when there is none. */
size_t attach_before_report(const struct attach *attach, const char *data, size_t size);
/* data begins with a report: the wheel upwards is as the key that scrolls, and moves the view at
 * once (attach->rolled); others mean nothing. Returns the bytes of the report. */
size_t attach_take_report(struct attach *attach, const char *data, size_t size,
                          enum prefix_command *command);

/* attach_view.c: each covers the session until the person leaves it, and then asks for a redraw. */
void attach_view_help(struct attach *attach);
void attach_view_scroll(struct attach *attach);
void attach_view_approvals(struct attach *attach);
void attach_view_list(struct attach *attach); /* the state may become ATTACH_MOVES */
#endif
