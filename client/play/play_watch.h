/* play_watch: a wait on a session's output, from the place behind its last match. */
#ifndef MUXD_CLIENT_PLAY_WATCH_H
#define MUXD_CLIENT_PLAY_WATCH_H
#include "client/play/playing.h"

enum play_reason {
    PLAY_MATCHED,
    PLAY_FAILED_ON, /* a pattern of `fail-on` */
    PLAY_ENDED,
    PLAY_READY,
    PLAY_QUIET,
    PLAY_LATE /* the deadline */
};

struct play_watch { /* what is waited for; all borrowed */
    const struct buf *patterns[SCRIPT_ARMS_MAX];
    size_t pattern_count;
    bool ready, exit;
    int64_t quiet_ms;   /* 0: not waited for */
    int64_t timeout_ms; /* INT64_MAX: none */
};

struct play_seen {
    enum play_reason reason;
    size_t which;     /* of PLAY_MATCHED: index of the pattern */
    int64_t place;    /* from where on it was looked at */
    int64_t from, to; /* of the match; else both the end of the output */
};

/* Waits, sets the variables that a match sets, and moves the session's place: behind the match, and
 * on the end and on silence to the end of the output. 0 or an error. */
int play_watch(struct play *play, struct played *session, const struct play_watch *watch,
               struct play_seen *seen, struct err *err);
/* The same of an answer that is there. */
int play_take_result(struct play *play, struct played *session, const struct json *result,
                     struct play_seen *seen, struct err *err);
/* --timeout of a command, else that of the script. */
int play_timeout_of(struct play *play, const struct script_node *node, int64_t *ms,
                    struct err *err);
/* ${status}, when an answer has the exit status of the session. */
void play_note_end(struct play *play, const struct json *result);
/* The arguments of read_output; the caller's. */
struct json *play_watch_params(const struct played *session, const struct play_watch *watch);
/* What an expect without a block, a capture or a wait waits for. step lives as long. 0 or an
 * error. */
int play_watch_of(struct play *play, const struct play_step *step, struct play_watch *watch,
                  struct err *err);
/* Ends the script because a wait did not come true, with what was printed meanwhile. */
enum play_flow play_not_true(struct play *play, const struct played *session,
                             const struct play_seen *seen, const struct play_watch *watch);
#endif
