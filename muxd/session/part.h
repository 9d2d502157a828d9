/* part: what hangs on sessions beside the core: events, the keyboard, screens, recordings, the
 * archive, the end of everything that a program has left. A part is a row of functions; the daemon
 * joins the rows in one table (server/parts.c), whose order is that of the calls. The core calls
 * each event by one function and knows nothing of who listens. A part keeps what it knows of a
 * session in session->part[ID], of all of them in registry->part[ID]. Any function of a row may be
 * NULL. */
#ifndef MUXD_SESSION_PART_H
#define MUXD_SESSION_PART_H
#include "base/err.h"
#include "journal/journal.h"
#include "journal/typed.h"
#include <stdbool.h>
#include <stdint.h>

struct registry;
struct session;
struct session_spec;

enum part_id {
    PART_REAP,
    PART_AUDIT,
    PART_EVENTS,
    PART_KEYBOARD,
    PART_VIEW,
    PART_COMMANDS,
    PART_RECORD,
    PART_ARCHIVE,
    PART_COUNT
};

struct part_resize {
    int rows, cols, old_rows, old_cols; /* session_get_own_size */
    bool same; /* it was asked for before; the program may have changed it since */
};

struct part {
    /* All sessions. */
    void (*init)(struct registry *registry); /* before there is one */
    /* The worker ends, the sessions do not: what is on its way to the disk is waited for. */
    void (*close)(struct registry *registry);
    void (*fini)(struct registry *registry);   /* after the last `free`; in reverse order */
    void (*reload)(struct registry *registry); /* the config is another one */
    /* After the hand-over, when nobody else serves our socket, and after each reload. */
    void (*boot)(struct registry *registry);
    void (*stopping)(struct registry *registry);      /* every session is being ended */
    bool (*is_idle)(const struct registry *registry); /* false: a stop has to wait for it */
    void (*turn_end)(struct registry *registry);      /* after all callbacks of the turn */

    /* The keeper holds something of it for a successor, in this slot (0: nothing; sessions have
     * 1000 and more). */
    uint64_t slot;
    void (*take_slot)(struct registry *registry, int fds[]); /* enum keep_fd; all become its own */
    void (*hold)(struct registry *registry);                 /* to the keeper, or to a new one */

    /* One session's life. */
    /* It is whole, and nobody knows it yet. 0, or refused: then its program is not started. */
    int (*admit)(struct session *session, const struct session_spec *spec, struct err *err);
    void (*began)(struct session *session); /* it has a process */
    /* A predecessor's, before any input goes to it. */
    void (*adopt)(struct session *session);
    /* The program waits for input (session->prompt). True: the part has typed what was waited
     * for. */
    bool (*prompt)(struct session *session);
    /* The end of a turn in which it was marked; its end is not decided yet. Output came when
     * seen_head is not session->seen_head. */
    void (*look)(struct session *session, uint64_t seen_head);
    void (*late_look)(struct session *session); /* after that, and after its waits */
    /* its end stands in the journal; the keeper does not know that yet */
    void (*ended)(struct session *session);
    /* True: it is being ended; the keeper must not reap its program yet, and it stays in the
     * registry. */
    bool (*holds_leader)(const struct session *session);
    /* it leaves the registry. told: people knew it */
    void (*forget)(struct session *session, bool told);
    void (*free)(struct session *session);               /* in reverse order */
    /* adds to what the keeper is given of it */
    void (*hold_session)(const struct session *session, int fds[]);

    /* What happens to one. */
    /* What its output has asked its terminal is answered, before anything else is typed. */
    void (*answer)(struct session *session);
    /* it waits for a key. True: for an answer, which it has now */
    bool (*answer_late)(struct session *session);
    /* 0, or refused */
    int (*check_input)(struct session *session, const struct input *input, struct err *err);
    /* Before the bytes are given to it; in the log already, unless it is a secret that goes past
     * the queue. */
    void (*input)(struct session *session, const struct input *input);
    /* It is queued, and not given to it yet. author NULL: not to be named. */
    void (*typed)(struct session *session, const char *data, size_t size,
                  const struct author *author);
    void (*resized)(struct session *session, const struct part_resize *resize);
    void (*renamed)(struct session *session, const char *old_name);
    void (*end_read)(struct session *session); /* its end was told to a reader */
    /* The core wants it and all its descendants ended: a limit is passed, or the daemon stops. One
     * row has this. */
    void (*end)(struct session *session, enum session_killer killer);
    /* Asked for or sent by muxd, by whom; signo 0: the whole ladder. */
    void (*killed)(struct session *session, const char *by, int signo);
};

/* One function an event: calls all rows. */
void part_init(struct registry *registry);
void part_close(struct registry *registry);
void part_fini(struct registry *registry);
void part_reload(struct registry *registry);
void part_boot(struct registry *registry);
void part_stopping(struct registry *registry);
bool part_is_idle(const struct registry *registry); /* all are */
void part_turn_end(struct registry *registry);
/* false: it is nobody's, and fds stay the caller's */
bool part_take_slot(struct registry *registry, uint64_t slot, int fds[]);
bool part_has_slot(const struct registry *registry, uint64_t slot);
void part_hold(struct registry *registry);
/* the first that refuses */
int part_admit(struct session *session, const struct session_spec *spec, struct err *err);
void part_began(struct session *session);
void part_adopt(struct session *session);
bool part_prompt(struct session *session); /* until one says true */
void part_look(struct session *session, uint64_t seen_head);
void part_late_look(struct session *session);
void part_ended(struct session *session);
bool part_holds_leader(const struct session *session); /* any does */
void part_forget(struct session *session, bool told);
void part_free(struct session *session);
void part_hold_session(const struct session *session, int fds[]);
void part_answer(struct session *session);
bool part_answer_late(struct session *session); /* until one says true */
/* the first that refuses */
int part_check_input(struct session *session, const struct input *input, struct err *err);
void part_input(struct session *session, const struct input *input);
void part_typed(struct session *session, const char *data, size_t size,
                const struct author *author);
void part_resized(struct session *session, const struct part_resize *resize);
void part_renamed(struct session *session, const char *old_name);
void part_end_read(struct session *session);
void part_end(struct session *session, enum session_killer killer);
void part_killed(struct session *session, const char *by, int signo);
#endif
