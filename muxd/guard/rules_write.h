/* rules_write: a rule that was read from a rules file of Codex, as a section of muxd.ini. Pure. */
#ifndef MUXD_GUARD_RULES_WRITE_H
#define MUXD_GUARD_RULES_WRITE_H
#include "base/buf.h"
#include "base/strv.h"
#include <stdbool.h>

struct import_rule {
    struct strv prefix, match, not_match;     /* a word of prefix may be "a|b" */
    char *decision, *justification, *program; /* program, paths: of host_executable */
    struct strv paths;
    int line;
};

/* Appends the section [rule imported-LINE]; paths: host_executable of its first word. False and why
 * appended, nothing in out: muxd.ini would not take it, or would take it for another rule, or its
 * own examples contradict it. */
bool rules_write(const struct import_rule *rule, const struct strv *paths, struct buf *out,
                 struct buf *why);
#endif
