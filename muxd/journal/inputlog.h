/* inputlog: who typed what into a session: a ring of fixed entries in the journal, so that it
 * survives the worker; the oldest go first. Of people and of secrets it keeps only how much was
 * typed, of others the beginning of the text. */
#ifndef MUXD_JOURNAL_INPUTLOG_H
#define MUXD_JOURNAL_INPUTLOG_H
#include "journal/journal.h"
#include "journal/typed.h"

struct input_event { /* as it lies in the memfd: fixed size, native byte order */
    _Atomic uint64_t serial;  /* from 1; 0: not written */
    int64_t real_ms, last_ms; /* a person's keys in a row are one event */
    /* input offsets; equal for bytes that did not go through the queue */
    uint64_t from, to;
    uint64_t output_at;       /* bytes of output at that time */
    uint32_t uid;
    int32_t pid;
    uint16_t kind;            /* enum input_kind */
    uint8_t who;              /* enum input_who */
    uint8_t text_size;        /* bytes of text; `bytes` counts all that was typed */
    uint32_t bytes, count;    /* count: writes joined in this event */
    int32_t detail;           /* INPUT_SIGNAL: its number; INPUT_RESIZE: rows << 16 | cols */
    char client[40], call_id[48]; /* cut, always with a NUL */
    uint64_t from_session;        /* inputlog_from_session */
    char text[88];
};

struct input_holder { /* of the keyboard, see parts/keyboard */
    uint32_t kind, uid;
    int32_t pid;
    uint32_t spare;
    int64_t since_real_ms, last_boot_ms;
    char client[40];
};

/* Notes an event; call it before the bytes go into the queue, because a successor forgets an event
 * whose bytes never came in. from: the input offset of its first byte. */
void inputlog_note(struct journal *journal, const struct input *input, uint64_t from);
/* borrowed until it returns */
typedef void inputlog_fn(void *arg, const struct input_event *event);
/* Calls fn for the events after serial `since`, oldest first, at most `max`. Returns how many of
 * the events after `since` were lost. */
uint64_t inputlog_read(const struct journal *journal, uint64_t since, unsigned max, inputlog_fn *fn,
                       void *arg);
/* The session in which the writer ran; 0: in none. */
uint64_t inputlog_from_session(const struct input_event *event);
uint64_t inputlog_last(const struct journal *journal); /* serial of the newest; 0: none */
/* NULL: there is no log, or the keyboard was never held and `make` is false */
struct input_holder *inputlog_holder(const struct journal *journal, bool make);
/* Keys that a person's terminal may send again after a restart (wire/attach.h). Note them before
 * they go into the queue. id: not 0. */
void inputlog_keys_note(struct journal *journal, uint64_t id, uint64_t input_end);
bool inputlog_keys_done(const struct journal *journal, uint64_t id);
void inputlog_mend(struct journal *journal); /* repairs a predecessor's log before its use */
#endif
