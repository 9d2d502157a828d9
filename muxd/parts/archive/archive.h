/* archive: [muxd] keep_on_disk: ended sessions outlive a reboot as files,
 * STATE/ended/NUMBER-NAME, each the image of a journal. A thread writes the disk, one job at a
 * time; the loop only renames. Bounded by the registry: a session that leaves it leaves the
 * disk. */
#ifndef MUXD_PARTS_ARCHIVE_H
#define MUXD_PARTS_ARCHIVE_H
#include "parts/archive/archive_write.h"
#include "session/internal.h"

struct archive {
    struct registry *registry;
    char *path; /* STATE/ended */
    int dir;    /* owned; -1: not open */
    struct list jobs;
    struct archive_job *running;
    bool closing, loaded;
    bool warned; /* the disk has refused, and the log says so */
};

struct archived { /* what is on disk of an ended session */
    struct session *session;
    char *file; /* owned: NUMBER-NAME; NULL: not on disk */
    bool queued, note_queued;
    unsigned tries;
    uint64_t written_to; /* the file has the output up to here */
    struct journal_source source;
};

extern const struct part archive_part;

/* Shared by the files of this room. */
struct archive *archive_of(const struct registry *registry);
struct archived *archived_get(struct session *session); /* made when there is none */
/* Reads the sessions of an earlier daemon. For those that were taken over it finds their files. */
void archive_load(struct registry *registry);
void archive_all(struct registry *registry); /* writes every ended one that is not on disk */
/* Opens the directory. False: there is none, or it is unfit (logged). */
bool archive_open(struct archive *archive, bool make);
/* by the thread; name: in the directory */
void archive_remove(struct archive *archive, const char *name);
#endif
