/* recorder_state: the insides of a recorder, shared by its files and nobody else. */
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
    char *failure;             /* owned; why its recording ended; NULL */
};
/* record.c */
struct recorders *recorders_of(const struct registry *registry);
struct recorded *recorded_of(const struct session *session);  /* NULL: it never was recorded */
struct recorded *recorded_get(struct session *session);       /* made when there is none */
struct recorder *recorder_of(const struct session *session);  /* NULL: it is not recorded */

struct recorder {
    struct list link; /* of the registry */
    struct deferred told; /* its waiter, at the end of this turn */
    struct registry *registry;
    struct session *session; /* NULL: it has gone, what is left goes to the disk */
    uint64_t number;
    char name[JOURNAL_NAME_MAX + 1];
    /* the thread's while running, but for what never changes: note.number, given, input, path once
     * begun */
    struct recorder_file *file;
    recorder_fn *fn;            /* NULL: nobody waits */
    void *arg;
    int format;
    bool input;

    /* what is in the lines of `pending` and before */
    uint64_t at;           /* output up to here */
    char carry[4];         /* a character that is not whole yet, */
    size_t carried;        /* the last bytes before `at` */
    bool after_cr;         /* pipes: the last byte was a CR */
    int64_t began_boot_ms, last_ms;
    int rows, cols;
    uint64_t size, total;  /* bytes of this part, of all */
    unsigned part;

    struct buf pending;    /* not given to the thread yet */
    size_t split;          /* with begins: what is before it belongs to the part before */
    bool begins;           /* pending holds the beginning of a part */
    bool begun;            /* the first one is on disk */
    bool running, ending;
    struct recorder_job *unstarted; /* there was no thread for it */
    bool full;             /* the part is: another one begins with the next screen */
    /* bytes that nobody recorded before the journal gave them up: the screen is painted anew */
    uint64_t lost;
    struct watch *watch;   /* the screen is waited for */
    struct loop_timer flush;
};

const struct recorder_screens *recorder_screens_of(const struct recorder *recorder); /* record.c */
/* recorder.c */
void recorder_unwatch(struct recorder *recorder); /* the screen is not waited for any more */
void recorder_written(struct recorder *recorder); /* pending has grown, or something else is new */
void recorder_end(struct recorder *recorder);     /* no more: the last of it goes to the disk */

/* recorder_take.c */
void recorder_take(struct recorder *recorder);       /* output that came */
void recorder_begin_part(struct recorder *recorder); /* the first one */
/* The part's events. */
/* it runs: is it to be recorded from its beginning? */
void recorder_begin_wanted(struct session *session);
/* goes on with what a worker before this one has begun */
void recorder_take_over(struct session *session);
void recorder_session_goes(struct session *session); /* its recording ends */
/* waits for the disk; notes stay for a successor */
void recorder_stop_all(struct registry *registry);
void recorder_look(struct session *session);
void recorder_resized(struct session *session, const struct part_resize *resize);
void recorder_typed(struct session *session, const char *data, size_t size,
                    const struct author *author);
void recorder_input(struct session *session, const struct input *input);
#endif
