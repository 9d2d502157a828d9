/* index.c: owns finding a session by number, name or request without looking at the others, and who
 * holds a name: a live session before an ended one, the younger before the older. */
#include "base/bug.h"
#include "base/mem.h"
#include "session/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t table_hash_number(uint64_t number)
{
    return number * 0x9E3779B97F4A7C15u; /* 2^64 / golden ratio: spreads consecutive numbers */
}

/* Mixed again, because tables use the upper bits. Names come from the owner of the daemon only, who
 * would hurt only themselves by chosen collisions. */
uint64_t table_hash_text(const char *text)
{
    return table_hash_number(journal_hash(text));
}

static struct session **bucket_of(const struct table *table, uint64_t hash)
{
    return &table->buckets[(hash >> 32) & (table->size - 1)];
}

static void link_in(struct table *table, struct session *session)
{
    struct session **bucket = bucket_of(table, session->chains[table->id].hash);
    session->chains[table->id].next = *bucket;
    *bucket = session;
}

static void index_grow(struct table *table)
{
    struct table bigger = {
        .id = table->id, .count = table->count, .size = table->size ? table->size * 2 : 64};
    bigger.buckets = xcalloc(bigger.size, sizeof(struct session *));
    for (size_t i = 0; i < table->size; i++) {
        struct session *next;
        for (struct session *at = table->buckets[i]; at; at = next) {
            next = at->chains[table->id].next;
            link_in(&bigger, at);
        }
    }
    free(table->buckets);
    *table = bigger;
}

static void table_add(struct table *table, struct session *session, uint64_t hash)
{
    struct chain *chain = &session->chains[table->id];
    BUG_UNLESS(!chain->in);
    if (table->count >= table->size)
        index_grow(table);
    chain->hash = hash;
    chain->in = true;
    link_in(table, session);
    table->count++;
}

void table_remove(struct table *table, struct session *session)
{
    struct chain *chain = &session->chains[table->id];
    if (!chain->in)
        return;
    struct session **at = bucket_of(table, chain->hash);
    while (*at && *at != session)
        at = &(*at)->chains[table->id].next;
    BUG_UNLESS(*at == session && table->count > 0);
    *at = chain->next;
    *chain = (struct chain){0};
    table->count--;
}

static struct session *match(const struct table *table, struct session *at, uint64_t hash)
{
    while (at && at->chains[table->id].hash != hash)
        at = at->chains[table->id].next;
    return at;
}

struct session *table_first(const struct table *table, uint64_t hash)
{
    return table->size ? match(table, *bucket_of(table, hash), hash) : NULL;
}

struct session *table_next(const struct table *table, const struct session *session)
{
    const struct chain *chain = &session->chains[table->id];
    return match(table, chain->next, chain->hash);
}

void index_init(struct registry *registry)
{
    for (int i = 0; i < TABLE_COUNT; i++)
        registry->tables[i].id = (enum table_id)i;
}

void index_fini(struct registry *registry)
{
    for (int i = 0; i < TABLE_COUNT; i++) {
        free(registry->tables[i].buckets);
        registry->tables[i] = (struct table){.id = (enum table_id)i};
    }
}

struct session *index_by_name(struct registry *registry, const char *name)
{
    struct table *table = &registry->tables[TABLE_NAME];
    struct session *at = table_first(table, table_hash_text(name));
    while (at && strcmp(session_name(at), name) != 0)
        at = table_next(table, at);
    return at;
}

void index_take_name(struct registry *registry, struct session *session)
{
    struct table *table = &registry->tables[TABLE_NAME];
    struct session *holder = index_by_name(registry, session_name(session));
    if (holder == session)
        return;
    /* A live one keeps it; of two ended ones the younger has it. */
    if (holder) {
        if (session_is_live(holder) ||
            (!session_is_live(session) && session_number(holder) > session_number(session)))
            return;
        table_remove(table, holder);
    }
    table_remove(table, session);
    table_add(table, session, table_hash_text(session_name(session)));
}

void index_give_back(struct registry *registry, const char *name)
{
    if (index_by_name(registry, name))
        return;
    for (struct list *at = registry->order.prev; at != &registry->order; at = at->prev) {
        struct session *session = LIST_OWNER(at, struct session, order);
        if (strcmp(session_name(session), name) == 0) {
            index_take_name(registry, session);
            return;
        }
    }
}

uint64_t index_reserved(const struct journal *journal)
{
    return journal->header->ring_size + journal->header->head_size +
           4 * journal->header->kept_size;
}

void index_add(struct registry *registry, struct session *session)
{
    table_add(&registry->tables[TABLE_NUMBER], session, table_hash_number(session_number(session)));
    if (session->journal->header->request_hash)
        table_add(&registry->tables[TABLE_REQUEST], session,
                  session->journal->header->request_hash);
    index_take_name(registry, session);
    /* A new number is the highest; only a hand-over has to look further. */
    struct list *place = registry->order.prev;
    while (place != &registry->order &&
           session_number(LIST_OWNER(place, struct session, order)) > session_number(session))
        place = place->prev;
    list_add_after(place, &session->order);
    registry->count++;
    session->reserved_bytes = index_reserved(session->journal);
    registry->reserved_bytes += session->reserved_bytes;
}

void index_remove(struct registry *registry, struct session *session)
{
    for (int i = 0; i < TABLE_COUNT; i++)
        table_remove(&registry->tables[i], session);
    BUG_UNLESS(registry->count > 0 && registry->reserved_bytes >= session->reserved_bytes);
    list_remove(&session->order);
    registry->count--;
    registry->reserved_bytes -= session->reserved_bytes;
}

void index_count_live(struct registry *registry, int by)
{
    BUG_UNLESS(by > 0 || registry->live >= (unsigned)-by);
    registry->live += (unsigned)by;
}

static bool is_free(struct registry *registry, const char *name)
{
    const struct session *holder = index_by_name(registry, name);
    return !holder || !session_is_live(holder);
}

static void with_suffix(const char *base, unsigned suffix, char out[JOURNAL_NAME_MAX + 1])
{
    char text[16];
    int len = snprintf(text, sizeof text, "-%u", suffix);
    snprintf(out, JOURNAL_NAME_MAX + 1, "%.*s%s", JOURNAL_NAME_MAX - len, base, text);
}

/* A free suffix whose predecessor is taken: doubling, then halving finds it in a logarithm of
 * steps. It is the lowest free one, unless names in between were given back. */
void index_pick_name(struct registry *registry, const char *base, char out[JOURNAL_NAME_MAX + 1])
{
    snprintf(out, JOURNAL_NAME_MAX + 1, "%s", base);
    if (is_free(registry, out))
        return;
    unsigned taken = 1, candidate = 2;
    for (bool found = false; !found || candidate - taken > 1;) {
        unsigned probe = found ? taken + (candidate - taken) / 2 : candidate;
        with_suffix(base, probe, out);
        if (is_free(registry, out)) {
            found = true;
            candidate = probe;
        } else {
            taken = probe;
            candidate = found ? candidate : 2 * probe;
        }
    }
    with_suffix(base, candidate, out);
}

struct session *registry_by_number(struct registry *registry, uint64_t number)
{
    struct table *table = &registry->tables[TABLE_NUMBER];
    struct session *at = table_first(table, table_hash_number(number));
    while (at && session_number(at) != number)
        at = table_next(table, at);
    return at;
}

struct session *registry_by_request(struct registry *registry, uint64_t request_hash)
{
    return request_hash ? table_first(&registry->tables[TABLE_REQUEST], request_hash) : NULL;
}

void registry_each(struct registry *registry, bool live_only,
                   bool (*fn)(void *arg, struct session *session), void *arg)
{
    struct list *next;
    for (struct list *at = registry->order.next; at != &registry->order; at = next) {
        next = at->next;
        struct session *session = LIST_OWNER(at, struct session, order);
        if ((!live_only || session_is_live(session)) && !fn(arg, session))
            return;
    }
}
