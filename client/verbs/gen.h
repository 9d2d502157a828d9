/* gen: the files that are made from the tables of verbs: completions and the man page. The same tables give the same bytes. */
#ifndef MUXD_CLIENT_GEN_H
#define MUXD_CLIENT_GEN_H
#include "base/buf.h"
#include "wire/verb.h"
#include <stdbool.h>

void gen_bash(struct buf *out);
void gen_zsh(struct buf *out);
void gen_fish(struct buf *out);
void gen_man(struct buf *out);
void gen_events(struct buf *out);      /* parts of the man page */
void gen_errors(struct buf *out);
void gen_differences(struct buf *out);
void gen_roff(struct buf *out, const char *text); /* text as roff shows it */

/* Appends text as the inside of a shell's '…': a quote as given. bash and zsh: '\'' ; fish: \' (and \\). */
void gen_quoted(struct buf *out, const char *text, const char *quote, const char *backslash);
/* The word that `ue complete` knows for candidates of this kind; NULL: it has none. */
const char *gen_kind_word(enum complete_kind kind);
/* Sizes offered where a size is wanted, separated by blanks. */
extern const char gen_sizes[];
/* All verbs that are not hidden: for (v = gen_next(NULL); v; v = gen_next(v)). */
const struct verb *gen_next(const struct verb *last);
/* What completes an operand of the verb, counted from 0; COMPLETE_NONE beyond the last. */
enum complete_kind gen_operand(const struct verb *verb, int index);
bool gen_takes_value(const struct verb_option *option);
#endif
