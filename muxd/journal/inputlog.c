/* inputlog: owns the log region of a journal: a head with the holder of the keyboard, then the ring
 * of events. */
#include "journal/inputlog.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "journal/journal_map.h"
#include <assert.h>
#include <stddef.h>
#include <string.h>

#define JOIN_MS 2000 /* keys of a person within this time are one event */

/* In the highest byte, which text never has: an event of an older build has the end of a long
 * call_id there. */
#define FROM_TAG (UINT64_C(0xff) << 56)

#define KEYS 10 /* a terminal has one or two frames of keys on their way */

struct log {
    _Atomic uint64_t last; /* serial of the newest event */
    struct input_holder holder;
    uint64_t keys_count;
    struct journal_request keys[KEYS];
    char spare[256 - sizeof(struct input_holder) - 16 - KEYS * sizeof(struct journal_request)];
    struct input_event events[];
};
static_assert(sizeof(struct input_event) == 256 && sizeof(struct input_holder) == 72,
              "a successor of another build reads them");
static_assert(offsetof(struct log, events) == 256, "pinned");

/* NULL: the journal has no log. *room: events that the ring has space for. */
static struct log *log_of(const struct journal *journal, uint64_t *room)
{
    size_t size;
    struct log *log = journal_log_area(journal, &size);
    if (!log || size < 2 * sizeof(struct input_event))
        return NULL;
    *room = (size - sizeof *log) / sizeof(struct input_event);
    return log;
}

static void inputlog_copy_cut(char *to, size_t room, const char *text)
{
    size_t size = text ? utf8_cut(text, strlen(text), room - 1) : 0;
    memset(to, 0, room);
    for (size_t i = 0; i < size; i++)
        to[i] = text[i];
}

static bool joins(const struct input_event *event, const struct input *input, uint64_t from,
                  int64_t now)
{
    const struct author *author = input->author;
    return author->who == INPUT_BY_PERSON && event->who == INPUT_BY_PERSON &&
           input->kind == event->kind && event->uid == author->uid && event->pid == author->pid &&
           event->to == from && now - event->last_ms < JOIN_MS && now >= event->last_ms &&
           (event->kind == INPUT_KEYS || event->kind == INPUT_SECRET);
}

/* Keeps what a reader of the log may see: nothing that a person typed. */
static void keep_text(struct input_event *event, const struct input *input)
{
    memset(event->text, 0, sizeof event->text);
    event->text_size = 0;
    if (input->author->who == INPUT_BY_PERSON || input->kind == INPUT_SECRET || !input->data)
        return;
    size_t size = utf8_cut(input->data, input->size, sizeof event->text);
    memcpy(event->text, input->data, size);
    event->text_size = (uint8_t)size;
}

void inputlog_note(struct journal *journal, const struct input *input, uint64_t from)
{
    uint64_t room;
    struct log *log = log_of(journal, &room);
    if (!log)
        return;
    BUG_UNLESS(input->author && from == journal_in_head(journal));
    journal->header->input_logged = 1;
    int64_t now = clock_real_ms();
    bool queued = input->kind != INPUT_SIGNAL && input->kind != INPUT_RESIZE && !input->direct;
    uint64_t last = atomic_load(&log->last), to = from + (queued ? input->size : 0);
    struct input_event *event = &log->events[(last - 1) % room];
    if (last > 0 && atomic_load(&event->serial) == last && joins(event, input, from, now)) {
        event->bytes += (uint32_t)input->size;
        event->count++;
        event->last_ms = now;
        event->to = to;
        return;
    }
    event = &log->events[last % room];
    atomic_store(&event->serial, 0);
    event->real_ms = event->last_ms = now;
    event->from = from;
    event->to = to;
    event->output_at = journal_head(journal);
    event->uid = input->author->uid;
    event->pid = input->author->pid;
    event->kind = (uint16_t)input->kind;
    event->who = (uint8_t)input->author->who;
    event->bytes = (uint32_t)input->size;
    event->count = 1;
    event->detail = input->detail;
    inputlog_copy_cut(event->client, sizeof event->client, input->author->client);
    inputlog_copy_cut(event->call_id, sizeof event->call_id, input->author->call_id);
    event->from_session = FROM_TAG | input->author->from_session;
    keep_text(event, input);
    atomic_store(&event->serial, last + 1);
    atomic_store(&log->last, last + 1);
}

uint64_t inputlog_from_session(const struct input_event *event)
{
    return (event->from_session & FROM_TAG) == FROM_TAG ? event->from_session & ~FROM_TAG : 0;
}

uint64_t inputlog_last(const struct journal *journal)
{
    uint64_t room;
    const struct log *log = log_of(journal, &room);
    return log ? atomic_load(&log->last) : 0;
}

/* The pages come from a predecessor, so nothing in them is trusted. */
static bool inputlog_is_sound(const struct input_event *event)
{
    return event->kind < INPUT_KIND_COUNT && event->who < INPUT_WHO_COUNT &&
           event->from <= event->to && event->text_size <= sizeof event->text &&
           memchr(event->client, '\0', sizeof event->client) &&
           memchr(event->call_id, '\0', sizeof event->call_id);
}

uint64_t inputlog_read(const struct journal *journal, uint64_t since, unsigned max, inputlog_fn *fn,
                       void *arg)
{
    uint64_t room, lost = 0;
    const struct log *log = log_of(journal, &room);
    uint64_t last = log ? atomic_load(&log->last) : 0;
    if (since >= last)
        return 0;
    if (last - since > room) {
        lost = last - since - room;
        since = last - room;
    }
    for (; since < last && max > 0; since++, max--) {
        const struct input_event *event = &log->events[since % room];
        if (atomic_load(&event->serial) == since + 1 && inputlog_is_sound(event))
            fn(arg, event);
    }
    return lost;
}

struct input_holder *inputlog_holder(const struct journal *journal, bool make)
{
    uint64_t room;
    struct log *log = log_of(journal, &room);
    return log && (make || log->holder.kind != 0) ? &log->holder : NULL;
}

void inputlog_keys_note(struct journal *journal, uint64_t id, uint64_t input_end)
{
    BUG_UNLESS(id != 0);
    uint64_t room;
    struct log *log = log_of(journal, &room);
    if (!log)
        return;
    journal->header->input_logged = 1;
    struct journal_request *keys = &log->keys[log->keys_count++ % KEYS];
    __atomic_store_n(&keys->id_hash, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&keys->input_end, input_end, __ATOMIC_SEQ_CST);
    __atomic_store_n(&keys->id_hash, id, __ATOMIC_RELEASE);
}

bool inputlog_keys_done(const struct journal *journal, uint64_t id)
{
    uint64_t room;
    const struct log *log = journal->header->input_logged ? log_of(journal, &room) : NULL;
    for (int i = 0; log && i < KEYS; i++)
        if (log->keys[i].id_hash == id)
            return true;
    return false;
}

/* Forgets an event that is broken, and what never came in of one that was noted. */
static void mend_event(struct input_event *event, uint64_t in_head)
{
    event->call_id[sizeof event->call_id - 1] = '\0'; /* an older build has kept more of it */
    if (!inputlog_is_sound(event) || (event->to > in_head && event->from >= in_head)) {
        atomic_store(&event->serial, 0);
    } else if (event->to > in_head) {
        event->bytes -= event->bytes > event->to - in_head ? (uint32_t)(event->to - in_head) : 0;
        event->to = in_head;
    }
}

void inputlog_mend(struct journal *journal)
{
    uint64_t room, in_head = journal_in_head(journal);
    struct log *log = journal->header->input_logged ? log_of(journal, &room) : NULL;
    if (!log)
        return;
    for (int i = 0; i < KEYS; i++)
        if (log->keys[i].input_end > in_head)
            log->keys[i].id_hash = 0;
    if (atomic_load(&log->last) > JOURNAL_OFFSET_MAX)
        atomic_store(&log->last, 0);
    uint64_t last = atomic_load(&log->last), count = last < room ? last + (last < room) : room;
    for (uint64_t i = 0; i < count; i++) /* also the one that was being written */
        mend_event(&log->events[i], in_head);
}
