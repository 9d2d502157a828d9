/* archive: [muxd] keep_on_disk: ended sessions as plain files, STATE/ended/NUMBER-NAME/{output,status.ini}, so that they outlive a reboot.
 * The disk is written by a thread, one job at a time; the loop only renames. Bounded by the sessions that the registry keeps: what goes
 * there goes on disk. For this room only. */
#ifndef MUXD_SESSION_ARCHIVE_H
#define MUXD_SESSION_ARCHIVE_H
#include "session/archive_write.h"
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

void archive_init(struct registry *registry, const char *state_dir);
void archive_fini(struct registry *registry); /* waits for the job that runs */
bool archive_is_idle(const struct registry *registry);
/* Once, when the hand-over is done and the socket's lock is ours: sessions from before the daemon was started; those that were taken
 * over are found again. */
void archive_load(struct registry *registry);
void archive_all(struct registry *registry);       /* every ended one that is not on disk */
void archive_ended(struct session *session);       /* its end, and all output read so far, stand in the journal */
void archive_closed(struct session *session);      /* programs that it left behind have written more, and are gone now */
void archive_changed(struct session *session);     /* its end was read */
void archive_renamed(struct session *session);
void archive_forget(struct session *session);      /* it goes: from the disk, too */
/* archive_load.c needs them. */
bool archive_open(struct archive *archive, bool make); /* the directory; false: there is none, or it is not fit (logged) */
void archive_remove_dir(struct archive *archive, const char *name); /* at once out of the way, then deleted */
#endif
