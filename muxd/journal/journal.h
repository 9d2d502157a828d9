/* journal: all of a session that must survive the worker: a memfd, sealed SHRINK, GROW and SEAL,
 * with a fixed versioned header, the ring of output bytes under absolute 64-bit offsets, the head
 * area (the beginning of what the default reader has not read, saved when the ring overwrites it),
 * the input queue, for pipe sessions the index of which bytes came from stderr, and the input log
 * (inputlog.h). Pages that were never written cost nothing, and the first bytes of output lie in
 * what the header and its strings leave of their last page (the early area) until they are too many
 * for it.
 *
 * A worker may be killed between any two instructions: every field that a successor relies on is
 * written in an order that makes each intermediate state true (see transfer.h for bytes on their
 * way in and out). */
#ifndef MUXD_JOURNAL_JOURNAL_H
#define MUXD_JOURNAL_JOURNAL_H
#include "base/buf.h"
#include "base/err.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define JOURNAL_MAGIC 0x6478756dU /* "muxd" */
/* A worker takes over journals of its own major version. A higher minor version means more fields:
 * they come out of `reserved`, zero means that nobody has set them, and whoever does not know them
 * leaves them alone. */
#define JOURNAL_MAJOR 1
#ifndef JOURNAL_MINOR
#define JOURNAL_MINOR 0
#endif
#define JOURNAL_READERS 16
#define JOURNAL_REQUESTS 64
#define JOURNAL_NAME_MAX 64
#define JOURNAL_READER_NAME_MAX 31

enum session_state {
    SESSION_STARTING,
    SESSION_RUNNING,
    SESSION_EXITED,
    SESSION_SIGNALED,
    SESSION_KILLED,
    SESSION_LOST
};
enum session_limit {
    SESSION_MEMORY,
    SESSION_PROCESSES,
    SESSION_CPU_TIME,
    SESSION_OPEN_FILES,
    SESSION_LIFETIME,
    SESSION_IDLE,
    SESSION_LIMIT_COUNT
};
enum session_killer {
    KILLER_NONE,
    KILLER_REQUEST,
    KILLER_STOP,
    KILLER_LIMIT /* + enum session_limit */
};

struct journal_reader {
    /* "" : free slot; slot 0 is the default reader, always in use */
    char name[JOURNAL_READER_NAME_MAX + 1];
    _Atomic uint64_t cursor;                /* next byte this reader has not been given */
    /* when it was last used, in uses of this journal: the least recent goes first */
    uint64_t used;
};

/* a write that was done: where its input ended */
struct journal_request { uint64_t id_hash; uint64_t input_end; };

/* Lives at offset 0 of the memfd; one page with the strings behind it. Fixed sizes, native byte
 * order. */
struct journal_header {
    uint32_t magic;
    uint16_t major, minor;
    uint64_t header_size;
    /* Bytes of each region, multiples of the page size, 0: none; and where it is. */
    uint64_t ring_size, head_size, input_size, index_size, log_size;
    uint64_t ring_at, head_at, input_at, index_at, log_at, strings_at, strings_size, total_size;
    /* who and what */
    uint64_t number;
    char name[JOURNAL_NAME_MAX + 1];
    uint8_t tty, stdin_open, on_slow;
    uint8_t described;        /* named in the config: the [session] is among the strings */
    uint8_t recorded;         /* to be recorded from its beginning */
    uint8_t staged;           /* a secret is staged, see secret_page.h */
    /* the program is told when its terminal becomes dark or light (?2031) */
    uint8_t wants_scheme;
    uint8_t size_policy;      /* whose terminal decides its size: enum + 1; 0: the config says */
    /* its size was set by a request; what people type doesn't change it */
    uint8_t size_held;
    uint8_t told_begin;       /* its begin stands among the events, */
    uint8_t told_end;         /* and its end */
    uint8_t input_logged;     /* its input log has been written to: the pages are in memory */
    /* the output so far lies in the early area, and in the ring is nothing */
    _Atomic uint8_t early;
    int32_t rows, cols;
    int64_t created_real_ms, created_boot_ms;
    _Atomic int64_t ended_real_ms, end_read_real_ms; /* 0: not yet */
    _Atomic int64_t last_used_real_ms;
    uint64_t request_hash;                           /* of the exec that made it; 0: none */
    /* the program */
    _Atomic int32_t pid;
    uint64_t pid_start_ticks;
    _Atomic uint32_t state;                          /* enum session_state */
    _Atomic int32_t exit_code, term_signal;          /* -1: unknown or none */
    _Atomic uint32_t killed_by;                      /* enum session_killer */
    /* the last signal muxd sent to end it, 0 none */
    _Atomic int32_t kill_signal;
    int64_t limits[SESSION_LIMIT_COUNT];             /* in force, see session.h; 0: none */
    /* queries of the output up to here have their answer (parts/view/queries.h) */
    _Atomic uint64_t answered_to;
    _Atomic uint64_t modes;                          /* of the terminal there, see term/modes.h */
    /* bytes */
    _Atomic uint64_t out_head;                       /* bytes ever written by the program */
    _Atomic uint64_t out_tail;                       /* oldest byte still in the ring */
    /* the head area holds [saved_from, saved_from + saved_len) */
    _Atomic uint64_t saved_from, saved_len;
    /* input accepted, input typed (given to the kernel) */
    _Atomic uint64_t in_head, in_tail;
    _Atomic uint64_t index_head;                     /* entries ever written to the side index */
    _Atomic uint32_t drained;                        /* output read to its end */
    uint64_t uses;
    struct journal_reader readers[JOURNAL_READERS];
    _Atomic uint64_t requests_head;
    struct journal_request requests[JOURNAL_REQUESTS];
    uint64_t reserved[8]; /* of later minor versions; zero */
};

/* Output that is not in the journal yet, but in a file: fetched when somebody wants to see it. */
struct journal_source {
    bool pending;
    /* fills the ring and the head area, or says that the bytes are gone */
    void (*fetch)(struct journal_source *source);
};

struct journal {
    int fd;                        /* the memfd, owned */
    struct journal_header *header; /* shared mapping */
    /* ring_size bytes mapped twice in a row; while it is early, the early area */
    char *ring;
    uint32_t early;                /* bytes that has room for; 0: the ring is used, for ever */
    /* mapped when first needed; input is mapped twice in a row too. Use the functions */
    char *head_area, *input;
    void *index, *log;
    char *strings;
    struct journal_source *source; /* borrowed; NULL: everything is here */
    /* the page of the input queue that this offset is in may be in memory while the queue is
     * empty */
    uint64_t input_kept;
};

struct journal_make {
    uint64_t number;
    const char *name;
    bool tty, stdin_open;
    int rows, cols;
    size_t ring_bytes, head_bytes, input_bytes, log_bytes; /* rounded up to pages */
    /* what people are shown; described may be NULL. At most 64 KiB together, cut with a mark
     * beyond */
    const char *cmd, *cwd, *described;
    /* what else is to be told of it (news_facts), at most 16 KiB; NULL: nothing */
    const char *facts;
};

/* An empty one, which starts. 0 and *out is the caller's, or ERR_SYSTEM. */
int journal_new(struct journal **out, const struct journal_make *make, struct err *err);
/* From a memfd of a predecessor, of the same major version. Everything is checked: seals, sizes,
 * offsets, counters, names; what is broken is salvaged where the ring is sound (cursors clamped),
 * else refused: ERR_SYSTEM with the reason; ERR_LIMIT: no memory to map it now, the journal is
 * sound. fd becomes the journal's on success. */
int journal_adopt(struct journal **out, int fd, struct err *err);
void journal_free(struct journal *journal); /* unmaps and closes; NULL is fine */
const char *journal_cmd(const struct journal *journal);
const char *journal_cwd(const struct journal *journal);
const char *journal_described(const struct journal *journal); /* NULL: none */
const char *journal_facts(const struct journal *journal);     /* NULL: none */
/* bytes of touched pages, estimated from the counters */
size_t journal_memory(const struct journal *journal);

/* Output in. journal_space: where the next bytes go, contiguous; *size at most ring_size / 2. Gives
 * up what they will overwrite, so ask for no more than will come; saves it to the head area where
 * the default reader has not read it. */
char *journal_space(struct journal *journal, size_t want, size_t *size);
void journal_commit(struct journal *journal, size_t size, bool from_stderr);
/* Could a predecessor have read that many bytes into what journal_space gave it, without committing
 * them? */
bool journal_may_commit(const struct journal *journal, uint64_t size);
/* Output that is still in a file is fetched now. */
static inline void journal_need(const struct journal *journal)
{
    if (journal->source && journal->source->pending)
        journal->source->fetch(journal->source);
}
/* Where in the memfd byte 0 of the output has its place. */
static inline uint64_t journal_ring_at(const struct journal *journal)
{
    return (uint64_t)(journal->ring - (const char *)journal->header);
}
static inline uint64_t journal_head(const struct journal *journal)
{
    return atomic_load_explicit(&journal->header->out_head, memory_order_relaxed);
}
static inline uint64_t journal_tail(const struct journal *journal)
{
    return atomic_load_explicit(&journal->header->out_tail, memory_order_relaxed);
}
static inline uint64_t journal_in_head(const struct journal *journal)
{
    return atomic_load_explicit(&journal->header->in_head, memory_order_relaxed);
}
static inline uint64_t journal_in_tail(const struct journal *journal)
{
    return atomic_load_explicit(&journal->header->in_tail, memory_order_relaxed);
}

/* Output out. The longest contiguous piece at offset `from` (in the ring or the head area); NULL
 * and *size = 0 at the head. Bytes that are gone are skipped: *from moves to the oldest that is
 * there. Borrowed until the next journal_space. */
const char *journal_view(const struct journal *journal, uint64_t *from, size_t *size);
/* Which of [from, to) came from stderr: calls fn for each run in order. Pipe sessions only; runs
 * older than the index count as stdout. */
void journal_streams(const struct journal *journal, uint64_t from, uint64_t to,
                     void (*fn)(void *arg, uint64_t from, uint64_t to, bool is_stderr), void *arg);

/* What a reader gets of [from, to): whole when at most cap bytes, else head and tail with the count
 * between. Appends the raw bytes (out must take cap more); *omitted: bytes that are missing between
 * (or before), *gap_at: where in out the gap is (SIZE_MAX: none). One gap at most: when `from`
 * itself is gone, the gap comes first and the newest bytes follow. */
void journal_collect(const struct journal *journal, uint64_t from, uint64_t to, size_t cap,
                     struct buf *out, uint64_t *omitted, size_t *gap_at);

/* Readers. name NULL or "": the default one. limit counts all readers with the default one,
 * JOURNAL_READERS at most; longer names are told apart by a hash at their end. A new one begins at
 * byte 0 of the session; the least recently used goes when there are limit already. Borrowed until
 * the journal is freed. */
struct journal_reader *journal_reader(struct journal *journal, const char *name, unsigned limit);
/* journal_reader would give that name the place of another one, whose position is forgotten: out is
 * that other name. */
bool journal_reader_replaces(struct journal *journal, const char *name, unsigned limit,
                             char out[JOURNAL_READER_NAME_MAX + 1]);
/* Never backwards past what was given unless asked by since: the caller's to know. Not beyond the
 * head. */
void journal_reader_move(struct journal *journal, struct journal_reader *reader, uint64_t to);

/* Input queue: accepted whole or not at all. Offsets: of all that was ever accepted
 * (journal_in_head), of what of it was typed (journal_in_tail). */
size_t journal_input_free(const struct journal *journal);
bool journal_input_append(struct journal *journal, const void *data, size_t size);
/* not yet typed, contiguous */
const char *journal_input_view(const struct journal *journal, size_t *size);
/* Advances in_tail; wipe overwrites the bytes; an emptied queue gives its pages back, but for one
 * while the program is busy. */
void journal_input_typed(struct journal *journal, size_t size, bool wipe);
/* the session has gone quiet: that one too. Cheap when there is nothing to give */
void journal_trim(struct journal *journal);
/* everything not yet typed (the program has ended) */
void journal_input_drop(struct journal *journal);

/* Requests that were done, by the hash of their id, so that a retry after a crash is not done
 * twice. Note a write BEFORE its append, with the in_head that the append will make: one that never
 * came in does not count as done, and journal_adopt forgets it. */
uint64_t journal_hash(const char *request_id); /* never 0 */
bool journal_request_done(const struct journal *journal, uint64_t id_hash, uint64_t *input_end);
void journal_request_note(struct journal *journal, uint64_t id_hash, uint64_t input_end);
#endif
