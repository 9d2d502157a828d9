/* input: what is typed into a session, and who types it. */
#ifndef MUXD_SESSION_INPUT_H
#define MUXD_SESSION_INPUT_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct session;

enum input_who { INPUT_BY_MUXD, INPUT_BY_AGENT /* any writer that is not attached */, INPUT_BY_PERSON /* attached */, INPUT_WHO_COUNT };
enum input_kind {
    INPUT_TEXT,
    INPUT_KEYS,
    INPUT_PASTE,
    INPUT_SECRET,
    INPUT_SIGNAL,
    INPUT_RESIZE,
    INPUT_EOF,
    INPUT_TAKE, /* the keyboard was taken, or given back */
    INPUT_GIVE,
    INPUT_KIND_COUNT
};

struct author {
    enum input_who who;
    uid_t uid;
    pid_t pid;
    uint64_t peer;               /* number of the connection; 0: none */
    const char *client, *call_id; /* borrowed; NULL: not told */
};

struct input {
    const char *data;
    size_t size;
    enum input_kind kind;
    const struct author *author; /* never NULL */
    uint64_t request_hash;       /* 0: none */
    uint64_t keys_id;            /* inputlog_keys_note; 0: none */
    bool steal;                  /* although a person holds the keyboard */
    bool blind;                  /* wiped and logged as a secret whatever the terminal is set to */
    bool direct;                 /* not through the queue */
    int detail;                  /* see inputlog.h */
};

/* Types it: keyboard, secret prompts and the log are seen to. As session_type; besides ERR_KEYBOARD_HELD (an agent's while a person holds
 * the keyboard) and ERR_SECRET_PROMPT (an agent's text where the program reads a secret). A person takes the keyboard by it. */
int session_input(struct session *session, const struct input *input, struct err *err);
/* Whether that would be refused now; types nothing. */
int session_may_input(struct session *session, const struct input *input, struct err *err);
/* What is no bytes: a signal, a size (rows << 16 | cols), an end of file. */
void session_note_input(struct session *session, enum input_kind kind, const struct author *author, int detail);
/* Its terminal gives its program whole lines (ICANON). */
bool session_reads_lines(const struct session *session);
const char *input_kind_word(unsigned kind);
const char *input_who_word(unsigned who); /* "muxd", "agent", "person" */
bool session_reads_secret(const struct session *session); /* its terminal takes lines and does not show them */
#endif
