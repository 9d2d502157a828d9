/* prompt.c: owns what a session knows about its program being ready. The kernel is asked while a
 * call or a part waits for it; where the config has a pattern for the prompt, the end of the output
 * tells. */
#include "base/bug.h"
#include "base/log.h"
#include "session/internal.h"
#include "session/sandbox.h"
#include <string.h>

#define TAIL_BYTES 1024 /* of the output, where ready_pattern is looked for */

static void on_ready(void *arg, enum evidence evidence, enum waiting_for waiting_for)
{
    struct session *session = arg;
    session->prompt.armed = false;
    if (waiting_for == WAITING_KEY && part_answer_late(session)) {
        session_dirty(session); /* it waited for our answer, not for input: the waits go on */
        return;
    }
    BUG_UNLESS(evidence != EVIDENCE_NONE);
    if (evidence == EVIDENCE_QUIET)
        learned_silence(session);
    else if (evidence == EVIDENCE_PROMPT)
        learned_told(session);
    learned_ready(session);
    session->prompt.evidence = evidence;
    session->prompt.waiting_for = waiting_for;
    session->prompt.at_ns = loop_now_ns(session->registry->loop);
    session_dirty(session);
}

static enum shown shows_prompt(void *arg)
{
    return learned_shows(arg);
}

static struct pattern *config_pattern(const struct session *session)
{
    const char *name = journal_declared(session->journal);
    const struct config_session *declared = name ? config_session_find(session->registry->cfg, name)
                                                 : NULL;
    if (!declared || !declared->ready_pattern)
        return NULL;
    struct err err;
    struct pattern *pattern = pattern_new(declared->ready_pattern, strlen(declared->ready_pattern),
                                          &err);
    if (!pattern) /* refused when the config was read; an old journal may name a newer section */
        log_warn("[session %s] ready_pattern: %s", name, err.text);
    return pattern;
}

void prompt_start(struct session *session)
{
    if (!session->prompt.pattern)
        session->prompt.pattern = config_pattern(session);
    if (!session_is_tty(session) || session->out.fd < 0 || session->prompt.policy ||
        session->exited)
        return;
    const struct readiness_config config = {
        .raw_quiet_ms = (int)session->registry->cfg->defaults.raw_quiet_ms,
        .confined = session_sandbox(session) != NULL,
        .shows = shows_prompt};
    session->prompt.policy = readiness_new(session->registry->loop, session->out.fd,
                                           session_pid(session), &config, on_ready, session);
    if (session->input.blocked)
        readiness_hold(session->prompt.policy, true);
}

void prompt_fini(struct session *session)
{
    readiness_free(session->prompt.policy);
    session->prompt.policy = NULL;
    pattern_free(session->prompt.pattern);
    session->prompt.pattern = NULL;
}

void prompt_mark(struct session *session)
{
    session->prompt.evidence = EVIDENCE_NONE;
    session->prompt.marks++;
    session->prompt.marked_head = journal_head(session->journal);
    if (session->prompt.policy)
        readiness_mark(session->prompt.policy);
}

/* True when a match of the pattern reaches to the end of the output; what came before the last
 * write doesn't count. */
static bool end_matches(const struct session *session)
{
    uint64_t head = journal_head(session->journal);
    uint64_t from = head - session->prompt.marked_head > TAIL_BYTES ? head - TAIL_BYTES
                                                                    : session->prompt.marked_head;
    size_t size, start, at = 0;
    const char *data = journal_view(session->journal, &from, &size);
    while (data && at < size) {
        struct pattern_search search = {0};
        size_t end;
        if (pattern_search(session->prompt.pattern, &search, data + at, size - at, true, &start,
                           &end) != PATTERN_MATCH)
            return false;
        if (at + end == size)
            return true;
        at += end ? end : 1;
    }
    return false;
}

void prompt_look(struct session *session, bool output)
{
    if (output)
        learned_output(session);
    if (output && session->prompt.policy)
        readiness_output(session->prompt.policy);
    if (session->prompt.pattern && !session->exited && end_matches(session))
        session->prompt.evidence = EVIDENCE_PATTERN;
    if (session->prompt.evidence != EVIDENCE_NONE && session->prompt.policy)
        readiness_believe(session->prompt.policy);
    if (session->prompt.evidence == EVIDENCE_NONE || !session->input.held)
        return;
    /* Its first read: held input is typed now, and calls that wait for the answer wait on. */
    session_release_hold(session);
}

void prompt_forget(struct session *session)
{
    session->prompt.evidence = EVIDENCE_NONE;
}

void prompt_ask(struct session *session)
{
    session->prompt.asked = true;
}

struct prompt_mark prompt_save(const struct session *session)
{
    bool editor = session->prompt.policy && readiness_editor_began(session->prompt.policy);
    return (struct prompt_mark){.head = session->prompt.marked_head, .editor = editor};
}

void prompt_restore(struct session *session, const struct prompt_mark *mark)
{
    session->prompt.marked_head = mark->head;
    BUG_UNLESS(mark->head <= journal_head(session->journal));
    if (mark->editor)
        readiness_editor(session->prompt.policy, true);
}

void prompt_want(struct session *session, bool wanted)
{
    session->prompt.asked = false;
    if (!session->prompt.policy || session->prompt.pattern || session->exited)
        return;
    if (wanted && !session->prompt.armed)
        readiness_arm(session->prompt.policy);
    else if (!wanted && session->prompt.armed)
        readiness_disarm(session->prompt.policy);
    session->prompt.armed = wanted;
}

/* The look that has just fired counts for a moment: no second one is needed. */
const char *session_waiting_for(struct session *session)
{
    if (session->prompt.evidence != EVIDENCE_NONE && session->prompt.waiting_for != WAITING_NONE &&
        loop_now_ns(session->registry->loop) - session->prompt.at_ns < NS_PER_MS)
        return waiting_for_word(session->prompt.waiting_for);
    return session->prompt.policy && !session->exited
               ? waiting_for_word(readiness_state(session->prompt.policy))
               : NULL;
}
