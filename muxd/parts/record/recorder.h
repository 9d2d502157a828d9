/* recorder: writes what a session shows into a file (asciicast, wire/cast.h), with the time of each
 * piece, its markers, changes of size and its end. It reads the journal at an offset of its own,
 * like any other reader, and hands whole lines to a thread: the loop never waits for the disk, a
 * disk that is slow or full ends recordings and never sessions. A recording that begins late begins
 * with the screen as it is. A worker's successor goes on where the note beside the file says. */
#ifndef MUXD_PARTS_RECORDER_H
#define MUXD_PARTS_RECORDER_H
#include "session/part.h"
#include "session/session.h"

struct screen;
struct watch;

struct recorder_spec {
    const char *path; /* absolute, borrowed; NULL: STATE/recordings/NUMBER-NAME.cast */
    int format;       /* asciicast 2 or 3; 0: 3, or what it is already recorded in */
    bool input;       /* what is typed, too, but secrets */
};
struct recorder_facts {
    /* owned: of the part that is written now; NULL: of a recording that has failed */
    char *path;
    uint64_t bytes; /* of all parts */
    unsigned part;  /* from 1 */
    int format;
    bool input;
};
/* Once, at the end of a turn: err->code 0 and facts (NULL otherwise), both borrowed. */
typedef void recorder_fn(void *arg, const struct err *err, const struct recorder_facts *facts);

/* fn (may be NULL) is called once the beginning is on disk. Recorded already to the same place in
 * the same way: fn is called all the same. ERR_ENDED; ERR_NOT_AVAILABLE: it is recorded in another
 * way, or something else waits for its recorder. */
int recorder_start(struct session *session, const struct recorder_spec *spec, recorder_fn *fn,
                   void *arg, struct err *err);
/* fn is called once all is on disk. ERR_NOT_AVAILABLE: it is not recorded, or being stopped
 * already. */
int recorder_stop(struct session *session, recorder_fn *fn, void *arg, struct err *err);
/* False: it is not recorded. The caller frees facts->path. */
bool recorder_is_on(const struct session *session, struct recorder_facts *facts);
/* why its recording ended, for people; NULL */
const char *recorder_failure(const struct session *session);

/* Somebody has typed this: a marker, cut to its first line. */
void recorder_command(struct session *session, const char *label, size_t size);

/* Where a recording that begins late, or has missed something, gets the screen from. */
struct recorder_screens {
    struct watch *(*watch)(struct session *session, void (*fn)(void *arg, unsigned events),
                           void *arg, struct err *err);
    void (*cancel)(struct watch *watch); /* NULL is fine */
    const struct screen *(*screen)(const struct watch *watch); /* NULL: not yet, or not any more */
    uint64_t (*offset)(const struct watch *watch); /* the screen shows the output up to here */
    unsigned gone; /* the event that says that no screen will come any more */
};
/* borrowed, outlives the registry */
void record_join(struct registry *registry, const struct recorder_screens *screens);
extern const struct part record_part;
#endif
