/* waiter.c: owns waits: sets of conditions, the first of which to come true ends the wait. The
 * waits of a session that was marked are looked at, at the end of the turn; each has one timer. */
#include "base/bug.h"
#include "base/mem.h"
#include "session/internal.h"
#include <stdlib.h>

#define SETTLED_BYTES (1u << 20) /* an empty poll doesn't wait for silence beyond this much */

struct wait {
    struct list link; /* of the session, while it has not fired */
    struct deferred fired;
    struct registry *registry;
    struct session *session; /* NULL: fired */
    struct wait_spec spec;
    wait_fn *fn;
    void *arg;
    struct wait_result result;
    struct loop_timer timer;
    int64_t begun_ns;
    struct race *race; /* owned; NULL: no pattern is waited for */
    bool has_aim;          /* it has a pattern that doesn't fail */
};

static void waiter_on_timer(void *arg)
{
    struct wait *wait = arg;
    session_dirty(wait->session);
}

static void waiter_on_fired(void *arg)
{
    struct wait *wait = arg;
    struct wait_result result = wait->result;
    wait_fn *fn = wait->fn;
    void *fn_arg = wait->arg;
    wait->result.match = NULL; /* its owner's from now on */
    wait_cancel(wait);         /* and that hears of it when it is gone */
    fn(fn_arg, &result);
}

int waiter_take_place(struct registry *registry, struct err *err)
{
    if (registry->waits >= (unsigned)registry->cfg->limits.waits)
        return err_set(
            err, ERR_LIMIT,
            "%u calls are waiting already, which is [limits] 'waits'; end some or raise it",
            registry->waits);
    registry->waits++;
    return 0;
}

unsigned registry_waits(const struct registry *registry)
{
    return registry->waits;
}

void waiter_give_place(struct registry *registry)
{
    BUG_UNLESS(registry->waits > 0);
    registry->waits--;
}

struct wait *session_wait(struct session *session, const struct wait_spec *spec, wait_fn *fn,
                          void *arg, struct err *err)
{
    struct registry *registry = session->registry;
    BUG_UNLESS(fn && !session->gone);
    if (waiter_take_place(registry, err) != 0)
        return NULL;
    struct wait *wait = xcalloc(1, sizeof *wait);
    wait->registry = registry;
    wait->session = session;
    wait->spec = *spec;
    wait->fn = fn;
    wait->arg = arg;
    wait->fired = (struct deferred){.fn = waiter_on_fired, .arg = wait};
    if (spec->sought.count > 0) {
        wait->race = race_new(&spec->sought, spec->from);
        wait->has_aim = race_has_aim(wait->race);
    }
    wait->begun_ns = loop_now_ns(registry->loop);
    loop_timer_init(&wait->timer, registry->loop, waiter_on_timer, wait);
    list_append(&session->waits, &wait->link);
    session_dirty(session);
    return wait;
}

void wait_cancel(struct wait *wait)
{
    if (!wait)
        return;
    if (wait->session)
        session_dirty(wait->session); /* it may have been the last that waits for ready */
    list_remove(&wait->link);
    defer_cancel(&wait->fired);
    loop_timer_stop(&wait->timer);
    waiter_give_place(wait->registry);
    race_free(wait->race);
    race_match_free(wait->result.match);
    free(wait);
}

static void waiter_fire(struct wait *wait, enum wait_reason reason)
{
    BUG_UNLESS(wait->session);
    wait->result.reason = reason;
    wait->session = NULL;
    loop_timer_stop(&wait->timer);
    list_remove(&wait->link);
    registry_defer(wait->registry, &wait->fired);
}

void waiter_end_all(struct session *session)
{
    while (!list_is_empty(&session->waits))
        waiter_fire(LIST_OWNER(session->waits.next, struct wait, link), WAIT_STOPPING);
}

/* Whether ready ends the wait now: beside a pattern it counts only once that has matched. */
static bool wait_wants_ready(const struct wait *wait)
{
    return wait->spec.ready && (!wait->has_aim || wait->result.match);
}

static bool wait_searches(const struct wait *wait)
{
    return wait->race && race_is_on(wait->race);
}

enum until { UNTIL_FIRED, UNTIL_SEARCHES, UNTIL_NOT_YET };

/* A match ends the wait, or begins the wait for ready, unless it is one of what must not come. */
static enum until until_matched(struct wait *wait, struct race_match *match)
{
    bool fails = wait->spec.sought.patterns[match->index].fails;
    race_match_free(wait->result.match);
    wait->result.match = match;
    if (!fails && wait->spec.ready)
        return UNTIL_NOT_YET;
    waiter_fire(wait, fails ? WAIT_FAIL_ON : WAIT_UNTIL);
    return UNTIL_FIRED;
}

/* UNTIL_SEARCHES: not all that was printed has been searched; another turn goes on with it. */
static enum until look_until(struct wait *wait)
{
    struct race_match *match;
    while (wait_searches(wait)) {
        switch (race_look(wait->race, wait->session, &match, &wait->result.costly)) {
        case RACE_FOUND:
            if (until_matched(wait, match) == UNTIL_FIRED)
                return UNTIL_FIRED;
            continue; /* the patterns that fail are left */
        case RACE_COSTLY: waiter_fire(wait, WAIT_COSTLY); return UNTIL_FIRED;
        case RACE_GOES_ON:
            loop_timer_set_ns(&wait->timer, loop_now_ns(wait->registry->loop));
            return UNTIL_SEARCHES;
        case RACE_NOTHING: return UNTIL_NOT_YET;
        }
    }
    return UNTIL_NOT_YET;
}

/* When silence ends the wait; INT64_MAX: never. */
static int64_t silence_due(const struct wait *wait)
{
    const struct session *session = wait->session;
    int64_t due = INT64_MAX;
    if (wait->spec.quiet_ms >= 0) {
        int64_t since = session->last_output_ns > wait->begun_ns ? session->last_output_ns
                                                                 : wait->begun_ns;
        due = wait->spec.quiet_ms > (INT64_MAX - since) / NS_PER_MS
                  ? INT64_MAX
                  : since + wait->spec.quiet_ms * NS_PER_MS;
    }
    uint64_t head = journal_head(session->journal);
    if (wait->spec.settle && head > wait->spec.from) {
        int64_t settled = head - wait->spec.from >= SETTLED_BYTES
                              ? 0
                              : session->last_output_ns +
                                    session->registry->cfg->defaults.quiet_settle_ms * NS_PER_MS;
        due = settled < due ? settled : due;
    }
    return due;
}

/* Until when the output of an ended session counts as incomplete, because programs that it has left
 * hold it open; 0: it is complete. */
static int64_t linger_due(const struct wait *wait)
{
    const struct session *session = wait->session;
    if (wait->spec.linger_ms <= 0 || session->exit.ns == 0 || !session_is_open(session))
        return 0;
    return session->exit.ns + wait->spec.linger_ms * NS_PER_MS;
}

/* When what may be an echo counts as output, unless more comes. */
static int64_t echo_due(const struct wait *wait)
{
    return wait_searches(wait) ? echoes_due_ns(wait->session) : INT64_MAX;
}

/* Exit races always. A pattern in what was printed comes before the exit, ready and silence that
 * follow it, however long the search takes; the deadline waits for nothing. */
static bool wait_look(struct wait *wait, int64_t now)
{
    const struct session *session = wait->session;
    enum until until = look_until(wait);
    if (until == UNTIL_FIRED)
        return true;
    if (until == UNTIL_SEARCHES) {
        if (wait->spec.deadline_ns <= now)
            waiter_fire(wait, WAIT_DEADLINE);
        return wait->spec.deadline_ns <= now;
    }
    int64_t silence = silence_due(wait), linger = linger_due(wait);
    if (session->finished && linger <= now)
        waiter_fire(wait, WAIT_EXIT);
    else if (wait_wants_ready(wait) && session->prompt.evidence != EVIDENCE_NONE) {
        wait->result.evidence = session->prompt.evidence;
        waiter_fire(wait, WAIT_READY);
    } else if (silence <= now && !session_io_unread(wait->session))
        waiter_fire(wait, WAIT_QUIET);
    else if (wait->spec.deadline_ns <= now)
        waiter_fire(wait, WAIT_DEADLINE);
    else {
        int64_t due = silence < wait->spec.deadline_ns ? silence : wait->spec.deadline_ns;
        due = session->finished && linger < due ? linger : due;
        due = echo_due(wait) < due ? echo_due(wait) : due;
        /* Output puts silence off. The timer stays where it is and looks again if it was early. */
        if (due != INT64_MAX && (!loop_timer_is_set(&wait->timer) || wait->timer.due_ns > due))
            loop_timer_set_ns(&wait->timer, due);
        return false;
    }
    return true;
}

void waiter_look(struct session *session)
{
    int64_t now = loop_now_ns(session->registry->loop);
    bool wanted = session->input.hold_wanted || session->prompt.asked;
    struct list *next;
    session->searched = false;
    for (struct list *at = session->waits.next; at != &session->waits; at = next) {
        next = at->next;
        struct wait *wait = LIST_OWNER(at, struct wait, link);
        if (wait_look(wait, now))
            continue;
        wanted |= wait_wants_ready(wait);
        session->searched |= wait_searches(wait);
    }
    prompt_forget(session);
    prompt_want(session, wanted);
}

const char *wait_reason_word(enum wait_reason reason)
{
    static const char *const words[] = {"exit",     "until",    "ready", "quiet",
                                        "deadline", "stopping", "costly", "fail_on"};
    return (size_t)reason < sizeof words / sizeof words[0] ? words[reason] : "deadline";
}

const char *evidence_word(enum evidence evidence)
{
    switch (evidence) {
    case EVIDENCE_LINE_EDITOR: return "line_editor";
    case EVIDENCE_LINE_READ: return "line_read";
    case EVIDENCE_SECRET: return "secret";
    case EVIDENCE_QUIET: return "quiet";
    case EVIDENCE_PROMPT: return "prompt";
    case EVIDENCE_PATTERN: return "pattern";
    case EVIDENCE_MARKS: return "marks";
    case EVIDENCE_NONE: break;
    }
    return NULL;
}
