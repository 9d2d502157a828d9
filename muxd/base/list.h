/* list: a doubly-linked ring whose links live in its members. Owns nothing. */
#ifndef MUXD_BASE_LIST_H
#define MUXD_BASE_LIST_H
#include "base/bug.h"
#include <stdbool.h>
#include <stddef.h>

struct list {
    /* of a head: itself while empty; of a member in no list: itself, or NULL when zeroed */
    struct list *next, *prev;
};

static inline void list_init(struct list *node)
{
    node->next = node->prev = node;
}

/* Of a member: it is in no list. */
static inline bool list_is_empty(const struct list *head)
{
    return head->next == head || !head->next;
}

/* node is in no list yet: zeroed, initialised or removed. */
static inline void list_add_after(struct list *place, struct list *node)
{
    BUG_UNLESS(place->next && list_is_empty(node));
    node->prev = place;
    node->next = place->next;
    place->next->prev = node;
    place->next = node;
}

static inline void list_append(struct list *head, struct list *node)
{
    list_add_after(head->prev, node);
}

/* Fine when node is in no list. */
static inline void list_remove(struct list *node)
{
    if (list_is_empty(node))
        return;
    BUG_UNLESS(node->prev->next == node && node->next->prev == node);
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

/* Moves all members to the head `to`, which is initialised here: members that are added while `to`
 * is worked off wait for the next round. */
static inline void list_take(struct list *from, struct list *to)
{
    list_init(to);
    if (list_is_empty(from))
        return;
    *to = *from;
    to->next->prev = to->prev->next = to;
    list_init(from);
}

#define LIST_OWNER(node, type, member) ((type *)(void *)((char *)(node) - offsetof(type, member)))
#endif
