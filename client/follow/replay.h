/* replay: a recording on its way from a file to a terminal. */
#ifndef MUXD_CLIENT_REPLAY_H
#define MUXD_CLIENT_REPLAY_H
#include "base/err.h"
#include "wire/cast.h"
#include <signal.h>

/* replay_file.c: the lines of a file, each at most CAST_LINE_MAX long. */
struct replay_file {
    int fd; /* owned, but for standard input */
    const char *name;
    struct buf in;
    size_t at;   /* of in: where the next line begins */
    bool at_end;
    struct cast_reader reader;
};
/* "-": standard input */
int replay_file_open(struct replay_file *file, const char *name, struct err *err);
/* safe on a zeroed one */
void replay_file_close(struct replay_file *file);
/* The next event, to be freed by cast_event_fini: 1; 0 at the end; errors name file and line. */
int replay_file_next(struct replay_file *file, struct cast_event *event, struct err *err);

/* replay_keys.c: single keys from the person's terminal, which is given back as it was whatever
 * ends this program. */
void replay_keys_open(void);  /* without a terminal as standard input there are no keys */
void replay_keys_close(void);
/* Waits until due_ms (clock_mono_ms; INT64_MAX: for ever) or a key: its byte; 0: the time has come;
 * -1: ^C or a signal to end. */
int replay_keys_wait(int64_t due_ms);
#endif
