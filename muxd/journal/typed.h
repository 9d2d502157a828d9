/* typed: a piece of input, and who typed it. */
#ifndef MUXD_JOURNAL_TYPED_H
#define MUXD_JOURNAL_TYPED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum input_who {
    INPUT_BY_MUXD,
    INPUT_BY_AGENT,  /* any writer that is not attached */
    INPUT_BY_PERSON, /* attached */
    INPUT_WHO_COUNT
};
enum input_kind {
    INPUT_TEXT,
    INPUT_KEYS,
    INPUT_PASTE,
    INPUT_SECRET,
    INPUT_SIGNAL,
    INPUT_RESIZE,
    INPUT_EOF,
    INPUT_TAKE, /* the keyboard was taken; INPUT_GIVE: given back */
    INPUT_GIVE,
    INPUT_KIND_COUNT
};

struct author {
    enum input_who who;
    uid_t uid;
    pid_t pid;
    uint64_t peer;               /* number of the connection; 0: none */
    uint64_t from_session;       /* the session that the writer runs in; 0: none of ours */
    const char *client, *call_id; /* borrowed; NULL: unknown */
};

struct input {
    const char *data;
    size_t size;
    enum input_kind kind;
    const struct author *author; /* never NULL */
    uint64_t request_hash;       /* 0: none */
    uint64_t keys_id;            /* inputlog_keys_note; 0: none */
    bool steal;                  /* also while a person holds the keyboard */
    bool blind;                  /* wiped, and logged as a secret whatever the terminal's modes */
    bool direct;                 /* it does not go through the queue */
    int detail;                  /* see inputlog.h */
};

/* the word for clients; "text" for an unknown kind */
const char *input_kind_word(unsigned kind);
const char *input_who_word(unsigned who);   /* "muxd", "agent", "person" */
#endif
