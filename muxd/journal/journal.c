/* journal: owns the making and freeing of journals, and the texts in them. journal_adopt.c takes
 * over a predecessor's. */
#include "journal/journal.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "journal/inputlog.h"
#include "journal/journal_map.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* A successor may be another build. A new field comes out of `reserved` with a new JOURNAL_MINOR;
 * any change that moves a field needs a new JOURNAL_MAJOR. */
static_assert(sizeof(struct journal_header) == 2304, "the header of version 1 is fixed");
static_assert(offsetof(struct journal_header, requests_head) == 1208,
              "the fields of version 1 are fixed");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a lock would die with the worker that holds it");

#define CUT_MARK "..."
#define FACTS_MAX (16 * 1024)
#define CWD_MAX (8 * 1024) /* longer than any path that the kernel takes */

int journal_memfd(uint64_t size)
{
    int fd = memfd_create("muxd-journal", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
        fd = memfd_create("muxd-journal", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && (ftruncate(fd, (off_t)size) != 0 ||
                    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0))
        fd_close(&fd);
    return fd;
}

/* Appends text and its NUL; cuts a text over max bytes and ends it with the mark. */
static void add_string(struct buf *strings, const char *text, size_t max)
{
    size_t size = strlen(text);
    bool cut = size > max;
    buf_append(strings, text, cut ? utf8_cut(text, size, max - strlen(CUT_MARK)) : size);
    if (cut)
        buf_append_text(strings, CUT_MARK);
    buf_append_byte(strings, '\0');
}

static void make_strings(struct buf *strings, const struct journal_make *make)
{
    const char *declared = make->declared ? make->declared : "";
    struct buf rest = BUF_INIT;
    add_string(&rest, make->cwd ? make->cwd : "", CWD_MAX);
    add_string(&rest, declared, JOURNAL_NAME_MAX);
    if (make->facts)
        add_string(&rest, make->facts, FACTS_MAX);
    add_string(strings, make->cmd ? make->cmd : "", JOURNAL_STRINGS_MAX - 1 - rest.len);
    buf_append(strings, rest.data, rest.len);
    buf_fini(&rest);
}

static void set_sizes(struct journal_header *sizes, const struct journal_make *make,
                      size_t strings_size)
{
    uint64_t page = journal_page_size();
    sizes->strings_size = strings_size;
    sizes->ring_size = journal_round(make->ring_bytes);
    if (sizes->ring_size < 2 * page)
        sizes->ring_size = 2 * page;
    sizes->head_size = journal_round(make->head_bytes);
    sizes->kept_size = journal_round(make->kept_bytes);
    sizes->input_size = journal_round(make->kept_bytes ? journal_kept_region(sizes->kept_size)
                                                       : make->input_bytes);
    /* A PTY joins both streams and needs no index. Lines of 128 bytes that alternate between the
     * streams fill index and ring at the same time. */
    sizes->index_size = make->tty ? 0 : journal_round(sizes->ring_size / 16);
    sizes->log_size = journal_round(make->log_bytes);
}

static void fill_header(struct journal_header *header, const struct journal_make *make,
                        const struct journal_header *sizes, const struct journal_layout *layout)
{
    header->major = JOURNAL_MAJOR;
    header->minor = JOURNAL_MINOR;
    header->header_size = sizeof *header;
    header->ring_size = sizes->ring_size;
    header->head_size = sizes->head_size;
    header->input_size = sizes->input_size;
    header->index_size = sizes->index_size;
    header->log_size = sizes->log_size;
    header->kept_size = sizes->kept_size;
    header->early = layout->early_size >= JOURNAL_EARLY_MIN;
    header->strings_size = sizes->strings_size;
    header->ring_at = layout->ring_at;
    header->head_at = layout->head_at;
    header->input_at = layout->input_at;
    header->index_at = layout->index_at;
    header->log_at = layout->log_at;
    header->strings_at = layout->strings_at;
    header->total_size = layout->total_size;
    header->number = make->number;
    memcpy(header->name, make->name, strlen(make->name));
    header->tty = make->tty;
    header->stdin_open = make->stdin_open;
    header->declared = make->declared != NULL;
    header->rows = make->rows;
    header->cols = make->cols;
    header->created_real_ms = clock_real_ms();
    header->created_boot_ms = clock_boot_ms();
    header->last_used_real_ms = header->created_real_ms;
    header->state = SESSION_STARTING;
    header->exit_code = -1;
    header->term_signal = -1;
    /* last: a half-made journal has no magic, so it is never adopted */
    __atomic_store_n(&header->magic, JOURNAL_MAGIC, __ATOMIC_RELEASE);
}

static int journal_fail(struct journal *journal, struct err *err, const char *what, int error)
{
    journal_free(journal);
    return limit_err(err, ERR_SYSTEM, LIMIT_SESSION, error, "can't make a journal: '%s'", what);
}

int journal_new(struct journal **out, const struct journal_make *make, struct err *err)
{
    BUG_UNLESS(make->number > 0 && make->name && *make->name &&
               strlen(make->name) <= JOURNAL_NAME_MAX);
    BUG_UNLESS(make->ring_bytes <= JOURNAL_REGION_MAX && make->head_bytes <= JOURNAL_REGION_MAX);
    BUG_UNLESS(make->input_bytes <= JOURNAL_REGION_MAX && make->log_bytes <= JOURNAL_LOG_MAX);
    BUG_UNLESS(make->kept_bytes <= JOURNAL_KEPT_MAX);
    BUG_UNLESS(make->kept_bytes == 0 ||
               (!make->tty && !make->stdin_open && make->input_bytes == 0));
    struct buf strings = BUF_INIT;
    make_strings(&strings, make);
    struct journal_header sizes = {0};
    set_sizes(&sizes, make, strings.len);
    struct journal_layout layout = journal_lay_out(&sizes);

    struct journal *journal = xcalloc(1, sizeof *journal);
    journal->fd = journal_memfd(layout.total_size);
    const char *what = journal->fd < 0 ? "memfd" : "mmap";
    int rc = journal->fd < 0 ? -errno
                             : journal_map(journal, &layout, sizes.ring_size,
                                           layout.early_size >= JOURNAL_EARLY_MIN);
    if (!rc) {
        memcpy(journal->strings, strings.data, strings.len);
        fill_header(journal->header, make, &sizes, &layout);
        *out = journal;
    }
    buf_fini(&strings);
    return rc ? journal_fail(journal, err, what, -rc) : 0;
}

void journal_free(struct journal *journal)
{
    if (!journal)
        return;
    journal_unmap(journal);
    fd_close(&journal->fd);
    free(journal);
}

void journal_close_fd(struct journal *journal)
{
    BUG_UNLESS(journal);
    fd_close(&journal->fd);
}

const char *journal_cmd(const struct journal *journal)
{
    return journal->strings;
}

const char *journal_cwd(const struct journal *journal)
{
    return journal->strings + strlen(journal->strings) + 1;
}

const char *journal_declared(const struct journal *journal)
{
    const char *cwd = journal_cwd(journal);
    return journal->header->declared ? cwd + strlen(cwd) + 1 : NULL;
}

const char *journal_facts(const struct journal *journal)
{
    const char *declared = journal_cwd(journal) + strlen(journal_cwd(journal)) + 1,
               *facts = declared + strlen(declared) + 1;
    return facts < journal->strings + journal->header->strings_size && *facts ? facts : NULL;
}

static uint64_t touched(uint64_t written, uint64_t size)
{
    return written < size ? journal_round(written) : size;
}

size_t journal_memory(const struct journal *journal)
{
    const struct journal_header *header = journal->header;
    uint64_t queued = header->in_head - header->in_tail;
    return sizeof *journal + header->ring_at +
           (journal->early ? 0 : touched(header->out_head, header->ring_size)) +
           touched(header->saved_len, header->head_size) +
           touched(header->kept_size ? header->kept[0] + header->kept[1] : queued,
                   header->input_size) +
           touched(header->index_head * sizeof(uint64_t), header->index_size) +
           touched(journal->log ? (inputlog_last(journal) + 1) * sizeof(struct input_event) : 0,
                   header->log_size);
}
