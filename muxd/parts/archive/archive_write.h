/* archive_write: the disk's side of the archive: the file of an ended session is written, gets a
 * note, or is removed. Runs in a thread, so it touches only what its job holds. For this room
 * only. */
#ifndef MUXD_PARTS_ARCHIVE_ARCHIVE_WRITE_H
#define MUXD_PARTS_ARCHIVE_ARCHIVE_WRITE_H
#include "base/list.h"
#include "journal/journal_image.h"

#define ARCHIVE_NAME_MAX (20 + 1 + JOURNAL_NAME_MAX + 1) /* NUMBER-NAME */

enum archive_kind {
    ARCHIVE_WRITE, /* the whole image, into a file `name` that does not count as finished */
    ARCHIVE_NOTE,  /* when its end was read, in the finished file `name` */
    ARCHIVE_DELETE /* `name` */
};
struct archive_job {
    struct list link;
    enum archive_kind kind;
    void *owner; /* the queue that it comes from */
    int dir;     /* borrowed: the directory of the archive */
    char name[ARCHIVE_NAME_MAX + 1];
    uint64_t number;
    int error; /* the result: 0 or -errno; -EAGAIN: the journal has changed meanwhile, try again */
    struct journal_image image; /* WRITE, NOTE: owned */
};
void archive_job_run(void *job); /* in a thread; job: a struct archive_job, whose error it sets */
#endif
