/* approval: a command that waits for a person, in words: for `ue approvals`, and for all that ask
 * about it. */
#ifndef MUXD_CLIENT_APPROVAL_H
#define MUXD_CLIENT_APPROVAL_H
#include "base/buf.h"
#include "wire/json.h"

/* A text of the approval; "" when it has none. Borrowed. */
const char *approval_text(const struct json *approval, const char *key);
/* Appends lines that say what would run, where, why, and who asks. */
void approval_append_facts(struct buf *out, const struct json *approval);
/* The same, and what a yes allows. A terminal obeys nothing in them. */
void approval_append(struct buf *out, const struct json *approval);
#endif
