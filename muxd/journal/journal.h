/* journal: all of a session that must survive the worker: a memfd, sealed SHRINK, GROW and SEAL. It
 * holds a fixed versioned header, the ring of output bytes under absolute 64-bit offsets, the head
 * area (the beginning of what the default reader has not read, saved when the ring overwrites it),
 * the input queue or both ends of both streams, for pipe sessions the index of which bytes came
 * from stderr, and the input log (inputlog.h). Pages that were never written cost nothing. The
 * header and its strings leave a rest of their last page, the early area: the first bytes of output
 * lie there until they are too many for it.
 *
 * A worker may be killed between any two instructions: every field that a successor relies on is
 * written in an order that makes each intermediate state true (transfer.h tells how for bytes on
 * their way in and out). */
#ifndef MUXD_JOURNAL_JOURNAL_H
#define MUXD_JOURNAL_JOURNAL_H
#include "base/buf.h"
#include "base/err.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define JOURNAL_MAGIC 0x6478756dU /* "muxd" */
/* A worker takes over journals of its own major version. A higher minor version has more fields:
 * they come out of `reserved`, zero means not set, and a worker that does not know them leaves them
 * alone. */
#define JOURNAL_MAJOR 1
#ifndef JOURNAL_MINOR
#define JOURNAL_MINOR 4
#endif
#define JOURNAL_MINOR_AGAIN 3 /* the first with again_boot_ms */
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

enum session_record { RECORD_NONE, RECORD_OWED, RECORD_WRITTEN };

struct journal_reader {
    /* "": the slot is free; slot 0 is the default reader, always in use */
    char name[JOURNAL_READER_NAME_MAX + 1];
    _Atomic uint64_t cursor;                /* next byte that this reader has not been given */
    /* header->uses when it was last used: the least recently used goes first */
    uint64_t used;
};

/* a write that was done, and where its input ended */
struct journal_request { uint64_t id_hash; uint64_t input_end; };

/* At offset 0 of the memfd, with the strings behind it. Fixed sizes, native byte order. */
struct journal_header {
    uint32_t magic;
    uint16_t major, minor;
    uint64_t header_size;
    /* Bytes of each region, multiples of the page size, 0: none; and the region's offset. */
    uint64_t ring_size, head_size, input_size, index_size, log_size;
    uint64_t ring_at, head_at, input_at, index_at, log_at, strings_at, strings_size, total_size;
    /* who and what */
    uint64_t number;
    char name[JOURNAL_NAME_MAX + 1];
    uint8_t tty, stdin_open, on_slow;
    /* declared in the config: the name of its [session] is among the strings */
    uint8_t declared;
    uint8_t recorded;         /* it is recorded from its beginning */
    uint8_t staged;           /* a secret is staged, see secret_page.h */
    /* the program is told when its terminal becomes dark or light (?2031) */
    uint8_t wants_scheme;
    uint8_t size_policy;      /* whose terminal decides its size: enum + 1; 0: as configured */
    /* a request has set its size; typing doesn't change it */
    uint8_t size_held;
    uint8_t told_begin;       /* its begin is among the events */
    uint8_t told_end;         /* its end is among the events */
    uint8_t input_logged;     /* the input log has been written to: its pages are in memory */
    /* the output lies in the early area, and the ring is empty */
    _Atomic uint8_t early;
    uint8_t integrated;       /* its program was made to write marks (parts/commands) */
    int32_t rows, cols;
    int64_t created_real_ms, created_boot_ms;
    _Atomic int64_t ended_real_ms, end_read_real_ms; /* 0: not yet */
    _Atomic int64_t last_used_real_ms;
    uint64_t request_hash;                           /* of the exec that started it; 0: none */
    /* the program */
    _Atomic int32_t pid;
    _Atomic uint32_t follower_process; /* since minor version 4: journal_follower */
    uint64_t pid_start_ticks;
    _Atomic uint32_t state;                          /* enum session_state */
    _Atomic int32_t exit_code, term_signal;          /* -1: unknown or none */
    _Atomic uint32_t killed_by;                      /* enum session_killer */
    _Atomic int32_t kill_signal; /* the last signal that muxd sent to end it, 0: none */
    int64_t limits[SESSION_LIMIT_COUNT];             /* in force, see session.h; 0: none */
    /* the queries in the output up to here have been handled (parts/view/queries.h) */
    _Atomic uint64_t answered_to;
    /* of the terminal at answered_to, see term/modes.h */
    _Atomic uint64_t modes;
    /* output and input */
    _Atomic uint64_t out_head;                       /* bytes ever written by the program */
    _Atomic uint64_t out_tail;                       /* oldest byte still in the ring */
    /* the head area holds [saved_from, saved_from + saved_len) */
    _Atomic uint64_t saved_from, saved_len;
    _Atomic uint64_t in_head, in_tail; /* input accepted; input given to the kernel */
    _Atomic uint64_t index_head;                     /* entries ever written to the side index */
    _Atomic uint32_t drained;                        /* the output was read to its end */
    _Atomic uint32_t follower_start;
    uint64_t uses;
    struct journal_reader readers[JOURNAL_READERS];
    _Atomic uint64_t requests_head;
    struct journal_request requests[JOURNAL_REQUESTS];
    /* end_read_real_ms by CLOCK_BOOTTIME, which nobody can set; 0: not known */
    _Atomic int64_t end_read_boot_ms;
    /* Minor version 1. The first kept_size bytes of each stream and the last ones are kept where
     * other sessions have their input queue; 0: they are not. */
    uint64_t kept_size;
    _Atomic uint64_t kept[2]; /* bytes of standard output and of standard error that were there */
    /* Minor version 2. */
    _Atomic uint64_t record;  /* enum session_record: of its end, in the audit */
    /* Minor version 3. A declared session that has ended comes back then, by CLOCK_BOOTTIME, after
     * that pause; 0: it does not, or has come back already. */
    _Atomic int64_t again_boot_ms;
    int64_t again_pause_ms;
    uint64_t reserved[1];     /* for later minor versions; zero */
};

/* The output of an archived session lies in a file until a reader wants it. */
struct journal_source {
    bool pending;
    /* fills the ring and the head area, or marks the bytes as lost */
    void (*fetch)(struct journal_source *source);
};

struct journal {
    int fd;                        /* the memfd, owned */
    struct journal_header *header; /* shared mapping */
    /* the ring, mapped twice in a row; before that, the early area */
    char *ring;
    uint32_t early;                /* bytes of the early area; 0: the ring is in use, for good */
    /* Mapped when first needed, so use the functions of journal_map.h; input is mapped twice in a
     * row too. */
    char *head_area, *input, *kept;
    void *index, *log;
    char *strings;
    struct journal_source *source; /* borrowed; NULL: the output is in the journal */
    /* while the queue is empty, the page with this offset may still be in memory */
    uint64_t input_kept;
};

struct journal_make {
    uint64_t number;
    const char *name;
    bool tty, stdin_open;
    int rows, cols;
    size_t ring_bytes, head_bytes, input_bytes, log_bytes; /* rounded up to pages */
    size_t kept_bytes; /* of each end of each stream; needs a pipe session without input */
    /* Shown to people; declared is the [session] of the config, or NULL. At most 64 KiB together;
     * a longer text is cut and marked. */
    const char *cmd, *cwd, *declared;
    /* how it was started, for events: an object in one line, at most 16 KiB; NULL: nothing */
    const char *facts;
};

/* Whom its program waits for: session/followed.c. 0: nobody. A kill within the change leaves one
 * who does not exist. */
static inline uint64_t journal_follower(const struct journal_header *header)
{
    return (uint64_t)atomic_load(&header->follower_process) << 32 |
           atomic_load(&header->follower_start);
}
static inline void journal_set_follower(struct journal_header *header, uint64_t follower)
{
    atomic_store(&header->follower_start, (uint32_t)follower);
    atomic_store(&header->follower_process, (uint32_t)(follower >> 32));
}

/* An empty journal of a session that starts. 0 and *out is the caller's, or ERR_SYSTEM. */
int journal_new(struct journal **out, const struct journal_make *make, struct err *err);
/* Takes over the memfd of a predecessor of the same major version. Everything is checked: seals,
 * sizes, offsets, counters, names. A journal with a sound ring is put right (cursors clamped); any
 * other is refused: ERR_SYSTEM with the reason. ERR_LIMIT: it is sound, but there is no memory to
 * map it now. fd becomes the journal's on success. */
int journal_adopt(struct journal **out, int fd, struct err *err);
/* Before an upgrade: 0, or EPROTONOSUPPORT for a journal of a release that this one can't read.
 * Changes nothing in it. */
int journal_why_not(int fd);
void journal_free(struct journal *journal); /* unmaps and closes; NULL is fine */
/* Gives the descriptor back before journal_free. What is mapped can still be read; nothing more can
 * be mapped, and no image made. */
void journal_close_fd(struct journal *journal);
const char *journal_cmd(const struct journal *journal);
const char *journal_cwd(const struct journal *journal);
const char *journal_declared(const struct journal *journal);  /* NULL: none */
const char *journal_facts(const struct journal *journal);     /* NULL: none */
/* bytes of the pages that were written, estimated from the counters */
size_t journal_memory(const struct journal *journal);

/* Output in. journal_space: where the next bytes go, contiguous; *size is at most ring_size / 2. It
 * gives up the bytes that they will overwrite, so ask for no more than will come; of these it saves
 * to the head area what the default reader has not read. */
char *journal_space(struct journal *journal, size_t want, size_t *size);
void journal_commit(struct journal *journal, size_t size, bool from_stderr);
/* Whether a predecessor can have read that many bytes into what journal_space gave it, without
 * committing them. */
bool journal_may_commit(const struct journal *journal, uint64_t size);
/* Fetches output that is still in a file. */
static inline void journal_need(const struct journal *journal)
{
    if (journal->source && journal->source->pending)
        journal->source->fetch(journal->source);
}
/* The offset in the memfd of byte 0 of the output. */
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
 * and *size = 0 at the head. It skips bytes that are gone: *from moves to the oldest one that is
 * left. Borrowed until the next journal_space. */
const char *journal_view(const struct journal *journal, uint64_t *from, size_t *size);
/* Tells which of [from, to) came from stderr: calls fn for each run in order. Runs older than the
 * index count as stdout, and so does everything of a session on a PTY. */
void journal_streams(const struct journal *journal, uint64_t from, uint64_t to,
                     void (*fn)(void *arg, uint64_t from, uint64_t to, bool is_stderr), void *arg);

/* Each stream by itself, for sessions that were made with kept_bytes: journal_streams tells of the
 * output from journal_kept_end on, and the journal_kept_count bytes of each stream before that are
 * had by journal_kept_copy. It appends what is kept of [from, to), counted in that stream: all of
 * the first and of the last kept_bytes. Without kept_bytes both counts are 0. */
uint64_t journal_kept_end(const struct journal *journal);
uint64_t journal_kept_count(const struct journal *journal, bool is_stderr);
void journal_kept_copy(const struct journal *journal, bool is_stderr, uint64_t from, uint64_t to,
                       struct buf *out);

/* What a reader gets of [from, to): all of it when that is at most cap bytes, else its beginning
 * and its end. Appends the raw bytes (out must take cap more). *omitted: bytes that are missing
 * between, or before; *gap_at: where in out they are missing (SIZE_MAX: nowhere). There is one gap
 * at most: when `from` itself is gone, the gap comes first and the newest bytes follow. */
void journal_collect(const struct journal *journal, uint64_t from, uint64_t to, size_t cap,
                     struct buf *out, uint64_t *omitted, size_t *gap_at);

/* Readers. name NULL or "": the default one. limit counts all readers with the default one,
 * JOURNAL_READERS at most; longer names are told apart by a hash at their end. A new reader begins
 * at byte 0 of the session; when there are limit already, the least recently used goes. Borrowed
 * until the journal is freed. */
struct journal_reader *journal_reader(struct journal *journal, const char *name, unsigned limit);
/* Whether journal_reader would give that name the slot of another one, whose position is then
 * forgotten: out is that other name. */
bool journal_reader_replaces(struct journal *journal, const char *name, unsigned limit,
                             char out[JOURNAL_READER_NAME_MAX + 1]);
/* Moves the cursor, at most to the head. It also moves backwards: the caller keeps it from that,
 * except for `since`. */
void journal_reader_move(struct journal *journal, struct journal_reader *reader, uint64_t to);

/* Input queue: takes input whole or not at all. Offsets count all that was ever accepted
 * (journal_in_head), and what of it was typed (journal_in_tail). */
size_t journal_input_free(const struct journal *journal);
bool journal_input_append(struct journal *journal, const void *data, size_t size);
/* what is not typed yet, contiguous; NULL: nothing */
const char *journal_input_view(const struct journal *journal, size_t *size);
/* Advances in_tail; wipe overwrites the bytes. An emptied queue gives its pages back, except one
 * while the program is busy. */
void journal_input_typed(struct journal *journal, size_t size, bool wipe);
/* the session is quiet: gives that one back too. Cheap when there is none */
void journal_trim(struct journal *journal);
/* drops what is not typed yet (the program has ended) */
void journal_input_drop(struct journal *journal);

/* Requests that were done, by the hash of their id, so that a retry after a crash does not do one
 * twice. Note a write BEFORE its append, with the in_head that the append will make: a write whose
 * input never came in does not count as done, and journal_adopt forgets it. */
uint64_t journal_hash(const char *request_id); /* never 0 */
bool journal_request_done(const struct journal *journal, uint64_t id_hash, uint64_t *input_end);
void journal_request_note(struct journal *journal, uint64_t id_hash, uint64_t input_end);
#endif
