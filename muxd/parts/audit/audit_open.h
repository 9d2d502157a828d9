/* audit_open: what the end of the audit's file has a begin of, and no end: commands and patches
 * that have begun, questions, and yeses. A worker that dies in between leaves them. For this room
 * only. */
#ifndef MUXD_PARTS_AUDIT_AUDIT_OPEN_H
#define MUXD_PARTS_AUDIT_AUDIT_OPEN_H
#include "parts/audit/audit_file.h"
#include <sys/types.h>

enum audit_open_kind {
    AUDIT_OPEN_BEGUN, /* "ID.begin" without "ID.end" */
    AUDIT_OPEN_ASKED, /* a question without an answer */
    AUDIT_OPEN_YES,   /* a yes by which nothing has begun, and that did not fail */
};
/* id: that of the begin, without ".begin", or the approval's; line: the one that opened it. */
typedef void audit_open_fn(void *arg, enum audit_open_kind kind, const char *id, const char *line);
/* Calls fn for each of them whose line has this text, the oldest first. */
void audit_open_each(const struct audit_file *file, const char *with, audit_open_fn *fn, void *arg);
#endif
