/* complete: what can stand at the end of a command line, for the completions of the shells
 * (completions/), which ask
 *
 *     ue complete zsh|fish WORD…        the words behind `ue` up to the cursor; the last one is
 *                                       being typed
 *     ue complete bash TYPE WORD LINE   $COMP_TYPE, $2 (what readline replaces), and the line up
 *                                       to the cursor
 *
 * Answer: a line "KIND LEAD SKIP", then the candidates, a line each. KIND: words; open (no blank
 * follows); file, dir, command: the shell completes these itself. LEAD: characters of the typed
 * word before the value ("--signal="). SKIP: for command, words on the line before it. zsh:
 * "WORD<tab>DESCRIPTION" without the lead; fish: the same with the lead; bash: a line with the
 * value as it is meant, then words ready for COMPREPLY, of which readline's part alone is left. */
#ifndef MUXD_CLIENT_COMPLETE_H
#define MUXD_CLIENT_COMPLETE_H
#include "base/buf.h"
#include "client/rpc/ue.h"
#include "wire/verb.h"

#define COMPLETE_OPTIONS_MAX 64

struct place { /* of the word that is typed */
    const struct verb *verb;          /* NULL: none yet; &verbs[VERB_GLOBAL]: an unknown one */
    const struct verb_option *option; /* whose value it is; NULL: none */
    bool wants_option;                /* it begins like one */
    size_t operand;                   /* else its number among the operands */
    size_t command;                   /* where the first operand stands among the words */
    /* as far as it is typed; of a value what is behind the lead */
    const char *word;
    size_t lead;
    const struct verb_option *given[COMPLETE_OPTIONS_MAX];
    size_t given_count;
    const char *socket;               /* -S; NULL: none */
    const char *const *words;         /* all; borrowed */
    size_t count;
};

/* words: count of them, at least one, without ue itself; the last one is typed. */
void place_find(struct place *place, const char *const *words, size_t count);
/* What completes it; COMPLETE_NONE for options, verbs, and what nothing is known about. */
enum complete_kind place_kind(const struct place *place);
/* The same for an operand of the verb, counted from 0. */
enum complete_kind place_operand_kind(const struct verb *verb, size_t index);

struct candidates {
    struct candidate {
        char *word, *description; /* owned */
    } *list;                      /* owned */
    size_t count;
};
/* each word once */
void candidates_add(struct candidates *all, const char *word, const char *description);
void candidates_remove(struct candidates *all, const char *word);
void candidates_fini(struct candidates *all);
/* What the tables know: verbs, options, values. What stands on the line already is left out. */
void candidates_of_place(struct candidates *all, const struct place *place);

/* The line as a shell cuts it at blanks, without quotes; an array that ends with NULL, freed by
 * strv_free. */
char **bash_words(const char *line);
char *bash_unquote(const char *word); /* the caller's */

enum complete_shell { COMPLETE_ZSH, COMPLETE_FISH, COMPLETE_BASH };
struct asked {
    enum complete_shell shell;
    bool lists;         /* bash: shows them only, with descriptions */
    const char *behind; /* bash: what readline replaces */
};
void complete_append(struct buf *out, const struct asked *asked, const struct place *place,
                     const struct candidates *all);
#endif
