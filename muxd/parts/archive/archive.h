/* archive: [muxd] keep_on_disk: ended sessions outlive a reboot as files, STATE/ended/NUMBER-NAME,
 * each the image of a journal. The disk is written by a thread, one job at a time; the loop only
 * renames. Bounded by the sessions that the registry keeps: what goes there goes on disk. */
#ifndef MUXD_PARTS_ARCHIVE_H
#define MUXD_PARTS_ARCHIVE_H
#include "parts/archive/archive_write.h"
#include "session/internal.h"

struct archive {
    struct registry *registry;
    char *path; /* STATE/ended */
    int dir;    /* owned; -1: not opened, or it can't be */
    struct list jobs;
    struct archive_job *running;
    bool closing, loaded;
    bool warned; /* the disk refused, and the log says so */
};

struct archived { /* what of an ended session is on disk */
    struct session *session;
    char *file; /* owned: NUMBER-NAME; NULL: it is not there */
    bool queued, note_queued;
    unsigned tries;
    uint64_t written_to; /* so much output is in the file */
    struct journal_source source;
};

extern const struct part archive_part;

/* Shared by the files of this room. */
struct archive *archive_of(const struct registry *registry);
struct archived *archived_get(struct session *session); /* made when there is none */
/* Sessions from before the daemon was started; those that were taken over are found again. */
void archive_load(struct registry *registry);
void archive_all(struct registry *registry); /* every ended one that is not on disk */
/* the directory; false: there is none, or not fit (logged) */
bool archive_open(struct archive *archive, bool make);
void archive_remove(struct archive *archive, const char *name); /* by the thread */
#endif
