/* recorder_take: owns how output, input and changes of a session become the lines of a
 * recording. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "parts/record/recorder_state.h"
#include "session/input.h"
#include "session/nonce.h"
#include "term/resume.h"
#include "wire/cast.h"
#include "wire/semantic.h"
#include <stdio.h>
#include <string.h>

/* formatted and not on disk; beyond it output waits in the journal */
#define PENDING_MAX (256u << 10)
#define EVENT_BYTES (32u << 10)  /* output in one event */
#define TAKE_BYTES (128u << 10)  /* output in one turn */
#define CATCH_UP_MAX (4u << 20) /* output before a new part; more than this is lost */
#define LABEL_MAX 200
/* A pipe has no screen: a late recording of one begins with so many lines. */
#define PIPE_LINES 24
#define PIPE_BYTES 4096

static void event(struct recorder *recorder, enum cast_code code, const char *data, size_t size)
{
    size_t before = recorder->pending.len;
    int64_t at_ms = clock_boot_ms() - recorder->began_boot_ms;
    cast_append_event(&recorder->pending, recorder->format, &recorder->last_ms, at_ms, code, data,
                      size);
    recorder->size += recorder->pending.len - before;
    recorder->total += recorder->pending.len - before;
}

/* A pipe's lines end with LF alone, which only moves a terminal's cursor down. */
static void output(struct recorder *recorder, const char *data, size_t size)
{
    struct buf lines = BUF_INIT;
    if (session_is_tty(recorder->session)) {
        event(recorder, CAST_OUTPUT, data, size);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '\n' && !recorder->after_cr)
            buf_append_byte(&lines, '\r');
        buf_append_byte(&lines, data[i]);
        recorder->after_cr = data[i] == '\r';
    }
    event(recorder, CAST_OUTPUT, lines.data, lines.len);
    buf_fini(&lines);
}

/* A character that a read has cut waits for its rest. last: there is no rest. */
static void take_bytes(struct recorder *recorder, const char *data, size_t size, bool last)
{
    struct buf joined = BUF_INIT;
    buf_append(&joined, recorder->carry, recorder->carried);
    buf_append(&joined, data, size);
    size_t kept = last ? 0 : utf8_incomplete_tail(joined.data, joined.len);
    BUG_UNLESS(kept < sizeof recorder->carry);
    if (joined.len > kept)
        output(recorder, joined.data, joined.len - kept);
    if (kept > 0)
        memcpy(recorder->carry, joined.data + joined.len - kept, kept);
    recorder->carried = kept;
    buf_fini(&joined);
}

static void on_screen(void *arg, unsigned events);

static void want_screen(struct recorder *recorder)
{
    struct err err;
    if (!recorder->watch && recorder->session && session_is_tty(recorder->session))
        recorder->watch = recorder_screens_of(recorder)->watch(recorder->session, on_screen,
                                                               recorder, &err);
}

static void note_size(struct recorder *recorder)
{
    char text[32];
    int rows, cols;
    if (session_get_size(recorder->session, &rows, &cols) < 0 ||
        (rows == recorder->rows && cols == recorder->cols))
        return;
    recorder->rows = rows;
    recorder->cols = cols;
    int n = snprintf(text, sizeof text, "%dx%d", cols, rows);
    event(recorder, CAST_RESIZE, text, (size_t)n);
}

/* Takes a piece without the marks that muxd has the program write. What may become one at its end
 * is left for later, unless it is the last piece. Returns how many bytes it has taken. */
static size_t take_unmarked(struct recorder *recorder, const char *data, size_t size, bool last)
{
    if (!session_is_integrated(recorder->session)) {
        take_bytes(recorder, data, size, false);
        return size;
    }
    struct buf piece = BUF_INIT;
    buf_append(&piece, data, size);
    size_t open = session_strip_marks(recorder->session, &piece);
    if (last || recorder->session->finished || open > SEMANTIC_MAX)
        open = 0;
    buf_truncate(&piece, piece.len - open);
    if (piece.len > 0)
        take_bytes(recorder, piece.data, piece.len, false);
    buf_fini(&piece);
    return size - open;
}

/* Takes [at, limit), as much as there is room for. False: bytes are missing, and the screen has
 * to be painted first. */
static bool take_to(struct recorder *recorder, uint64_t limit, size_t room)
{
    struct journal *journal = recorder->session->journal;
    size_t taken = 0;
    while (recorder->at < limit && taken < TAKE_BYTES && recorder->pending.len < room) {
        uint64_t from = recorder->at;
        size_t size;
        const char *data = journal_view(journal, &from, &size);
        if (from > recorder->at) {
            recorder->lost += from - recorder->at;
            recorder->at = from;
            recorder->carried = 0;
            return false;
        }
        if (!data)
            return true;
        size = size < limit - from ? size : (size_t)(limit - from);
        size = size < EVENT_BYTES ? size : EVENT_BYTES;
        bool last = room == SIZE_MAX || limit < journal_head(journal);
        size = take_unmarked(recorder, data, size, last);
        if (size == 0) /* the rest of a mark is to come */
            return true;
        recorder->at += size;
        taken += size;
    }
    return true;
}

static void recorder_take_tell_lost(struct recorder *recorder)
{
    char text[80];
    int n = snprintf(text, sizeof text, "%llu bytes of output were not recorded",
                     (unsigned long long)recorder->lost);
    event(recorder, CAST_MARKER, text, (size_t)n);
    recorder->lost = 0;
}

/* Resets the terminal and paints it, in a part that has begun. */
static void paint_anew(struct recorder *recorder, const struct screen *screen)
{
    struct buf out = BUF_INIT;
    recorder_take_tell_lost(recorder);
    buf_append_text(&out, "\033c");
    resume_draw(screen, &out);
    event(recorder, CAST_OUTPUT, out.data, out.len);
    buf_fini(&out);
}

/* screen NULL: the screen is still blank. */
static void write_head(struct recorder *recorder, const struct screen *screen)
{
    struct buf out = BUF_INIT;
    struct journal *journal = recorder->session->journal;
    BUG_UNLESS(!recorder->begins && !recorder->ending);
    recorder->split = recorder->pending.len;
    recorder->begins = true;
    recorder->part++;
    recorder->began_boot_ms = clock_boot_ms();
    recorder->last_ms = 0;
    recorder->size = 0;
    recorder->full = false;
    session_get_size(recorder->session, &recorder->rows, &recorder->cols);
    struct cast_head head = {.version = recorder->format,
                             .rows = recorder->rows,
                             .cols = recorder->cols,
                             .began_real_ms = clock_real_ms(),
                             .command = journal_cmd(journal),
                             .title = session_name(recorder->session),
                             .term = "xterm-256color"};
    size_t before = recorder->pending.len;
    cast_append_head(&recorder->pending, &head);
    recorder->size += recorder->pending.len - before;
    recorder->total += recorder->pending.len - before;
    if (recorder->part == 1)
        recorder_command(recorder->session, journal_cmd(journal), strlen(journal_cmd(journal)));
    if (recorder->lost > 0)
        recorder_take_tell_lost(recorder);
    if (screen) {
        buf_append_text(&out, "\033[H\033[2J"); /* a player's screen may be in use */
        resume_draw(screen, &out);
        event(recorder, CAST_OUTPUT, out.data, out.len);
    }
    buf_fini(&out);
}

/* The screen shows the output up to an offset. Before that place the old part ends, or the loss
 * is made up for; behind it the recording goes on. */
static void on_screen(void *arg, unsigned events)
{
    struct recorder *recorder = arg;
    const struct recorder_screens *screens = recorder_screens_of(recorder);
    const struct screen *screen = recorder->watch ? screens->screen(recorder->watch) : NULL;
    if (!screen) {
        if (events & screens->gone)
            recorder_unwatch(recorder);
        return;
    }
    uint64_t offset = screens->offset(recorder->watch);
    BUG_UNLESS(recorder->session && !recorder->ending);
    while (recorder->part > 0 && !recorder->lost && recorder->at < offset &&
           offset - recorder->at <= CATCH_UP_MAX)
        take_to(recorder, offset, SIZE_MAX);
    if (recorder->part > 0 && recorder->at < offset)
        recorder->lost += offset - recorder->at;
    if (recorder->part > 0 && !recorder->full)
        paint_anew(recorder, screen);
    else
        write_head(recorder, screen);
    recorder->at = offset;
    recorder->carried = 0;
    recorder->lost = 0;
    recorder_unwatch(recorder);
    recorder_written(recorder);
    session_dirty(recorder->session);
}

static uint64_t last_lines(const struct session *session)
{
    uint64_t head = journal_head(session->journal),
             from = head > PIPE_BYTES ? head - PIPE_BYTES : 0, at = from;
    size_t size;
    const char *data = journal_view(session->journal, &at, &size);
    int lines = 0;
    if (!data || at + size != head)
        return head;
    for (size_t i = size; i > 0; i--)
        if (data[i - 1] == '\n' && i < size && ++lines == PIPE_LINES)
            return at + i;
    return at;
}

void recorder_begin_part(struct recorder *recorder)
{
    struct session *session = recorder->session;
    bool whole = session->journal->header->recorded && journal_tail(session->journal) == 0;
    if (!session_is_tty(session)) {
        recorder->at = whole ? 0 : last_lines(session);
        write_head(recorder, NULL);
    } else if (journal_head(session->journal) == 0 || whole) {
        write_head(recorder, NULL);
    } else {
        want_screen(recorder);
        if (!recorder->watch) { /* too many waits: it begins with new output */
            write_head(recorder, NULL);
            recorder->at = journal_head(session->journal);
        }
    }
    recorder_written(recorder);
    session_dirty(session);
}

static void begin_next_part(struct recorder *recorder)
{
    recorder->full = true;
    if (session_is_tty(recorder->session))
        want_screen(recorder);
    else if (!recorder->begins)
        write_head(recorder, NULL);
}

void recorder_take(struct recorder *recorder)
{
    struct session *session = recorder->session;
    if (!session || recorder->part == 0)
        return;
    if (!take_to(recorder, journal_head(session->journal), PENDING_MAX)) {
        if (session_is_tty(session))
            want_screen(recorder);
        if (!recorder->watch)
            recorder_take_tell_lost(recorder);
    }
    note_size(recorder);
    if (!recorder->full && !recorder->begins &&
        recorder->size >= (uint64_t)session->registry->cfg->limits.recording_bytes)
        begin_next_part(recorder);
}

static void recorder_take_finish(struct recorder *recorder)
{
    char text[16];
    int code = -1;
    if (recorder->carried > 0)
        take_bytes(recorder, "", 0, true);
    if (session_has_exit(recorder->session, &code, NULL) && code >= 0) {
        int n = snprintf(text, sizeof text, "%d", code);
        event(recorder, CAST_EXIT, text, (size_t)n);
    }
    recorder_end(recorder);
}

void recorder_look(struct session *session)
{
    struct recorder *recorder = recorder_of(session);
    if (!recorder || recorder->ending ||
        (recorder->watch && (recorder->part == 0 || recorder->lost)))
        return;
    recorder_take(recorder);
    if (session->finished && recorder->at == journal_head(session->journal) && !recorder->lost)
        recorder_take_finish(recorder);
    else if (recorder->at < journal_head(session->journal) && recorder->pending.len < PENDING_MAX)
        session_dirty(session);
    recorder_written(recorder);
}

void recorder_resized(struct session *session, const struct part_resize *resize)
{
    (void)resize;
    struct recorder *recorder = recorder_of(session);
    if (!recorder || recorder->ending || recorder->part == 0)
        return;
    recorder_take(recorder); /* output from before belongs to the old size; then the new one */
    recorder_written(recorder);
}

void recorder_command(struct session *session, const char *label, size_t size)
{
    struct recorder *recorder = recorder_of(session);
    struct buf text = BUF_INIT;
    if (!recorder || recorder->ending || recorder->part == 0 ||
        recorder->pending.len >= 2 * PENDING_MAX)
        return;
    while (size > 0 && (label[size - 1] == '\n' || label[size - 1] == '\r'))
        size--;
    size_t line = 0;
    while (line < size && label[line] != '\n' && label[line] != '\r')
        line++;
    line = utf8_cut(label, line, LABEL_MAX);
    utf8_append_escaped(&text, label, line, false);
    if (line < size)
        buf_append_text(&text, " \xe2\x80\xa6");
    event(recorder, CAST_MARKER, text.data ? text.data : "", text.len);
    recorder_written(recorder);
    buf_fini(&text);
}

/* secret: written without text, like all that is typed while the terminal reads a line without
 * echo. */
static void record_input(struct session *session, const char *data, size_t size, bool secret)
{
    struct recorder *recorder = recorder_of(session);
    if (!recorder || !recorder->input || recorder->ending || recorder->part == 0 ||
        recorder->pending.len >= 2 * PENDING_MAX)
        return;
    secret |= session_reads_secret(session);
    if (secret || size > 0)
        event(recorder, CAST_INPUT, secret ? "" : data, secret ? 0 : size);
    recorder_written(recorder);
}

void recorder_typed(struct session *session, const char *data, size_t size,
                    const struct author *author)
{
    record_input(session, data, size, false);
    if (author && author->who == INPUT_BY_AGENT && input_has_text(data, size))
        recorder_command(session, data, size);
}

/* Input through the queue is recorded once it is queued (recorder_typed). */
void recorder_input(struct session *session, const struct input *input)
{
    if (input->kind == INPUT_SECRET && input->direct)
        record_input(session, NULL, input->size, true);
}
