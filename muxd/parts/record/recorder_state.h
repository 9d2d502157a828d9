/* recorder_state: the insides of a recorder. For this room only. */
#ifndef MUXD_PARTS_RECORDER_STATE_H
#define MUXD_PARTS_RECORDER_STATE_H
#include "base/buf.h"
#include "parts/record/recorder.h"
#include "parts/record/recorder_file.h"
#include "session/internal.h"

struct recorders { /* of the registry */
    struct list all;
    const struct recorder_screens *screens;
    bool closing;
};

struct recorded { /* of a session */
    struct recorder *recorder; /* NULL: it is not recorded */
    char *failure;             /* owned; why its recording ended; NULL: it did not fail */
};
/* record.c */
struct recorders *recorders_of(const struct registry *registry);
struct recorded *recorded_of(const struct session *session);  /* NULL: it was never recorded */
struct recorded *recorded_get(struct session *session);       /* made when there is none */
struct recorder *recorder_of(const struct session *session);  /* NULL: it is not recorded */

struct recorder {
    struct list link; /* of the registry */
    struct deferred told; /* tells its waiter, at the end of this turn */
    struct registry *registry;
    struct session *session; /* NULL: it was removed; the rest of the recording goes to the disk */
    uint64_t number;
    char name[JOURNAL_NAME_MAX + 1];
    /* used by the thread while running, except for what never changes: note.number, given,
     * input, and path once begun */
    struct recorder_file *file;
    recorder_fn *fn;            /* NULL: no call waits */
    void *arg;
    int format;
    bool input;

    /* what the lines of `pending`, and those before, contain */
    uint64_t at;           /* output up to here */
    char carry[4];         /* an incomplete character: */
    size_t carried;        /* the last bytes before `at`, so many */
    bool after_cr;         /* of a pipe: the last byte was a CR */
    int64_t began_boot_ms, last_ms;
    int rows, cols;
    uint64_t size, total;  /* bytes of this part, of all */
    unsigned part;

    struct buf pending;    /* not handed to the thread yet */
    size_t split;          /* with begins: the bytes before it belong to the previous part */
    bool begins;           /* pending holds the beginning of a part */
    bool begun;            /* the first one is on disk */
    bool running, ending;
    struct recorder_job *unstarted; /* owned: no thread could be started for it */
    bool full;             /* the part is full: another one begins with the next screen */
    /* bytes that the journal dropped before they were recorded: the screen is painted again */
    uint64_t lost;
    struct watch *watch;   /* the recorder waits for the screen */
    struct loop_timer flush;
};

const struct recorder_screens *recorder_screens_of(const struct recorder *recorder); /* record.c */
/* recorder.c */
void recorder_unwatch(struct recorder *recorder); /* stops waiting for the screen */
/* to be called when pending has grown or another state has changed */
void recorder_written(struct recorder *recorder);
void recorder_end(struct recorder *recorder);     /* ends it: the last of it goes to the disk */

/* recorder_take.c */
void recorder_take(struct recorder *recorder);       /* takes new output */
void recorder_begin_part(struct recorder *recorder); /* begins the first part */
/* What the part hears of a session. */
/* begins a recording that the session is to have from its beginning */
void recorder_begin_wanted(struct session *session);
/* continues the recording that a predecessor has begun */
void recorder_take_over(struct session *session);
void recorder_session_goes(struct session *session); /* ends its recording */
/* ends all recorders and waits for the disk; the notes stay for a successor */
void recorder_stop_all(struct registry *registry);
void recorder_look(struct session *session);
void recorder_resized(struct session *session, const struct part_resize *resize);
void recorder_typed(struct session *session, const char *data, size_t size,
                    const struct author *author);
void recorder_input(struct session *session, const struct input *input);
#endif
