/* followed.c: owns who reads a session to its end, and that a program waits for that reader. It
 * stands in the journal: after a restart of the worker the reader needs a moment to come back, and
 * what the program prints meanwhile is not to push out what was not read. */
#include "base/bug.h"
#include "session/internal.h"

#define COME_BACK_MS 60000 /* those who have not come back by then have gone, too */

static void followed_settle(struct session *session)
{
    struct journal_header *header = session->journal->header;
    if (header->on_slow != SLOW_PAUSE)
        header->on_slow = session->waited_for > 0 || session->awaits_reader ? SLOW_FOLLOWED
                                                                            : SLOW_DROP;
    if (session->paused)
        session_resume(session);
}

void session_follow(struct session *session, bool followed, bool waits)
{
    BUG_UNLESS(followed || (session->followers > 0 && (!waits || session->waited_for > 0)));
    session->followers += followed ? 1u : -1u;
    session->waited_for += !waits ? 0u : followed ? 1u : -1u;
    followed_settle(session);
}

bool session_awaits_reader(const struct session *session)
{
    return session->awaits_reader;
}

static void followed_on_come_back(void *arg)
{
    struct registry *registry = arg;
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        struct session *session = LIST_OWNER(at, struct session, order);
        if (!session->awaits_reader)
            continue;
        session->awaits_reader = false;
        followed_settle(session);
    }
}

void followed_init(struct registry *registry)
{
    loop_timer_init(&registry->come_back, registry->loop, followed_on_come_back, registry);
}

void followed_adopt(struct session *session)
{
    if (session->journal->header->on_slow != SLOW_FOLLOWED)
        return;
    session->awaits_reader = true;
    if (!loop_timer_is_set(&session->registry->come_back))
        loop_timer_set_ms(&session->registry->come_back, COME_BACK_MS);
}
