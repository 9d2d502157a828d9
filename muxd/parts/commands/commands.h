/* commands: the commands that ran in a session, each with its directory, its times, its status and
 * its own output. Shells and REPLs tell of them by marks (wire/semantic.h) once a line was typed
 * that makes them do so (adapters.def); only the marks with the session's own nonce count. Only
 * sessions that were integrated are looked at. The list is found anew from the output that the
 * journal has, after a restart of the worker and for ended sessions. */
#ifndef MUXD_PARTS_COMMANDS_H
#define MUXD_PARTS_COMMANDS_H
#include "parts/commands/adapter.h"
#include "session/part.h"
#include "wire/semantic.h"

struct ran_command {
    uint64_t id;                /* the offset at which its input begins: never two of one session */
    char *text;                 /* owned: as far as it is known; else "" */
    char *cwd;                  /* owned; NULL: not known */
    int64_t begun_ms, ended_ms; /* since 1970; 0: not known */
    uint64_t from, to;          /* of its output; `to` while it runs: 0 */
    int status;                 /* -1: not known */
    bool runs;                  /* its end was not told yet */
    bool to_prompt;             /* nor was it: the next prompt came, and is in its output */
    uint8_t who;                /* enum input_who: who typed last before it began */
    char client[40];            /* "": not known */
};

/* The session's program is to be integrated: from now on its marks are looked for. */
void commands_begin(struct session *session);
/* Looks at all output that there is, now. Returns where that begins which may become a mark; the
 * end of the output: nothing may. */
uint64_t commands_catch_up(struct session *session);

enum commands_place {
    COMMANDS_OUTSIDE, /* no integrated program has told of a prompt */
    COMMANDS_PROMPT,  /* at its prompt, and nothing was typed since */
    COMMANDS_MORE,    /* it waits for the rest of a command */
    COMMANDS_INPUT,   /* something was typed at its prompt, or it runs a command */
    COMMANDS_RUNS     /* output of a command has begun */
};
struct commands_where {
    uint64_t level;      /* with which the innermost program was integrated; 0: none */
    pid_t group;         /* the foreground process group of its last prompt; 0: not known */
    uint64_t input_from; /* behind that prompt: the id of the next command */
    bool echoes;         /* nothing tells when its commands begin */
    bool keeps;          /* a line that is not complete stays in its editor, and no mark says so */
};
/* Of the innermost program. */
enum commands_place commands_place(struct session *session, struct commands_where *where);
pid_t commands_foreground(const struct session *session); /* its process group; 0: none */
/* What was typed last is no whole command, and still in its editor: COMMANDS_MORE. */
void commands_keeps(struct session *session);
void commands_gave_up(struct session *session); /* no longer: COMMANDS_PROMPT */
/* The program of this group did not answer, and is not to be asked again by itself. */
void commands_refused(struct session *session, pid_t group);
bool commands_was_refused(const struct session *session, pid_t group);
/* It no longer counts: its marks have failed to come. */
void commands_drop_level(struct session *session, uint64_t level);
/* What a shell has said that was asked to identify itself, in the output from `from` on: a word of
 * adapters.def. False: nothing yet. */
bool commands_was_answered(struct session *session, uint64_t from, char word[16]);
/* Nothing was printed behind that. */
bool commands_says_no_more(const struct session *session);
/* The command that is about to be typed at the prompt: its text as it is known. Copied. */
void commands_expect(struct session *session, const char *text, size_t size);

/* Commands in the order in which they ran; borrowed until the next turn. */
size_t commands_count(const struct session *session);
const struct ran_command *commands_at(const struct session *session, size_t index);
uint64_t commands_dropped(const struct session *session); /* the list was full */
const struct ran_command *commands_by_id(const struct session *session,
                                         uint64_t id); /* NULL: none */

extern const struct part commands_part;
#endif
