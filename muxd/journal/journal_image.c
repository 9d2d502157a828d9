/* journal_image: owns the file form of a journal: which parts are copied, and the checks of a file
 * before journal_adopt's. */
#include "journal/journal_image.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/mem.h"
#include "journal/journal_map.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES (32 * 1024) /* on the stack of a thread */

/* Another life of the daemon has no use for the process number, input and requests. */
static void forget_what_lives(struct journal_header *header)
{
    header->pid = 0;
    header->pid_start_ticks = header->request_hash = 0;
    header->in_tail = atomic_load(&header->in_head);
    memset(header->requests, 0, sizeof header->requests);
    header->staged = 0;
    journal_set_follower(header, 0);
    header->drained = 1;
}

int journal_image_take(struct journal_image *image, const struct journal *journal)
{
    *image = (struct journal_image)JOURNAL_IMAGE_NONE;
    image->fd = fcntl(journal->fd, F_DUPFD_CLOEXEC, 3);
    if (image->fd < 0)
        return -errno;
    image->head_size = journal->header->ring_at;
    image->head = xmalloc(image->head_size);
    memcpy(image->head, journal->header, image->head_size);
    forget_what_lives((struct journal_header *)(void *)image->head);
    return 0;
}

void journal_image_drop(struct journal_image *image)
{
    fd_close(&image->fd);
    free(image->head);
    image->head = NULL;
}

static int copy_piece(int from, int to, uint64_t at, uint64_t size)
{
    char piece[PIECE_BYTES];
    while (size > 0) {
        ssize_t n = fd_pread_all(from, piece, size < sizeof piece ? (size_t)size : sizeof piece,
                                 (off_t)at);
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        errno = ENOSPC; /* a short write means this on a disk */
        if (fd_pwrite_all(to, piece, (size_t)n, (off_t)at) != n)
            return -errno;
        at += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return 0;
}

/* Copies only what was ever written: holes stay holes (lseek(2), SEEK_DATA). */
static int copy_region(int from, int to, uint64_t at, uint64_t size)
{
    uint64_t end = at + size;
    while (at < end) {
        off_t data = lseek(from, (off_t)at, SEEK_DATA);
        if (data < 0 && errno == ENXIO)
            return 0; /* a hole up to the end of the file */
        off_t hole = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);
        if (hole < 0)
            return -errno;
        if ((uint64_t)data >= end)
            return 0;
        uint64_t stop = (uint64_t)hole < end ? (uint64_t)hole : end;
        int error = copy_piece(from, to, (uint64_t)data, stop - (uint64_t)data);
        if (error)
            return error;
        at = stop;
    }
    return 0;
}

static int copy_output(const struct journal_header *header, int from, int to)
{
    int error = copy_region(from, to, header->ring_at, header->ring_size);
    if (!error)
        error = copy_region(from, to, header->head_at, header->head_size);
    if (!error && header->kept_size)
        error = copy_region(from, to, header->input_at, header->input_size);
    return error ? error : copy_region(from, to, header->index_at, header->index_size);
}

/* Programs that the session left behind may still write: then the ring's oldest bytes go, and
 * out_tail moves before they do. */
static int check_unmoved(const struct journal_image *image)
{
    uint64_t tail, was = atomic_load(&journal_image_header(image)->out_tail);
    off_t at = offsetof(struct journal_header, out_tail);
    if (fd_pread_all(image->fd, &tail, sizeof tail, at) != (ssize_t)sizeof tail)
        return -EIO;
    return tail == was ? 0 : -EAGAIN;
}

int journal_image_write(const struct journal_image *image, int to)
{
    const struct journal_header *header = journal_image_header(image);
    BUG_UNLESS(image->fd >= 0 && header && image->head_size == header->ring_at);
    if (ftruncate(to, (off_t)header->total_size) != 0)
        return -errno;
    int error = copy_output(header, image->fd, to);
    if (!error)
        error = check_unmoved(image);
    errno = ENOSPC;
    if (!error && fd_pwrite_all(to, image->head, image->head_size, 0) != (ssize_t)image->head_size)
        error = -errno;
    return error;
}

static int write_fields(const struct journal_header *header, int to, size_t from, size_t end)
{
    errno = ENOSPC;
    return fd_pwrite_all(to, (const char *)header + from, end - from, (off_t)from) ==
                   (ssize_t)(end - from)
               ? 0
               : -errno;
}

int journal_image_note(const struct journal_header *header, int to)
{
    int error = write_fields(header, to, offsetof(struct journal_header, uses),
                             offsetof(struct journal_header, requests_head));
    return error ? error
                 : write_fields(header, to, offsetof(struct journal_header, end_read_real_ms),
                                offsetof(struct journal_header, request_hash));
}

/* Reads the beginning of the file; journal_adopt checks the rest of what is in it. */
static char *journal_image_read_head(int from, struct journal_header *header, struct err *err)
{
    struct stat st;
    bool sound = fstat(from, &st) == 0 &&
                 fd_pread_all(from, header, sizeof *header, 0) == sizeof *header &&
                 header->magic == JOURNAL_MAGIC && header->total_size == (uint64_t)st.st_size &&
                 header->ring_at >= sizeof *header &&
                 header->ring_at <= journal_round(sizeof *header + JOURNAL_STRINGS_MAX) &&
                 header->ring_at <= header->total_size;
    char *head = sound ? xmalloc((size_t)header->ring_at) : NULL;
    if (head && fd_pread_all(from, head, (size_t)header->ring_at, 0) != (ssize_t)header->ring_at) {
        free(head);
        head = NULL;
    }
    if (!head)
        err_set(err, ERR_SYSTEM, "it is not the whole image of a session");
    return head;
}

int journal_image_adopt(struct journal **out, int from, struct err *err)
{
    struct journal_header header;
    char *head = journal_image_read_head(from, &header, err);
    if (!head)
        return err->code;
    int fd = journal_memfd(header.total_size), rc = 0;
    if (fd < 0 || fd_pwrite_all(fd, head, (size_t)header.ring_at, 0) != (ssize_t)header.ring_at)
        rc = limit_err(err, ERR_LIMIT, LIMIT_SESSION, errno, "no memory for an ended session");
    free(head);
    rc = rc ? rc : journal_adopt(out, fd, err);
    if (rc)
        fd_close(&fd);
    return rc;
}

/* The file may have been replaced since it was adopted. */
static bool is_image_of(const struct journal_header *header, const struct journal_header *file)
{
    return file->magic == JOURNAL_MAGIC && file->number == header->number &&
           file->total_size == header->total_size && file->ring_at == header->ring_at &&
           file->out_head == header->out_head;
}

int journal_image_fetch(struct journal *journal, int from)
{
    struct journal_header file;
    struct stat st;
    if (fstat(from, &st) != 0)
        return -errno;
    if (fd_pread_all(from, &file, sizeof file, 0) != sizeof file ||
        !is_image_of(journal->header, &file) || (uint64_t)st.st_size != journal->header->total_size)
        return -ESTALE;
    return copy_output(journal->header, from, journal->fd);
}

void journal_lose(struct journal *journal)
{
    atomic_store(&journal->header->saved_len, 0);
    atomic_store(&journal->header->out_tail, journal_head(journal));
    journal_kept_forget(journal->header);
}
