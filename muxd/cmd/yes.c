/* yes: owns the set of approvals for sessions. */
#include "cmd/yes.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define YES_MAX 256

struct yes {
    char *keys[YES_MAX]; /* owned; a ring */
    unsigned next;
};

bool yes_has(const struct yes *set, const char *key)
{
    for (unsigned i = 0; i < YES_MAX; i++)
        if (set->keys[i] && strcmp(set->keys[i], key) == 0)
            return true;
    return false;
}

void yes_add(struct yes **set, const char *key)
{
    if (!*set)
        *set = xcalloc(1, sizeof **set);
    if (yes_has(*set, key))
        return;
    char **slot = &(*set)->keys[(*set)->next++ % YES_MAX];
    free(*slot);
    *slot = xstrdup(key);
}

void yes_free(struct yes *set)
{
    for (unsigned i = 0; set && i < YES_MAX; i++)
        free(set->keys[i]);
    free(set);
}
