/* queries.c: owns the place in a session's output up to which queries are answered, and the
 * replies on their way. */
#include "parts/view/queries.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/mem.h"
#include "parts/view/query_place.h"
#include "parts/view/view_internal.h"
#include "sys/proc.h"
#include "sys/pty.h"
#include "term/modes.h"
#include "term/responder.h"
#include "term/scan.h"
#include "wire/profile.h"
#include <stdlib.h>
#include <unistd.h>

/* In one look; the rest follows in the next one, so that a flood of queries neither stops the
 * turn nor fills the input queue. */
#define ANSWERS_MAX 32
#define ANSWERS_BYTES 4096
/* How long a program that has asked may take to leave canonical mode, and how long one that does
 * not read its replies gets none. One that computes, or waits for the processor, has more time. */
#define LATE_NS (250 * NS_PER_MS)
#define LATE_MOST_NS (60000 * NS_PER_MS)
#define LATE_FIRST_NS NS_PER_MS
#define LATE_INTERVAL_NS (50 * NS_PER_MS) /* between two looks, at most */

struct queries {
    struct session *session;
    struct profile profile; /* the terminal of the person who types; all 0: none */
    uint64_t queued_to; /* input offset behind the last reply that was queued */
    int64_t refused_ns; /* when the program's input had no room for a reply; 0: never */
    struct buf late;    /* replies to a program that is still in canonical mode */
    pid_t group;        /* the foreground group when it asked */
    bool late_is_raw;   /* canonical mode was off at the last look */
    int64_t late_ns, interval_ns; /* when it asked; between two looks */
    struct loop_timer timer;
};

static void queries_on_timer(void *arg);

static struct queries *queries_get(struct session *session)
{
    struct terminal *terminal = terminal_get(session);
    if (!terminal->queries) {
        struct queries *queries = terminal->queries = xcalloc(1, sizeof *queries);
        queries->session = session;
        buf_init(&queries->late, ANSWERS_BYTES + RESPONDER_MOST);
        loop_timer_init(&queries->timer, session->registry->loop, queries_on_timer, queries);
    }
    return terminal->queries;
}

static struct queries *queries_of(const struct session *session)
{
    const struct terminal *terminal = session->part[PART_VIEW];
    return terminal ? terminal->queries : NULL;
}

const struct profile *queries_profile(const struct session *session)
{
    const struct queries *queries = queries_of(session);
    return queries ? &queries->profile : NULL;
}

void queries_free(struct queries *queries)
{
    if (!queries)
        return;
    loop_timer_stop(&queries->timer);
    buf_fini(&queries->late);
    free(queries);
}

/* A program that does not read its replies gets no more of them. */
static bool may_answer(const struct session *session)
{
    const struct queries *queries = queries_of(session);
    bool unread = queries && queries->queued_to > journal_in_tail(session->journal);
    if (queries && queries->refused_ns &&
        loop_now_ns(session->registry->loop) - queries->refused_ns < LATE_NS)
        unread = true;
    return !session->exited && session->out.fd >= 0 && !unread;
}

/* Past input that is held until the program reads: the reply is what the program may read first.
 * It does not change what is known of the program's prompt: an editor that asks for the cursor
 * reads its line all the same. */
static void type_past_held(struct session *session, const struct buf *answers)
{
    struct prompt_mark mark = prompt_save(session);
    prompt_mark(session);
    prompt_restore(session, &mark);
    ssize_t n = write(session->out.fd, answers->data, answers->len);
    if (n != (ssize_t)answers->len)
        queries_get(session)->refused_ns = loop_now_ns(session->registry->loop);
}

/* Through the queue, so that no crash of a worker doubles or tears a reply. done: the output up
 * to here is answered then. */
static void type_queued(struct session *session, const struct buf *answers, uint64_t done)
{
    bool alone = journal_in_head(session->journal) == journal_in_tail(session->journal);
    struct prompt_mark mark = prompt_save(session);
    bool queued = session_queue_answer(session, answers->data, answers->len);
    atomic_store(&session->journal->header->answered_to, done);
    if (!queued)
        return;
    queries_get(session)->queued_to = journal_in_head(session->journal);
    session_flush_input(session);
    if (alone) /* not a person's input: ready_pattern still counts the output before */
        prompt_restore(session, &mark);
}

static void queries_type(struct session *session, const struct buf *answers, uint64_t done)
{
    if (!session->input.held) {
        type_queued(session, answers, done);
        return;
    }
    /* before: a crash may lose the reply, not double it */
    atomic_store(&session->journal->header->answered_to, done);
    type_past_held(session, answers);
}

static bool takes_answers(const struct session *session)
{
    struct pty_mode mode;
    return pty_get_mode(session->out.fd, &mode) == 0 && !mode.canonical;
}

static void keep_late(struct session *session, const struct buf *answers)
{
    struct queries *queries = queries_get(session);
    int64_t now = loop_now_ns(session->registry->loop);
    BUG_UNLESS(answers->len > 0);
    if (queries->late.len == 0) {
        queries->group = pty_foreground(session->out.fd);
        queries->late_is_raw = false;
        queries->late_ns = now;
        queries->interval_ns = LATE_FIRST_NS;
        loop_timer_set_ns(&queries->timer, now + LATE_FIRST_NS);
    }
    buf_append(&queries->late, answers->data, answers->len);
}

static void forget_late(struct queries *queries)
{
    loop_timer_stop(&queries->timer);
    buf_fini(&queries->late);
    buf_init(&queries->late, ANSWERS_BYTES + RESPONDER_MOST);
}

/* Only the leader of the group is looked at: it is the one that sets modes, or nobody knows. */
static bool is_working(pid_t group)
{
    struct proc_stat leader;
    return group > 0 && proc_stat(group, &leader) && (leader.state == 'R' || leader.state == 'D');
}

/* Sends the late replies, keeps them for longer, or drops them. Two looks, with no output
 * between them, must find raw mode: a line editor that comes back from a command sets it just
 * before it prints its prompt. After some time it must also have come to rest. */
static void look_at_late(struct queries *queries)
{
    struct session *session = queries->session;
    int64_t now = loop_now_ns(session->registry->loop);
    BUG_UNLESS(queries->late.len > 0);
    bool same = may_answer(session) && queries->group > 0 &&
                pty_foreground(session->out.fd) == queries->group;
    bool takes = same && takes_answers(session);
    int64_t waited = now - queries->late_ns;
    bool soon = waited < LATE_NS, works = !soon && is_working(queries->group);
    if (takes && queries->late_is_raw && !works) {
        queries_type(session, &queries->late, atomic_load(&session->journal->header->answered_to));
    } else if (same && (soon || takes || (works && waited < LATE_MOST_NS))) {
        queries->late_is_raw = takes;
        if (queries->interval_ns < LATE_INTERVAL_NS)
            queries->interval_ns += queries->interval_ns / 2;
        loop_timer_set_ns(&queries->timer, now + queries->interval_ns);
        return;
    }
    forget_late(queries);
}

bool queries_type_late(struct session *session)
{
    struct queries *queries = queries_of(session);
    if (!queries || queries->late.len == 0 || !may_answer(session) ||
        pty_foreground(session->out.fd) != queries->group)
        return false;
    queries_type(session, &queries->late, atomic_load(&session->journal->header->answered_to));
    forget_late(queries);
    return true;
}

static void queries_on_timer(void *arg)
{
    struct queries *queries = arg;
    look_at_late(queries);
}

/* A full-screen program sets bracketed paste at its start, long before it has drawn: it is not a
 * line editor. */
static void note_mode(struct session *session, const struct scan_seq *seq, uint64_t modes)
{
    struct journal_header *header = session->journal->header;
    enum modes_editor editor = modes_editor(seq);
    bool full_screen = modes_has(modes, MODE_ALTERNATE_SCREEN);
    if (session->prompt.policy && (full_screen || editor != MODES_EDITOR_SAME))
        readiness_editor(session->prompt.policy, !full_screen && editor == MODES_EDITOR_READS);
    switch (modes_scheme(seq)) {
    case MODES_SCHEME_ON: header->wants_scheme = 1; break;
    case MODES_SCHEME_OFF: header->wants_scheme = 0; break;
    case MODES_SCHEME_SAME: break;
    }
}

static void note_colours(struct terminal *terminal, const struct scan_seq *seq)
{
    if (seq->kind == SCAN_OSC)
        colours_apply(&terminal->colours, seq->text, seq->len);
    else if (seq->kind == SCAN_ESC && seq->final == 'c' && !seq->inter)
        colours_reset(&terminal->colours);
}

/* After a restart: what the program has set before, as far as its output is still there. */
static void recall_colours(const struct session *session, struct terminal *terminal)
{
    uint64_t from = 0, end = atomic_load(&session->journal->header->answered_to);
    while (!terminal->recalled && from < end) {
        size_t size, at = 0;
        const char *data = journal_view(session->journal, &from, &size);
        struct scan_seq seq;
        if (!data || from >= end)
            break;
        size = size < end - from ? size : (size_t)(end - from);
        for (scan_past_drawing(data, size, &at); scan_next(data, size, &at, &seq);
             scan_past_drawing(data, size, &at))
            note_colours(terminal, &seq);
        from += size;
    }
    terminal->recalled = true;
}

/* to the end; as much as one look may; up to a query that can't be answered yet */
enum searched { SEARCHED, ENOUGH, LATER };

/* Searches from *from on, which moves to the first byte that needs another look. */
static enum searched search(struct session *session, uint64_t head, uint64_t *from, uint64_t *modes,
                            struct buf *answers)
{
    bool may = may_answer(session);
    unsigned count = 0;
    while (*from < head) {
        size_t size, at = 0;
        const char *data = journal_view(session->journal, from, &size);
        struct scan_seq seq;
        if (!data)
            return SEARCHED;
        modes_past_string(modes, data, size, &at);
        scan_past_drawing(data, size, &at);
        for (size_t before = at; count < ANSWERS_MAX && answers->len < ANSWERS_BYTES &&
                                 scan_next(data, size, &at, &seq);
             before = at) {
            struct query_place place = {.session = session, .offset = *from + at, .modes = *modes};
            const struct responder_facts facts = query_place_facts(&place);
            note_colours(terminal_get(session), &seq);
            if (modes_apply(modes, &seq))
                note_mode(session, &seq, *modes);
            else if (may)
                count += responder_answer(answers, &seq, &facts);
            if (place.later) {
                *from += before;
                return LATER;
            }
            modes_past_string(modes, data, size, &at);
            scan_past_drawing(data, size, &at);
        }
        bool enough = count >= ANSWERS_MAX || answers->len >= ANSWERS_BYTES,
             last = *from + size >= head;
        /* a sequence that a gap has cut stays unfinished */
        *from += at < size && !enough && !last ? size : at;
        if (enough || last)
            return enough && *from < head ? ENOUGH : SEARCHED;
    }
    return SEARCHED;
}

void queries_look(struct session *session)
{
    struct journal_header *header = session->journal->header;
    uint64_t head = journal_head(session->journal);
    if (head == 0 || !session_is_tty(session))
        return;
    struct terminal *terminal = terminal_get(session);
    if (head == terminal->scanned_head)
        return;
    terminal->scanned_head = head;
    recall_colours(session, terminal);
    if (terminal->queries && terminal->queries->late.len > 0)
        forget_late(terminal->queries); /* the program goes on without its reply */
    uint64_t from = atomic_load(&header->answered_to), before = atomic_load(&header->modes),
             modes = before;
    struct buf answers;
    buf_init(&answers, ANSWERS_BYTES + RESPONDER_MOST);
    enum searched searched = search(session, head, &from, &modes, &answers);
    if (searched != SEARCHED)
        terminal->scanned_head = from;
    if (searched == ENOUGH)
        session_dirty(session);
    if (searched == LATER)
        prompt_forget(session); /* the program waits for our reply */
    atomic_store(&header->modes, modes); /* before the place: setting a mode twice does no harm */
    if (modes_has(before ^ modes, MODE_COLUMNS))
        session_set_columns(session, modes_has(modes, MODE_COLUMNS));
    if (answers.len > 0 && takes_answers(session)) {
        queries_type(session, &answers, from);
    } else {
        atomic_store(&header->answered_to, from);
        if (answers.len > 0)
            keep_late(session, &answers);
    }
    buf_fini(&answers);
}

uint64_t session_modes(struct session *session)
{
    queries_look(session);
    return atomic_load(&session->journal->header->modes);
}

/* Not to a program that reads lines: it would be text. */
static void tell_scheme(struct session *session, enum profile_scheme scheme)
{
    struct buf report = BUF_INIT;
    if (session->journal->header->wants_scheme && may_answer(session) && takes_answers(session)) {
        responder_report_scheme(&report, scheme);
        queries_type(session, &report, atomic_load(&session->journal->header->answered_to));
    }
    buf_fini(&report);
}

void session_set_profile(struct session *session, const struct profile *profile)
{
    if (!session_is_tty(session) || (!profile && !queries_of(session)))
        return;
    queries_look(session); /* queries until now are answered with the old terminal */
    struct queries *queries = queries_get(session);
    enum profile_scheme before = profile_scheme(&queries->profile);
    queries->profile = profile ? *profile : (struct profile){0};
    if (profile_scheme(&queries->profile) != before)
        tell_scheme(session, profile_scheme(&queries->profile));
}
