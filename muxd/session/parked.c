/* parked.c: owns the sessions for which there were no descriptors: those that a predecessor left
 * with the keeper and that this worker could not take over, and those that the keeper could not be
 * given. Neither is given up: each is tried again until it goes well. */
#include "base/limit.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/value.h"
#include "session/internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAUSE_FIRST_MS 50
#define PAUSE_MAX_MS 5000

struct parked {
    struct list link;
    uint64_t number;
    pid_t pid;
    char name[JOURNAL_NAME_MAX + 1]; /* "": there was no descriptor left even for the journal */
};

static void parked_try_again(void *arg);

void parked_init(struct registry *registry)
{
    list_init(&registry->parked);
    loop_timer_init(&registry->parked_again, registry->loop, parked_try_again, registry);
}

static void parked_drop(struct registry *registry, struct parked *parked)
{
    if (registry->asked == parked)
        registry->asked = NULL;
    list_remove(&parked->link);
    registry->nparked--;
    free(parked);
}

void parked_fini(struct registry *registry)
{
    loop_timer_stop(&registry->parked_again);
    while (!list_is_empty(&registry->parked))
        parked_drop(registry, LIST_OWNER(registry->parked.next, struct parked, link));
}

struct parked *parked_find(struct registry *registry, uint64_t number)
{
    for (struct list *at = registry->parked.next; at != &registry->parked; at = at->next)
        if (LIST_OWNER(at, struct parked, link)->number == number)
            return LIST_OWNER(at, struct parked, link);
    return NULL;
}

static void later(struct registry *registry)
{
    int64_t pause_ms = registry->parked_pause_ms ? registry->parked_pause_ms : PAUSE_FIRST_MS;
    registry->parked_pause_ms = pause_ms * 2 < PAUSE_MAX_MS ? pause_ms * 2 : PAUSE_MAX_MS;
    loop_timer_set_ms(&registry->parked_again, pause_ms);
}

static bool is_owed(const struct registry *registry)
{
    return registry->nparked > 0 || registry->nunheld > 0 || registry->transfer_unheld;
}

void parked_hurry(struct registry *registry)
{
    if (!is_owed(registry) || !registry->handed_over || registry->asked)
        return;
    registry->parked_pause_ms = 0;
    loop_timer_set_ms(&registry->parked_again, 0);
}

/* Only what is shown of it: whether it can be trusted is found out when it is taken over. */
static void read_name(struct parked *parked, int journal)
{
    struct journal_header header;
    if (journal < 0 || pread(journal, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        header.magic != JOURNAL_MAGIC || header.number != parked->number ||
        !memchr(header.name, '\0', sizeof header.name) || !value_session_name(header.name))
        return;
    memcpy(parked->name, header.name, sizeof parked->name);
}

void registry_park(struct registry *registry, uint64_t number, pid_t pid, int journal)
{
    if (number == 0) {
        struct err err;
        limit_err(&err, ERR_SYSTEM, LIMIT_HAND_OVER, EMFILE, "no descriptors to begin with");
        log_error("can't take over now, the next worker tries again: %s", err.text);
        fprintf(stderr, "muxd: %s\n", err.text); /* for who waits for the first one */
        _exit(1);
    }
    struct parked *parked = parked_find(registry, number);
    bool fresh = !parked;
    limit_met(LIMIT_HAND_OVER, EMFILE);
    if (fresh) {
        parked = xcalloc(1, sizeof *parked);
        parked->number = number;
        list_append(&registry->parked, &parked->link);
        registry->nparked++;
        number_skip_past(&registry->numbers, number);
    }
    parked->pid = pid;
    read_name(parked, journal);
    if (fresh)
        log_error("session %llu stays with the keeper: no descriptors are left for it; tried again "
                  "when some are free; end or remove "
                  "sessions, or raise the limit on open files",
                  (unsigned long long)number);
    if (registry->asked == parked)
        registry->asked = NULL;
    if (!fresh) { /* the others get their turn before it comes again */
        list_remove(&parked->link);
        list_append(&registry->parked, &parked->link);
        later(registry);
    }
}

bool registry_waits_for_parked(struct registry *registry)
{
    uint64_t busy[2] = {0, 0};
    if (registry->transfer)
        transfer_busy(registry->transfer, busy);
    for (int i = 0; i < 2; i++) {
        struct parked *parked = busy[i] ? parked_find(registry, busy[i]) : NULL;
        if (!parked || registry->asked)
            continue;
        if (registry->parked_pause_ms) /* in vain, although nothing was kept back */
            registry_park(registry, 0, 0, -1);
        registry->asked = parked;
        link_again(registry->link, parked->number, true);
    }
    return registry->asked != NULL;
}

static void clear_marks(struct session *session)
{
    if (session->unheld || session->unadopted)
        session->registry->nunheld--;
    session->unheld = session->unadopted = false;
}

static void hold_again(struct registry *registry, struct session *session)
{
    bool unadopted = session->unadopted;
    clear_marks(session);
    recover_hold(registry, session);
    if (unadopted && !session->exited && session_pid(session) > 0 && session->pidfd >= 0)
        link_adopt(registry->link, session_number(session), session_pid(session), session->pidfd);
}

static void hold_all_again(struct registry *registry)
{
    if (registry->transfer_unheld) {
        registry->transfer_unheld = false;
        recover_hold(registry, NULL);
    }
    for (struct list *at = registry->order.next; registry->nunheld > 0 && at != &registry->order;
         at = at->next) {
        struct session *session = LIST_OWNER(at, struct session, order);
        if (session->unheld || session->unadopted)
            hold_again(registry, session);
    }
}

/* What is held again may be missed again, which is told and comes back here with a longer pause. */
static void parked_try_again(void *arg)
{
    struct registry *registry = arg;
    if (!registry->link || !registry->handed_over || registry->asked)
        return;
    hold_all_again(registry);
    if (registry->nparked == 0)
        return;
    struct parked *first = LIST_OWNER(registry->parked.next, struct parked, link);
    if (link_again(registry->link, first->number, false))
        registry->asked = first;
    else
        later(registry);
}

void parked_arrived(struct registry *registry, uint64_t number)
{
    struct parked *parked = parked_find(registry, number);
    if (!parked)
        return;
    parked_drop(registry, parked);
    if (registry->handed_over)
        log_info("session %llu has been taken over", (unsigned long long)number);
    parked_hurry(registry);
}

void parked_given_up(struct registry *registry)
{
    while (!list_is_empty(&registry->parked)) {
        struct parked *parked = LIST_OWNER(registry->parked.next, struct parked, link);
        log_error(
            "session %llu is lost: the keeper died while there were no descriptors to take it over",
            (unsigned long long)parked->number);
        parked_drop(registry, parked);
    }
    registry->transfer_unheld = false;
}

void registry_missed(struct registry *registry, unsigned type, uint64_t number)
{
    struct session *session = registry_by_number(registry, number);
    limit_met(LIMIT_HAND_OVER, EMFILE);
    if (number == 0 || part_has_slot(registry, number)) {
        registry->transfer_unheld = true;
    } else if (session && !session->gone) {
        if (!session->unheld && !session->unadopted) {
            registry->nunheld++;
            log_error("session %llu would not survive a crash of muxd: no descriptors are left for "
                      "it at the keeper; tried again; raise "
                      "the limit on open files",
                      (unsigned long long)number);
        }
        session->unheld |= type == KEEP_HOLD;
        session->unadopted |= type == KEEP_ADOPT;
    }
    if (is_owed(registry) && !loop_timer_is_set(&registry->parked_again))
        later(registry);
}

void parked_forget(struct session *session)
{
    clear_marks(session);
    parked_hurry(session->registry); /* one that goes leaves descriptors behind */
}

bool parked_is_meant(struct registry *registry, const char *word, struct err *err)
{
    int64_t number;
    bool is_number = value_int(word, 0, INT64_MAX, &number);
    for (struct list *at = registry->parked.next; at != &registry->parked; at = at->next) {
        const struct parked *parked = LIST_OWNER(at, struct parked, link);
        if (is_number ? parked->number != (uint64_t)number
                      : parked->name[0] && strcmp(parked->name, word) != 0)
            continue;
        if (is_number || parked->name[0])
            err_set(err, ERR_LIMIT,
                    "session '%.80s' runs on, but there are no free descriptors to reach it; end "
                    "or remove other sessions, "
                    "or raise the limit on open files",
                    word);
        else
            err_set(err, ERR_LIMIT,
                    "no session '%.80s' can be reached: there are no free descriptors to see all "
                    "of them; use its number, "
                    "end or remove other sessions, or raise the limit on open files",
                    word);
        return true;
    }
    return false;
}

void registry_each_parked(struct registry *registry,
                          void (*fn)(void *arg, uint64_t number, const char *name, pid_t pid),
                          void *arg)
{
    for (struct list *at = registry->parked.next; at != &registry->parked; at = at->next) {
        const struct parked *parked = LIST_OWNER(at, struct parked, link);
        fn(arg, parked->number, parked->name, parked->pid);
    }
}

bool session_is_unheld(const struct session *session)
{
    return session->unheld || session->unadopted;
}
