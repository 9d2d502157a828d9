/* gen: makes the man page of ue from the tables. The same tables give the same bytes. */
#ifndef MUXD_CLIENT_GEN_H
#define MUXD_CLIENT_GEN_H
#include "base/buf.h"
#include "wire/verb.h"

void gen_man(struct buf *out);
void gen_events(struct buf *out);      /* parts of the man page */
void gen_errors(struct buf *out);
void gen_differences(struct buf *out);
void gen_roff(struct buf *out, const char *text); /* escapes text for roff */

/* All verbs that are not hidden: for (v = gen_next(NULL); v; v = gen_next(v)). */
const struct verb *gen_next(const struct verb *last);
#endif
