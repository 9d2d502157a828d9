/* archive: [muxd] keep_on_disk: ended sessions as plain files, STATE/ended/NUMBER-NAME/{output,status.ini}, so that they outlive a reboot.
 * The disk is written by a thread, one job at a time; the loop only renames. Bounded by the sessions that the registry keeps: what goes
 * there goes on disk. */
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
    char *dir; /* owned: NUMBER-NAME; NULL: it is not there */
    bool queued, status_queued;
    unsigned tries;
    int64_t output_from, output_to, saved_from, saved_size; /* what the file "output" holds */
    struct journal_source source;
};

extern const struct part archive_part;

/* Shared by the files of this room. */
struct archive *archive_of(const struct registry *registry);
struct archived *archived_get(struct session *session); /* made when there is none */
void archive_load(struct registry *registry); /* sessions from before the daemon was started; those that were taken over are found again */
void archive_all(struct registry *registry);  /* every ended one that is not on disk */
bool archive_open(struct archive *archive, bool make); /* the directory; false: there is none, or it is not fit (logged) */
void archive_remove_dir(struct archive *archive, const char *name); /* at once out of the way, then deleted */
#endif
