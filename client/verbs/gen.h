/* gen: makes the man page of ue, and the generated parts of that of the protocol, from the tables.
 * The same tables give the same bytes. */
#ifndef MUXD_CLIENT_GEN_H
#define MUXD_CLIENT_GEN_H
#include "base/buf.h"
#include "base/err.h"
#include "wire/verb.h"

void gen_man(struct buf *out);
struct gen_part { /* of a file; a row whose name is NULL ends an array of them */
    const char *name;
    void (*append)(struct buf *out);
};
struct gen_marks { /* what stands around `begin NAME` and `end NAME` in their lines */
    const char *before, *behind;
    size_t width; /* at which lines of text in them are broken; 0: none is */
};
/* The file at name below dir with its parts made anew. 0 or ERR_SYSTEM. */
int gen_fill(struct buf *out, const char *dir, const char *name, const struct gen_marks *marks,
             const struct gen_part *parts, struct err *err);
#define GEN_LIBRARY_HEADER "client/lib/c/ue.h"
int gen_library(struct buf *out, const char *dir, struct err *err); /* the same of that header */
#define GEN_PROTOCOL_PAGE "conf/muxd.7"
/* That page below dir with its generated parts made anew. 0 or ERR_SYSTEM. */
int gen_protocol(struct buf *out, const char *dir, struct err *err);

void gen_event_list(struct buf *out); /* rows of the tables, as paragraphs with a tag */
void gen_error_list(struct buf *out);
void gen_events(struct buf *out); /* parts of the man page */
void gen_errors(struct buf *out);
void gen_differences(struct buf *out);
void gen_doctor(struct buf *out);
void gen_roff(struct buf *out, const char *text); /* escapes text for roff */

/* All verbs that are not hidden: for (v = gen_next(NULL); v; v = gen_next(v)). */
const struct verb *gen_next(const struct verb *last);
/* gen_person.c: a section of ue(1) */
extern const char gen_person[];
extern const char gen_waiting[]; /* gen_waiting.c: three more */
#endif
