/* chooser: lets a person choose one of the live sessions with a terminal. */
#ifndef MUXD_CLIENT_CHOOSER_H
#define MUXD_CLIENT_CHOOSER_H
#include "base/buf.h"
#include "wire/json.h"
#include <stdint.h>

/* Whether `ue attach` can show the session: it has a terminal, and we don't run in it. Sets
 * *number. */
bool chooser_takes(const struct json *session, int64_t *number);
#define CHOOSER_NEW (-1) /* chosen: a new session */

struct chooser_options {
    int64_t current; /* number of the session to begin at; 0: the first one */
    bool types;      /* letters filter at once; else after / */
    bool offers_new; /* a new session can be chosen, too */
    /* What the session shows, as text, in memory that the chooser frees; NULL: nothing */
    char *(*preview)(void *arg, int64_t number);
    void *arg;
};

#define CHOOSER_TYPED_MAX 40 /* bytes */
struct chosen {
    int64_t number;                    /* 0: the person chose none */
    char name[CHOOSER_TYPED_MAX + 1];  /* CHOOSER_NEW: of the new session; "": none was typed */
};

/* sessions: of list_sessions. The terminal has been entered; out: as for overlay_run. 0 and
 * *chosen, or -1: the terminal is gone. */
int chooser_run(const struct chooser_options *options, const struct json *sessions, struct buf *out,
                struct chosen *chosen);
#endif
