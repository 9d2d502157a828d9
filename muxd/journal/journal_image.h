/* journal_image: a journal as a file on disk, so that an ended session outlives its daemon: the
 * same bytes at the same places as in the memfd, and as long, with holes where nothing was written.
 * It leaves out what was typed (input queue, input log) and a staged secret. */
#ifndef MUXD_JOURNAL_JOURNAL_IMAGE_H
#define MUXD_JOURNAL_JOURNAL_IMAGE_H
#include "journal/journal.h"

/* What a thread needs to write the image while the journal may change. */
struct journal_image {
    int fd;           /* owned: a duplicate of the memfd; -1: none */
    char *head;       /* owned: header, strings and early area at the time of journal_image_take */
    size_t head_size; /* bytes */
};
#define JOURNAL_IMAGE_NONE {.fd = -1}

/* Takes the image of a session whose program has ended. 0, or -errno of fcntl(2), and *image owns
 * nothing. */
int journal_image_take(struct journal_image *image, const struct journal *journal);
/* frees and closes what it owns; a second call does nothing */
void journal_image_drop(struct journal_image *image);
static inline const struct journal_header *journal_image_header(const struct journal_image *image)
{
    return (const struct journal_header *)(const void *)image->head;
}

/* Writes it to an empty file, in any thread. 0 or -errno; -EAGAIN: a program that the session left
 * behind has overwritten output meanwhile: take another image. */
int journal_image_write(const struct journal_image *image, int to);
/* Writes to a complete image what changes after a session's end: when its end was read, and the
 * readers' cursors. 0 or -errno. */
int journal_image_note(const struct journal_header *header, int to);

/* A journal with the header and strings of the file `from`; its output stays in the file until
 * journal_image_fetch. The file is as untrusted as a predecessor's memfd: journal_adopt checks and
 * repairs it, and gives the errors. `from` stays the caller's. */
int journal_image_adopt(struct journal **out, int from, struct err *err);
/* Copies the output from that file. 0; -ESTALE: it is not the image of this journal; else
 * -errno. */
int journal_image_fetch(struct journal *journal, int from);
void journal_lose(struct journal *journal); /* marks the output as gone, which readers are told */
#endif
