/* journal_adopt: owns the taking over of a predecessor's journal. A field that decides where memory
 * is read or written must be exactly right, or the journal is refused; a field that only describes
 * is put right. */
#include "base/clock.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "base/value.h"
#include "journal/inputlog.h"
#include "journal/journal.h"
#include "journal/journal_map.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIMIT_MAX (INT64_MAX / 1000000) /* as milliseconds, it is still a time in nanoseconds */

static int journal_adopt_refuse(struct err *err, const char *reason)
{
    return err_set(err, ERR_SYSTEM, "'journal' can't be taken over: %s; its session is lost",
                   reason);
}

/* Without these seals another process with the memfd could take pages from under the mapping. */
static int check_seals(int fd, struct err *err)
{
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0)
        return journal_adopt_refuse(err, "it is no memfd");
    if ((seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW))
        return journal_adopt_refuse(err, "its size is not sealed");
    if (seals & (F_SEAL_WRITE | 0x0010 /* F_SEAL_FUTURE_WRITE, linux/fcntl.h */))
        return journal_adopt_refuse(err, "it is sealed against writing");
    return 0;
}

static bool region_ok(uint64_t size)
{
    return size % journal_page_size() == 0 && size <= JOURNAL_REGION_MAX;
}

/* The offsets follow from the sizes, so each has one right value. */
static int check_layout(const struct journal_header *header, uint64_t file_size, struct err *err)
{
    if (header->magic != JOURNAL_MAGIC)
        return journal_adopt_refuse(err, "it doesn't begin as one");
    if (header->major != JOURNAL_MAJOR)
        return journal_adopt_refuse(err, "its version is not known to this muxd");
    if (header->header_size != sizeof *header)
        return journal_adopt_refuse(err, "its header has a wrong size");
    if (!region_ok(header->ring_size) || !region_ok(header->head_size) ||
        !region_ok(header->input_size) || !region_ok(header->index_size) ||
        header->ring_size < 2 * journal_page_size() || header->strings_size < 3 ||
        !region_ok(header->log_size) || header->log_size > JOURNAL_LOG_MAX ||
        header->strings_size > JOURNAL_STRINGS_MAX)
        return journal_adopt_refuse(err, "a region has a wrong size");
    if (header->kept_size &&
        (header->kept_size > JOURNAL_KEPT_MAX || !region_ok(header->kept_size) ||
         header->input_size != journal_round(journal_kept_region(header->kept_size))))
        return journal_adopt_refuse(err, "the ends of its streams can't be where it says");
    struct journal_layout layout = journal_lay_out(header);
    if (header->strings_at != layout.strings_at || header->ring_at != layout.ring_at ||
        header->head_at != layout.head_at || header->input_at != layout.input_at ||
        header->index_at != layout.index_at || header->log_at != layout.log_at ||
        header->total_size != layout.total_size)
        return journal_adopt_refuse(err, "a region is in a wrong place");
    if (file_size != layout.total_size)
        return journal_adopt_refuse(err, "the file is not as long as it says");
    if (header->number == 0 || header->number > INT64_MAX)
        return journal_adopt_refuse(err, "it has no session number");
    if (header->out_head > JOURNAL_OFFSET_MAX || header->out_tail > header->out_head)
        return journal_adopt_refuse(err, "its output counters are broken");
    return 0;
}

/* The early area never holds more bytes than it has room for, and none when it is too small to be
 * used. */
static int check_early(const struct journal_header *header, const struct journal_layout *layout,
                       struct err *err)
{
    if (header->early &&
        (layout->early_size < JOURNAL_EARLY_MIN || header->out_head > layout->early_size))
        return journal_adopt_refuse(err, "its output can't be where it says");
    return 0;
}

static void mend_texts(struct journal *journal)
{
    struct journal_header *header = journal->header;
    if (!memchr(header->name, '\0', sizeof header->name) || !value_session_name(header->name)) {
        memset(header->name, 0, sizeof header->name);
        snprintf(header->name, sizeof header->name, "salvaged-%llu",
                 (unsigned long long)header->number);
    }
    size_t nuls = 0;
    for (uint64_t i = 0; i < header->strings_size; i++)
        nuls += journal->strings[i] == '\0';
    if (nuls < 3 || nuls > 4 || journal->strings[header->strings_size - 1] != '\0')
        memset(journal->strings, 0, header->strings_size);
}

static void mend_facts(struct journal_header *header)
{
    int64_t now = clock_real_ms();
    header->tty = header->tty != 0;
    header->stdin_open = header->stdin_open != 0;
    header->on_slow = header->on_slow == 1;
    uint8_t *const truths[] = {&header->declared,     &header->recorded,    &header->staged,
                               &header->wants_scheme, &header->size_held,   &header->told_begin,
                               &header->told_end,     &header->input_logged};
    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++)
        *truths[i] = *truths[i] != 0;
    header->rows = header->rows < 0 || header->rows > UINT16_MAX ? 0 : header->rows;
    header->cols = header->cols < 0 || header->cols > UINT16_MAX ? 0 : header->cols;
    if (header->pid < 0)
        header->pid = 0;
    /* the keeper tells which programs run; without a pid there is none to ask about */
    if (header->state > SESSION_LOST)
        header->state = header->pid > 0 ? SESSION_RUNNING : SESSION_LOST;
    if (header->exit_code < -1 || header->exit_code > 255)
        header->exit_code = -1;
    if (header->term_signal < -1 || header->term_signal >= NSIG)
        header->term_signal = -1;
    if (header->killed_by >= KILLER_LIMIT + SESSION_LIMIT_COUNT)
        header->killed_by = 0;
    if (header->kill_signal < 0 || header->kill_signal >= NSIG)
        header->kill_signal = 0;
    for (size_t i = 0; i < SESSION_LIMIT_COUNT; i++)
        if (header->limits[i] < 0 || header->limits[i] > LIMIT_MAX)
            header->limits[i] = 0;
    if (header->created_real_ms < 0)
        header->created_real_ms = now;
    if (header->created_boot_ms < 0 || header->created_boot_ms > clock_boot_ms())
        header->created_boot_ms = clock_boot_ms();
    if (header->last_used_real_ms < 0)
        header->last_used_real_ms = now;
    if (header->ended_real_ms < 0)
        header->ended_real_ms = now;
    if (header->end_read_real_ms < 0)
        header->end_read_real_ms = now;
    if (header->end_read_boot_ms > clock_boot_ms())
        header->end_read_boot_ms = 0;
    header->drained = header->drained != 0;
}

static void mend_readers(struct journal_header *header)
{
    header->readers[0].name[0] = '\0';
    for (size_t i = 0; i < JOURNAL_READERS; i++) {
        struct journal_reader *reader = &header->readers[i];
        if (!memchr(reader->name, '\0', sizeof reader->name))
            memset(reader->name, 0, sizeof reader->name);
        if (reader->cursor > header->out_head)
            reader->cursor = header->out_head;
        if (reader->used > header->uses)
            reader->used = header->uses;
    }
    for (size_t i = 0; i < JOURNAL_REQUESTS; i++) /* noted, but its input never came in: not done */
        if (header->requests[i].input_end > header->in_head)
            header->requests[i].id_hash = 0;
}

/* A worker of an older release lets the ring go without keeping the ends of the streams. */
static void mend_kept(struct journal_header *header)
{
    uint64_t out = header->kept[0], err = header->kept[1];
    if (out > header->out_head || err > header->out_head - out || out + err < header->out_tail ||
        header->tty || header->stdin_open || header->in_head > 0)
        journal_kept_forget(header);
}

static void mend_counters(struct journal *journal)
{
    struct journal_header *header = journal->header;
    if (header->out_head - header->out_tail > header->ring_size)
        header->out_tail = header->out_head - header->ring_size;
    mend_kept(header);
    /* Between the two stores of a trim the length is too large by what was trimmed; the bytes
     * beyond the tail are in the ring anyway. */
    uint64_t from = header->saved_from,
             room = from < header->out_tail ? header->out_tail - from : 0;
    if (room > header->head_size)
        room = header->saved_len > header->head_size ? 0 : header->saved_len;
    if (header->saved_len > room)
        header->saved_len = room;
    if (header->saved_len == 0)
        header->saved_from = 0;
    if (header->answered_to > header->out_head)
        header->answered_to = header->out_head;
    if (header->in_head > JOURNAL_OFFSET_MAX)
        header->in_head = JOURNAL_OFFSET_MAX;
    /* Input whose place is not certain is never typed. */
    if (header->in_tail > header->in_head || header->in_head - header->in_tail > header->input_size)
        header->in_tail = header->in_head;
    if (header->index_head > JOURNAL_OFFSET_MAX)
        header->index_head = 0;
    mend_readers(header);
    /* the predecessor may have died before it gave these pages back */
    if (header->in_head > 0 && header->in_head == header->in_tail && header->input_size)
        journal_punch(journal, header->input_at, header->input_size);
}

int journal_why_not(int fd)
{
    struct journal_header header;
    /* what is no journal is none for any release */
    if (fd_pread_all(fd, &header, sizeof header, 0) != sizeof header ||
        header.magic != JOURNAL_MAGIC)
        return 0;
    return header.major == JOURNAL_MAJOR && header.header_size == sizeof header ? 0
                                                                                : EPROTONOSUPPORT;
}

int journal_adopt(struct journal **out, int fd, struct err *err)
{
    struct journal_header header;
    struct stat st;
    int rc = check_seals(fd, err);
    if (rc)
        return rc;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        fd_pread_all(fd, &header, sizeof header, 0) != sizeof header)
        return journal_adopt_refuse(err, "it is too short");
    rc = check_layout(&header, (uint64_t)st.st_size, err);
    if (rc)
        return rc;
    struct journal_layout layout = journal_lay_out(&header);
    rc = check_early(&header, &layout, err);
    if (rc)
        return rc;
    struct journal *journal = xcalloc(1, sizeof *journal);
    journal->fd = fd;
    rc = journal_map(journal, &layout, header.ring_size, header.early);
    if (rc) {
        free(journal);
        return err_set(err, ERR_LIMIT,
                       "the journal can't be mapped: %s; raise vm.max_map_count, or end something",
                       strerror(-rc));
    }
    mend_texts(journal);
    mend_facts(journal->header);
    mend_counters(journal);
    inputlog_mend(journal);
    *out = journal;
    return 0;
}
