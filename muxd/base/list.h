/* list: a doubly-linked ring whose links live in its members. Owns nothing. */
#ifndef MUXD_BASE_LIST_H
#define MUXD_BASE_LIST_H
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

static inline bool list_is_empty(const struct list *head) /* of a member: it is in no list */
{
    return head->next == head || !head->next;
}

static inline void list_add_after(struct list *place, struct list *node)
{
    node->prev = place;
    node->next = place->next;
    place->next->prev = node;
    place->next = node;
}

static inline void list_append(struct list *head, struct list *node)
{
    list_add_after(head->prev, node);
}

static inline void list_remove(struct list *node) /* fine when it is in none */
{
    if (list_is_empty(node))
        return;
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

/* Moves all members to another, empty head, so that what is added meanwhile waits for the next
 * round. */
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
