/* replay: the parts of `ue replay`: the file, and the keys. */
#ifndef MUXD_CLIENT_REPLAY_H
#define MUXD_CLIENT_REPLAY_H
#include "base/err.h"
#include "wire/cast.h"
#include <signal.h>

/* replay_file.c: reads a recording line by line, each at most CAST_LINE_MAX long. */
struct replay_file {
    int fd;      /* owned, unless it is standard input */
    const char *name;
    struct buf in;
    size_t at;   /* in `in`: where the next line begins */
    bool at_end;
    struct cast_reader reader;
};
/* name: "-" is standard input. 0 or ERR_SYSTEM. */
int replay_file_open(struct replay_file *file, const char *name, struct err *err);
/* Safe on a zeroed one. */
void replay_file_close(struct replay_file *file);
/* 1: the next event, which the caller frees by cast_event_fini; 0: the end; an error names file and
 * line. */
int replay_file_next(struct replay_file *file, struct cast_event *event, struct err *err);

/* replay_keys.c: reads single keys from the person's terminal, and restores its settings when ue
 * ends, by a signal too. */
void replay_keys_open(void);  /* once; when standard input is no terminal there are no keys */
void replay_keys_close(void);
/* Waits for a key until due_ms (clock_mono_ms; INT64_MAX: for ever). Returns its byte; 0: the time
 * is over; -1: ^C or another signal that ends ue. */
int replay_keys_wait(int64_t due_ms);
#endif
