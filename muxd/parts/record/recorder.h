/* recorder: writes what a session shows into a file (asciicast, wire/cast.h), with the time of
 * each piece, its markers, changes of size and its end. It reads the journal at an offset of its
 * own, like any other reader, and hands whole lines to a thread: the loop never waits for the
 * disk, and a slow or full disk ends recordings, never sessions. A recording that begins late
 * begins with the screen as it is. The worker's successor goes on where the note beside the file
 * says. */
#ifndef MUXD_PARTS_RECORDER_H
#define MUXD_PARTS_RECORDER_H
#include "session/part.h"
#include "session/session.h"

struct screen;
struct watch;

struct recorder_spec {
    const char *path; /* absolute, borrowed; NULL: STATE/recordings/NUMBER-NAME.cast */
    int format;       /* asciicast 2 or 3; 0: 3, or that of the recording under way */
    bool input;       /* records input, too, but no secrets */
};
struct recorder_facts {
    /* owned: of the part that is being written; NULL: the recording has failed */
    char *path;
    uint64_t bytes; /* of all parts */
    unsigned part;  /* from 1 */
    int format;
    bool input;
};
/* Called once, at the end of a turn: with err->code 0 and facts, or with an error and NULL. Both
 * are borrowed. */
typedef void recorder_fn(void *arg, const struct err *err, const struct recorder_facts *facts);

/* fn (may be NULL) is called once the beginning is on disk, also when the session is recorded to
 * the same place in the same way already. ERR_ENDED; ERR_NOT_AVAILABLE: it is recorded in
 * another way, or another call waits for its recorder. */
int recorder_start(struct session *session, const struct recorder_spec *spec, recorder_fn *fn,
                   void *arg, struct err *err);
/* fn is called once all is on disk. ERR_NOT_AVAILABLE: it is not recorded, or is being stopped
 * already. */
int recorder_stop(struct session *session, recorder_fn *fn, void *arg, struct err *err);
/* False: it is not recorded. The caller frees facts->path. */
bool recorder_is_on(const struct session *session, struct recorder_facts *facts);
/* why its recording ended, for people; NULL: it did not fail */
const char *recorder_failure(const struct session *session);

/* Adds a marker for a command that was typed, cut to its first line. */
void recorder_command(struct session *session, const char *label, size_t size);

/* Where a recording that begins late, or has missed output, gets the screen from. */
struct recorder_screens {
    struct watch *(*watch)(struct session *session, void (*fn)(void *arg, unsigned events),
                           void *arg, struct err *err);
    void (*cancel)(struct watch *watch); /* NULL is fine */
    const struct screen *(*screen)(const struct watch *watch); /* NULL: not yet, or no longer */
    uint64_t (*offset)(const struct watch *watch); /* the screen shows the output up to here */
    unsigned gone; /* the event after which no screen comes */
};
/* screens: borrowed, outlives the registry */
void record_join(struct registry *registry, const struct recorder_screens *screens);
extern const struct part record_part;
#endif
