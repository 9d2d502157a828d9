/* archive_write: the disk's side of the archive: a directory for an ended session is written, or removed. Runs in a thread of its own
 * kind, so it touches only what its job holds. For this room only. */
#ifndef MUXD_PARTS_ARCHIVE_WRITE_H
#define MUXD_PARTS_ARCHIVE_WRITE_H
#include "parts/archive/archive_status.h"
#include "base/list.h"

#define ARCHIVE_NAME_MAX (20 + 1 + JOURNAL_NAME_MAX + 1) /* NUMBER-NAME */

enum archive_kind {
    ARCHIVE_WRITE,  /* all of it, into a directory `name` that nobody takes for a finished one */
    ARCHIVE_STATUS, /* only the status, in the finished directory `name` */
    ARCHIVE_DELETE  /* `name` and what is in it */
};
struct archive_job {
    struct list link;
    enum archive_kind kind;
    void *owner;                   /* of the queue */
    int dir;                       /* borrowed: the directory of all */
    char name[ARCHIVE_NAME_MAX + 1];
    uint64_t number;
    int error;                     /* the answer: 0 or -errno; -EAGAIN: the journal went on meanwhile, try again */
    /* WRITE, STATUS */
    struct archive_status status;
    struct archive_job_source {
        int fd; /* owned: a duplicate of the journal's memfd */
        uint64_t ring_at, ring_size, head_at, head_size, tail_field; /* tail_field: where the header keeps out_tail */
    } source;
};
void archive_job_run(void *job); /* a struct archive_job, whose error it sets; in a thread */
#endif
