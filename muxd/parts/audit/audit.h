/* audit: what goes on record ([audit] in the config): who has started, or was refused, which
 * command, by whose decision, and how it ended. A line is written before what it tells is done:
 * what can't be written is refused. A thread then waits for the disk (fsync(2)), so that the loop
 * does not.
 *
 * A record has an id, the first member of its line. Those of a session are "NUMBER.begin" and
 * "NUMBER.end". The journal says whether the end is owed, so that a successor writes it, once.
 * Nothing of a record comes from input or an environment; a staged secret is blotted out. */
#ifndef MUXD_PARTS_AUDIT_H
#define MUXD_PARTS_AUDIT_H
#include "base/err.h"
#include "session/part.h"
#include "wire/json.h"

extern const struct part audit_part;

/* Whether such a thing goes on record. judged: a policy, a rule or a person has decided it. */
bool audit_wants(const struct registry *registry, bool judged);
#define AUDIT_ID_MAX 48
void audit_new_id(struct registry *registry, char out[AUDIT_ID_MAX]);
/* A record that is no session's. what: "asked", "refused" …; facts: its members but id, time and
 * record, borrowed. id: NULL: a new one. 0 or ERR_AUDIT. */
int audit_write(struct registry *registry, const char *what, const char *id,
                const struct json *facts, struct err *err);
/* Adds "command", cut after 64 KiB ("command_cut"). argv may be NULL: it has no words. */
void audit_add_command(struct json *facts, char *const *argv);
/* What `ue status` says. */
void audit_status(const struct registry *registry, struct json *into);

/* Appends text to out without the secrets that are known to this daemon; false: there is none in
 * it. */
typedef bool audit_hide_fn(struct registry *registry, const char *text, size_t size,
                           struct buf *out);
void audit_join(struct registry *registry, audit_hide_fn *hide);
#endif
