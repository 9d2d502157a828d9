/* journal_image: a journal as a file on disk, so that an ended session outlives its daemon: the
 * same bytes at the same places as in the memfd. What was typed (input queue, input log) and a
 * staged secret are not in it. The file is as long as the memfd and has holes where nothing was
 * written. */
#ifndef MUXD_JOURNAL_JOURNAL_IMAGE_H
#define MUXD_JOURNAL_JOURNAL_IMAGE_H
#include "journal/journal.h"

/* What a thread needs to write the image, whatever happens to the journal meanwhile. */
struct journal_image {
    int fd;           /* owned: a duplicate of the memfd; -1: none */
    char *head;       /* owned: header, strings and early area as they were */
    size_t head_size; /* bytes */
};
#define JOURNAL_IMAGE_NONE {.fd = -1}

/* The image of a session whose program has ended, as it is now. 0, or -errno of fcntl(2) and
 * nothing is owned. */
int journal_image_take(struct journal_image *image, const struct journal *journal);
/* frees and closes what it owns; twice is fine */
void journal_image_drop(struct journal_image *image);
static inline const struct journal_header *journal_image_header(const struct journal_image *image)
{
    return (const struct journal_header *)(const void *)image->head;
}

/* Writes it to an empty file, in any thread. 0 or -errno; -EAGAIN: a program that is left behind
 * has overwritten output meanwhile, so take another image. */
int journal_image_write(const struct journal_image *image, int to);
/* Writes to a whole image what changes of an ended session: when its end was read, and by whom up
 * to where. 0 or -errno. */
int journal_image_note(const struct journal_header *header, int to);

/* A journal whose header and strings are those of the file `from`; its output stays there until
 * journal_image_fetch. The file is as untrusted as a predecessor's memfd: see journal_adopt for the
 * checks, the mending and the errors. `from` stays the caller's. */
int journal_image_adopt(struct journal **out, int from, struct err *err);
/* Fills in the output from that file. 0; -ESTALE: it is the image of something else than the
 * journal; -errno. */
int journal_image_fetch(struct journal *journal, int from);
void journal_lose(struct journal *journal); /* the output is gone: readers are told */
#endif
