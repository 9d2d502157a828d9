/* ready.c: owns what a session knows about its program being ready: asked from the kernel while somebody waits for it, or, where the config
 * has a pattern for that, from the end of the output. */
#include "base/log.h"
#include "session/internal.h"
#include <string.h>

#define TAIL_BYTES 1024 /* of the output, where ready_pattern is looked for */

static void on_ready(void *arg, enum evidence evidence, enum waiting_for waiting_for)
{
    struct session *session = arg;
    session->armed = false;
    if (waiting_for == WAITING_KEY && part_answer_late(session)) {
        session_dirty(session); /* it has waited for us; who waits for it waits on */
        return;
    }
    session->ready = evidence;
    session->ready_for = waiting_for;
    session->ready_ns = loop_now_ns(session->registry->loop);
    session_dirty(session);
}

static struct pattern *config_pattern(const struct session *session)
{
    const char *name = journal_described(session->journal);
    const struct config_session *described = name ? config_session_find(session->registry->cfg, name) : NULL;
    if (!described || !described->ready_pattern)
        return NULL;
    struct err err;
    struct pattern *pattern = pattern_new(described->ready_pattern, strlen(described->ready_pattern), &err);
    if (!pattern) /* refused when the config was read; an old journal may name a newer section */
        log_warn("[session %s] ready_pattern: %s", name, err.text);
    return pattern;
}

void ready_start(struct session *session)
{
    if (!session->ready_pattern)
        session->ready_pattern = config_pattern(session);
    if (!session_is_tty(session) || session->out.fd < 0 || session->readiness || session->exited)
        return;
    const struct readiness_config config = {.raw_quiet_ms = (int)session->registry->cfg->defaults.raw_quiet_ms};
    session->readiness = readiness_new(session->registry->loop, session->out.fd, session_pid(session), &config, on_ready, session);
    if (session->in_blocked)
        readiness_hold(session->readiness, true);
}

void ready_fini(struct session *session)
{
    readiness_free(session->readiness);
    session->readiness = NULL;
    pattern_free(session->ready_pattern);
    session->ready_pattern = NULL;
}

void ready_mark(struct session *session)
{
    session->ready = EVIDENCE_NONE;
    session->marks++;
    session->marked_head = journal_head(session->journal);
    if (session->readiness)
        readiness_mark(session->readiness);
}

/* True when a match of the pattern reaches to the end of the output; what came before the last write doesn't count. */
static bool end_matches(const struct session *session)
{
    uint64_t head = journal_head(session->journal);
    uint64_t from = head - session->marked_head > TAIL_BYTES ? head - TAIL_BYTES : session->marked_head;
    size_t size, start, at = 0;
    const char *data = journal_view(session->journal, &from, &size);
    while (data && at < size) {
        struct pattern_search search = {0};
        size_t end;
        if (pattern_search(session->ready_pattern, &search, data + at, size - at, true, &start, &end) != PATTERN_MATCH)
            return false;
        if (at + end == size)
            return true;
        at += end ? end : 1;
    }
    return false;
}

void ready_look(struct session *session, bool output)
{
    if (output && session->readiness)
        readiness_output(session->readiness);
    if (session->ready_pattern && !session->exited && end_matches(session))
        session->ready = EVIDENCE_PATTERN;
    if (session->ready != EVIDENCE_NONE && session->readiness)
        readiness_believe(session->readiness);
    if (session->ready == EVIDENCE_NONE || !session->held)
        return;
    /* Its first read. What waited for that goes out now, and who waits for the answer to it waits on. */
    session_release_hold(session);
}

void ready_forget(struct session *session)
{
    session->ready = EVIDENCE_NONE;
}

void ready_ask(struct session *session)
{
    session->asked = true;
}

struct ready_mark ready_save(const struct session *session)
{
    bool editor = session->readiness && readiness_editor_began(session->readiness);
    return (struct ready_mark){.head = session->marked_head, .editor = editor};
}

void ready_restore(struct session *session, const struct ready_mark *mark)
{
    session->marked_head = mark->head;
    if (mark->editor)
        readiness_editor(session->readiness, true);
}

void ready_want(struct session *session, bool wanted)
{
    session->asked = false;
    if (!session->readiness || session->ready_pattern || session->exited)
        return;
    if (wanted && !session->armed)
        readiness_arm(session->readiness);
    else if (!wanted && session->armed)
        readiness_disarm(session->readiness);
    session->armed = wanted;
}

/* The answer that a look has just brought about needs no second one. */
const char *session_waiting_for(struct session *session)
{
    if (session->ready != EVIDENCE_NONE && session->ready_for != WAITING_NONE &&
        loop_now_ns(session->registry->loop) - session->ready_ns < NS_PER_MS)
        return waiting_for_word(session->ready_for);
    return session->readiness && !session->exited ? waiting_for_word(readiness_state(session->readiness)) : NULL;
}
