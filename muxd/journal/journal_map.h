/* journal_map: how the memfd of a journal is laid out and mapped; for the journal_*.c files only.
 * Header, strings and ring are one mapping, and the ring's second copy follows it: two mappings for
 * a session. The other regions are mapped when first used. */
#ifndef MUXD_JOURNAL_JOURNAL_MAP_H
#define MUXD_JOURNAL_JOURNAL_MAP_H
#include "journal/journal.h"

#define JOURNAL_STRINGS_MAX (64 * 1024 + 3)        /* three or four NUL-terminated texts */
#define JOURNAL_REGION_MAX (UINT64_C(1) << 40)     /* of one region; sums can't overflow */
#define JOURNAL_LOG_MAX (UINT64_C(1) << 24)
#define JOURNAL_KEPT_MAX (UINT64_C(1) << 30)
/* a smaller early area is not worth the copying later */
#define JOURNAL_EARLY_MIN 256
/* no program writes that much: a larger counter is broken */
#define JOURNAL_OFFSET_MAX (UINT64_C(1) << 62)
/* in an index entry: the run from that offset on came from stderr */
#define JOURNAL_STDERR_BIT (UINT64_C(1) << 63)

struct journal_layout {
    uint64_t strings_at, early_at, early_size, ring_at, head_at, input_at, index_at, log_at,
        total_size;
};

/* A memfd sealed against another size, all zeros. The caller's, or -1 with errno. */
int journal_memfd(uint64_t size);
uint64_t journal_page_size(void);
uint64_t journal_round(uint64_t size); /* up to whole pages */
/* Where each region is, from the sizes in the header. The makers and the checkers of journals share
 * it. */
struct journal_layout journal_lay_out(const struct journal_header *header);
/* Maps header and strings once and the ring twice; early: the output begins in the early area. 0 or
 * -errno. journal->fd must be set, and the sizes checked. */
int journal_map(struct journal *journal, const struct journal_layout *layout, uint64_t ring_size,
                bool early);
void journal_unmap(struct journal *journal);
/* moves the output to the ring; does nothing when it is there already */
void journal_leave_early(struct journal *journal);

/* Mapped on first use. NULL: there is no such region, or no memory for a mapping (logged once a
 * process). */
char *journal_head_area(const struct journal *journal);
char *journal_input_area(const struct journal *journal);
_Atomic uint64_t *journal_index(const struct journal *journal);
void *journal_log_area(const struct journal *journal, size_t *size);
char *journal_kept_areas(const struct journal *journal);
/* Gives a region's pages back to the system; they read as zeros afterwards. */
void journal_punch(const struct journal *journal, uint64_t at, uint64_t size);
/* Notes in the index that the bytes from `at` on come from that stream. Call it before out_head
 * moves. */
void journal_index_note(struct journal *journal, uint64_t at, bool is_stderr);
/* Keeps both ends of the streams in the output before `to`, which the ring or the index is about to
 * lose. Call it before they do. Nothing to do for journals without such a region. */
void journal_keep_streams(struct journal *journal, uint64_t to);
uint64_t journal_kept_region(uint64_t kept_size); /* bytes of the region; 0 for 0 */
void journal_kept_forget(struct journal_header *header); /* the journal has no such region */
#endif
