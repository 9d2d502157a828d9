/* followed.c: owns who reads a session to its end, and whether its program waits for that one. Its
 * process stands in the journal: a worker's successor has the program wait until that process has
 * come back or has ended, and what is printed meanwhile pushes out nothing.
 *
 * The place of the follower is what it says that it has, and what was delivered to it. A worker may
 * die when it has delivered, and before it has noted anything; the follower's next request says it
 * again, so that it never waits for a program that waits for it. */
#include "base/bug.h"
#include "base/log.h"
#include "session/internal.h"
#include "sys/proc.h"

#define LOOK_MS 250
#define PASSING (UINT64_C(1) << 63) /* its program waits for it after a restart only */
#define UNKNOWN 1 /* a process that can't be seen, for example in another container */
/* So long who may not come back is waited for at most, as nothing else ends that. */
#define PASSING_NS (5000 * NS_PER_MS)
#define UNKNOWN_NS (60000 * NS_PER_MS)

/* The number and the time of its start, which tell it from all others. */
static uint64_t follower_of(pid_t pid, const struct proc_stat *stat)
{
    return (uint64_t)pid << 32 | (uint32_t)stat->start_ticks;
}

uint64_t session_follower(pid_t pid, bool waits)
{
    struct proc_stat stat;
    uint64_t follower = pid > 0 && proc_stat(pid, &stat) ? follower_of(pid, &stat) : UNKNOWN;
    return follower | (waits ? 0 : PASSING);
}

/* Whether it may still come back. */
static bool follower_lives(const struct registry *registry, uint64_t follower)
{
    struct proc_stat stat;
    int64_t waited_ns = loop_now_ns(registry->loop) - registry->come_back_ns;
    uint64_t process = follower & ~PASSING;
    pid_t pid = (pid_t)(process >> 32);
    if (((follower & PASSING) && waited_ns >= PASSING_NS) ||
        (process == UNKNOWN && waited_ns >= UNKNOWN_NS))
        return false;
    proc_was_blind();
    if (process == UNKNOWN || !proc_stat(pid, &stat))
        return process == UNKNOWN || proc_was_blind();
    return follower_of(pid, &stat) == process && !proc_is_dead(&stat);
}

static uint64_t followed_by(const struct session *session)
{
    return journal_follower(session->journal->header);
}

/* Of several that pass by one is known. */
static void followed_begin(struct session *session, uint64_t follower)
{
    uint64_t before = followed_by(session);
    if (before && before != follower && (follower & PASSING))
        return;
    session->awaiting &= before == follower && (follower & PASSING); /* until it has an answer */
    if (before == follower)
        return;
    session->follower_at = 0;
    journal_set_follower(session->journal->header, follower);
}

static void followed_end(struct session *session)
{
    journal_set_follower(session->journal->header, 0);
    session->awaiting = false;
}

void session_follow(struct session *session, bool followed, uint64_t follower)
{
    BUG_UNLESS(followed || session->followers > 0);
    session->followers += followed ? 1u : -1u;
    if (followed && follower)
        followed_begin(session, follower);
    else if (follower && follower == followed_by(session))
        followed_end(session);
    session_resume(session);
}

bool session_is_awaiting(const struct session *session)
{
    return session->awaiting;
}

bool session_awaits(const struct session *session, uint64_t follower)
{
    return session->awaiting && followed_by(session) == follower;
}

void session_follower_at(struct session *session, uint64_t follower, uint64_t at, bool delivered)
{
    uint64_t head = journal_head(session->journal);
    if (follower == 0 || follower != followed_by(session))
        return;
    session->awaiting &= !delivered;
    session->follower_at = at < head ? at : head;
    session_resume(session);
}

bool followed_waits(const struct session *session)
{
    uint64_t follower = followed_by(session);
    return follower != 0 && (!(follower & PASSING) || session->awaiting);
}

static void followed_on_look(void *arg)
{
    struct registry *registry = arg;
    bool more = false;
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        struct session *session = LIST_OWNER(at, struct session, order);
        if (session->gone || !session->awaiting)
            continue;
        if (follower_lives(registry, followed_by(session))) {
            more = true;
            continue;
        }
        log_info("session %llu: who read its output before the worker's restart does not come "
                 "back; it waits for nobody any more",
                 (unsigned long long)session_number(session));
        followed_end(session);
        session_resume(session);
    }
    if (more)
        loop_timer_set_ms(&registry->come_back, LOOK_MS);
}

void followed_init(struct registry *registry)
{
    loop_timer_init(&registry->come_back, registry->loop, followed_on_look, registry);
}

void followed_fini(struct registry *registry)
{
    loop_timer_stop(&registry->come_back);
}

void followed_adopt(struct session *session)
{
    struct registry *registry = session->registry;
    session->awaiting = followed_by(session) != 0;
    session->follower_at = journal_tail(session->journal); /* it may need all that is there */
    if (!session->awaiting || loop_timer_is_set(&registry->come_back))
        return;
    registry->come_back_ns = loop_now_ns(registry->loop);
    loop_timer_set_ms(&registry->come_back, LOOK_MS);
}
