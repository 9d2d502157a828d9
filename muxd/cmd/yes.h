/* yes: the approvals that hold for a session: a bounded set of texts, the oldest go first. */
#ifndef MUXD_CMD_YES_H
#define MUXD_CMD_YES_H
#include <stdbool.h>

struct yes;
bool yes_has(const struct yes *set, const char *key);
void yes_add(struct yes **set, const char *key); /* *set NULL: it is made */
void yes_free(struct yes *set);                  /* NULL is fine */
#endif
