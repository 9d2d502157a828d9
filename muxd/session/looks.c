/* looks: owns what is known of the processes while sessions are being ended, and who waits to be told of it. */
#include "session/looks.h"
#include "base/mem.h"
#include "session/internal.h"
#include "session/kin.h"
#include "sys/proc.h"
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define TOLD_A_TURN 32
#define MARK_ROUNDS 100 /* a millisecond at most */
#define YOUNG_MS 1000 /* in which the numbers can't have come round */

struct looks {
    struct registry *registry;
    struct census census; /* the thread's while one is under way */
    struct list waiting, looking, telling;
    struct loop_timer timer;
    bool under_way, closing;
    bool spawning; /* a program was just being started when it was sorted */
};

struct glance {
    struct census census;
    int64_t turn_ns; /* which turn it was taken in */
};

static void census_start(const struct registry *registry, struct census *census)
{
    char *socket = xasprintf("MUXD_SOCKET=%s", registry->socket_path);
    census_init(census, "MUXD_SESSION", socket);
    free(socket);
}

/* --- whose is what --- */

static struct family_query *queries(const struct registry *registry, size_t *count)
{
    struct family_query *all = xcalloc(registry->count + 1, sizeof *all);
    *count = 0;
    for (const struct list *at = registry->order.next; at != &registry->order && *count < registry->count; at = at->next)
        all[(*count)++] = kin_query(LIST_OWNER(at, struct session, order));
    return all;
}

static bool is_spawning(const struct registry *registry)
{
    for (const struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        const struct session *session = LIST_OWNER(at, struct session, order);
        if (session_is_live(session) && session_pid(session) <= 0)
            return true;
    }
    return false;
}

/* Those that belong to nobody by any sign: children of the keeper are orphans, programs apart that are just being started; whose parent
 * is not known, or whose own mark could not be read for a moment (execve(2) replaces it), is looked at anew. */
static void sort_orphans(struct registry *registry, struct census *census, bool spawning)
{
    pid_t keeper = kin_keeper(registry);
    pid_t keeper_session = getsid(keeper); /* not by /proc, which may hide it from us (hidepid) */
    kin_own_orphans(registry, census);
    for (size_t i = census->count; i-- > 0;) {
        struct census_entry *entry = &census->all[i];
        if (entry->owner || entry->pid == keeper || entry->pid == getpid())
            continue;
        bool orphan = keeper_session > 0 && entry->ppid == keeper && entry->session != keeper_session;
        if (orphan && !spawning)
            entry->owner = kin_orphan(registry, entry->pid, entry->start_ticks);
        if (!entry->owner && (orphan || (entry->ppid > 0 && !census_find(census, entry->ppid))))
            census_doubt(census, entry);
    }
}

static bool sort_all(struct registry *registry, struct census *census)
{
    size_t count;
    struct family_query *all = queries(registry, &count);
    bool spawning = is_spawning(registry);
    family_sort(census, all, count, kin_keeper(registry));
    sort_orphans(registry, census, spawning);
    family_index(census);
    free(all);
    return spawning;
}

/* --- a look for all who wait --- */

static void tell(struct looks *looks, struct look_ask *ask)
{
    struct registry *registry = looks->registry;
    const struct session *session = registry_by_number(registry, ask->number);
    struct look look = {.sure = looks->census.exact && !looks->spawning, .spawning = looks->spawning,
                        .blind = looks->census.blind};
    family_of(&looks->census, ask->number, session ? session_pid(session) : 0, &look.family);
    ask->fn(ask->arg, &look);
    family_free(&look.family);
}

static void look_work(void *arg)
{
    struct looks *looks = arg;
    census_look(&looks->census);
}

static void look_done(void *arg)
{
    struct looks *looks = arg;
    looks->under_way = false;
    if (looks->closing)
        return;
    looks->registry->passes += looks->census.passes;
    looks->census.passes = 0;
    looks->spawning = sort_all(looks->registry, &looks->census);
    list_take(&looks->looking, &looks->telling);
    loop_timer_set_ns(&looks->timer, loop_now_ns(looks->registry->loop));
}

static void begin(struct looks *looks)
{
    list_take(&looks->waiting, &looks->looking);
    for (struct list *at = looks->looking.next; at != &looks->looking; at = at->next)
        family_look_again(&looks->census, LIST_OWNER(at, struct look_ask, link)->number);
    looks->under_way = true;
    if (loop_offload(looks->registry->loop, look_work, look_done, looks) == 0)
        return;
    look_work(looks); /* no thread to be had: the loop has to wait this time */
    look_done(looks);
}

static void on_timer(void *arg)
{
    struct looks *looks = arg;
    for (int i = 0; i < TOLD_A_TURN && !list_is_empty(&looks->telling); i++) {
        struct look_ask *ask = LIST_OWNER(looks->telling.next, struct look_ask, link);
        list_remove(&ask->link);
        tell(looks, ask);
    }
    if (!list_is_empty(&looks->telling))
        loop_timer_set_ns(&looks->timer, loop_now_ns(looks->registry->loop));
    else if (!looks->under_way && !list_is_empty(&looks->waiting))
        begin(looks);
    else if (!looks->under_way && list_is_empty(&looks->registry->kills))
        census_fini(&looks->census);
}

static struct looks *get(struct registry *registry)
{
    if (registry->looks)
        return registry->looks;
    struct looks *looks = xcalloc(1, sizeof *looks);
    looks->registry = registry;
    list_init(&looks->waiting);
    list_init(&looks->looking);
    list_init(&looks->telling);
    loop_timer_init(&looks->timer, registry->loop, on_timer, looks);
    registry->looks = looks;
    return looks;
}

void looks_ask(struct registry *registry, struct look_ask *ask)
{
    struct looks *looks = get(registry);
    list_remove(&ask->link);
    list_append(&looks->waiting, &ask->link);
    if (!looks->under_way && !looks->census.mark_name)
        census_start(registry, &looks->census);
    /* Not at once: all who ask in this turn share it. */
    if (!looks->under_way && !loop_timer_is_set(&looks->timer))
        loop_timer_set_ns(&looks->timer, loop_now_ns(registry->loop));
}

void looks_drop(struct look_ask *ask)
{
    list_remove(&ask->link);
}

void looks_done(struct registry *registry)
{
    struct looks *looks = registry->looks;
    if (looks && !loop_timer_is_set(&looks->timer))
        loop_timer_set_ns(&looks->timer, loop_now_ns(registry->loop));
}

/* --- at once --- */

static bool is_stranger(const struct census_entry *entry, pid_t keeper)
{
    return !entry->owner && !entry->mark && entry->ppid == keeper && entry->pid != getpid();
}

/* One that is being executed shows no mark for a moment (execve(2) replaces it), and this answer can't wait for a later look. */
static void await_marks(struct census *census, pid_t keeper)
{
    pid_t keeper_session = getsid(keeper);
    for (size_t i = 0; i < census->count; i++) {
        struct census_entry *entry = &census->all[i];
        for (int round = 0; round < MARK_ROUNDS && is_stranger(entry, keeper) && entry->session != keeper_session; round++) {
            sched_yield();
            entry->mark = proc_env_number(entry->pid, census->mark_name, census->mark_beside);
        }
    }
}

/* What a session that lived only for a moment has left was started after its leader: no need to look at anybody else. */
static bool look_at_young(struct session *session, struct census *census)
{
    struct registry *registry = session->registry;
    struct family_query query = kin_query(session);
    pid_t keeper = kin_keeper(registry);
    if (!session->exited || loop_now_ns(registry->loop) - session->created_ns > YOUNG_MS * NS_PER_MS ||
        !census_look_from(census, session_pid(session)))
        return false;
    await_marks(census, keeper);
    query.leader = session_pid(session); /* reaped or not: so soon the number is nobody else's, and one in its exec shows no mark */
    family_sort(census, &query, 1, keeper);
    for (size_t i = 0; i < census->count; i++)
        if (is_stranger(&census->all[i], keeper) && !is_spawning(registry))
            registry_orphan(registry, census->all[i].pid, false);
    kin_own_orphans(registry, census);
    family_index(census);
    return true;
}

static const struct census *look_at_everybody(struct registry *registry)
{
    struct glance *glance = registry->glance ? registry->glance : xcalloc(1, sizeof *glance);
    int64_t now_ns = loop_now_ns(registry->loop);
    registry->glance = glance;
    if (glance->census.mark_name && glance->turn_ns == now_ns)
        return &glance->census;
    census_fini(&glance->census);
    census_start(registry, &glance->census);
    census_look(&glance->census);
    registry->passes += glance->census.passes;
    glance->turn_ns = now_ns;
    sort_all(registry, &glance->census);
    return &glance->census;
}

void looks_now(struct session *session, struct family *out)
{
    struct census own;
    census_start(session->registry, &own);
    const struct census *census = look_at_young(session, &own) ? &own : look_at_everybody(session->registry);
    family_of(census, session_number(session), session_pid(session), out);
    census_fini(&own);
}

void looks_turn_end(struct registry *registry)
{
    struct glance *glance = registry->glance;
    if (!glance)
        return;
    census_fini(&glance->census);
    free(glance);
    registry->glance = NULL;
}

void looks_fini(struct registry *registry)
{
    struct looks *looks = registry->looks;
    looks_turn_end(registry);
    if (!looks)
        return;
    looks->closing = true;
    if (looks->under_way)
        loop_wait_offloaded(registry->loop);
    loop_timer_stop(&looks->timer);
    census_fini(&looks->census);
    free(looks);
    registry->looks = NULL;
}
