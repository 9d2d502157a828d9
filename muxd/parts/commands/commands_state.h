/* commands_state: what the files of this room share: the commands of one session, and the
 * integrated programs in it, one inside of another. */
#ifndef MUXD_PARTS_COMMANDS_STATE_H
#define MUXD_PARTS_COMMANDS_STATE_H
#include "parts/commands/commands.h"
#include "session/internal.h"
#include "session/nonce.h"

#define LEVELS_MAX 16

struct level {   /* one integrated program */
    uint64_t id; /* of its marks */
    bool echoes; /* nothing tells where its output begins: behind the echo of the input */
    bool keeps;  /* its editor keeps a line that is not complete */
    enum commands_place place;
    uint64_t running;    /* id of the command that it runs; 0: none */
    uint64_t input_from; /* behind the first prompt of the command */
    uint64_t line_from;  /* behind the last one */
    pid_t group;         /* 0: not known */
    char *cwd, *line;    /* owned; NULL: not told (line: for the next command) */
};

struct expected { /* what is known to have been typed */
    uint64_t from;
    char *text; /* owned; NULL: nothing */
};

struct commands {
    struct session *session;
    struct semantic semantic;
    bool live; /* the output that is looked at has just come */
    struct level levels[LEVELS_MAX];
    size_t depth;
    struct ran_command *list; /* owned: a ring of `room` */
    size_t first, count, room;
    uint64_t dropped;
    struct expected expected;
    pid_t refused;     /* a group; 0: none */
    uint64_t asked_at; /* where the last answer stands; 0: there was none */
    char asked[16];
};

/* commands_list.c */
void commands_list_mark(struct commands *commands, const struct semantic_mark *mark);
void commands_list_forget(struct commands *commands);        /* all that it knows */
struct commands *commands_of(const struct session *session); /* NULL: it was not begun */
#endif
