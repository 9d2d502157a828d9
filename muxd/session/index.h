/* index: finding a session by number, name or request, and who holds a name. For this room only. */
#ifndef MUXD_SESSION_INDEX_H
#define MUXD_SESSION_INDEX_H
#include "journal/journal.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct registry;
struct session;

/* Hash tables whose chains run through the sessions. */
enum table_id { TABLE_NUMBER, TABLE_NAME, TABLE_REQUEST, TABLE_COUNT };
struct chain {
    struct session *next;
    uint64_t hash;
    bool in;
};
struct table {
    struct session **buckets;
    size_t size, count;
    enum table_id id;
};

uint64_t table_hash_text(const char *text);
uint64_t table_hash_number(uint64_t number);
void table_remove(struct table *table, struct session *session);
struct session *table_first(const struct table *table, uint64_t hash);
struct session *table_next(const struct table *table, const struct session *session);
void index_init(struct registry *registry);
void index_fini(struct registry *registry);
/* Enters it under all its keys; an ended holder of the name gives the name up. */
void index_add(struct registry *registry, struct session *session);
/* `by` more (or less) sessions are live */
void index_count_live(struct registry *registry, int by);
void index_remove(struct registry *registry, struct session *session);
/* the bytes that it counts for in [limits] journal_total */
uint64_t index_reserved(const struct journal *journal);
/* the session that holds it, live or ended; NULL */
struct session *index_by_name(struct registry *registry, const char *name);
void index_take_name(struct registry *registry, struct session *session);
/* Its holder has never started: who had it before has it again. */
void index_give_back(struct registry *registry, const char *name);
/* base, base-2… */
void index_pick_name(struct registry *registry, const char *base, char out[JOURNAL_NAME_MAX + 1]);
#endif
