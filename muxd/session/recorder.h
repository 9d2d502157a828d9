/* recorder: writes what a session shows into a file (asciicast, wire/cast.h), with the time of each piece, its markers, changes of size
 * and its end. It reads the journal at an offset of its own, like any other reader, and hands whole lines to a thread: the loop never waits
 * for the disk, a disk that is slow or full ends recordings and never sessions. A recording that begins late begins with the screen as it
 * is. A worker's successor goes on where the note beside the file says. */
#ifndef MUXD_SESSION_RECORDER_H
#define MUXD_SESSION_RECORDER_H
#include "session/session.h"

struct recorder_spec {
    const char *path; /* absolute, borrowed; NULL: STATE/recordings/NUMBER-NAME.cast */
    int format;       /* asciicast 2 or 3; 0: 3, or what it is already recorded in */
    bool input;       /* what is typed, too, but secrets */
};
struct recorder_facts {
    char *path;     /* owned: of the part that is written now; NULL: of a recording that has failed */
    uint64_t bytes; /* of all parts */
    unsigned part;  /* from 1 */
    int format;
    bool input;
};
/* Once, at the end of a turn: err->code 0 and facts (NULL otherwise), both borrowed. */
typedef void recorder_fn(void *arg, const struct err *err, const struct recorder_facts *facts);

/* fn (may be NULL) is called once the beginning is on disk. Recorded already to the same place in the same way: fn is called all the same.
 * ERR_ENDED; ERR_NOT_AVAILABLE: it is recorded in another way, or something else waits for its recorder. */
int recorder_start(struct session *session, const struct recorder_spec *spec, recorder_fn *fn, void *arg, struct err *err);
/* fn is called once all is on disk. ERR_NOT_AVAILABLE: it is not recorded, or being stopped already. */
int recorder_stop(struct session *session, recorder_fn *fn, void *arg, struct err *err);
/* False: it is not recorded. The caller frees facts->path. */
bool recorder_is_on(const struct session *session, struct recorder_facts *facts);
const char *recorder_failure(const struct session *session); /* why its recording ended, for people; NULL */

/* A call typed this: a marker, cut to its first line. */
void recorder_command(struct session *session, const char *label, size_t size);
/* Accepted as input, just now. secret: written as a gap, as is what is typed while the terminal reads a line without echo; data may then
 * be NULL. */
void recorder_input(struct session *session, const char *data, size_t size, bool secret);

/* For the rest of this room. */
struct registry;
void recorder_begin_wanted(struct session *session); /* it runs: is it to be recorded from its beginning? */
void recorder_look(struct session *session);         /* the end of the turn is there */
void recorder_resized(struct session *session);      /* just now */
void recorder_forget(struct session *session);       /* it goes; its recording ends */
void recorder_take_over(struct session *session);    /* goes on with what a worker before this one has begun */
bool recorder_is_idle(const struct registry *registry); /* nothing is on its way to the disk for a session that has ended */
void recorder_init(struct registry *registry, const char *state_dir);
void recorder_fini(struct registry *registry); /* waits for the disk; notes stay for a successor */
#endif
