/* complete: the words that can stand at the end of a command line, for the shells' completions
 * (completions/), which ask
 *
 *     ue complete zsh|fish WORD…        the words behind `ue`; the last one, at the cursor, is
 *                                       not finished
 *     ue complete bash TYPE WORD LINE   $COMP_TYPE, $2 (what readline replaces), and the line up
 *                                       to the cursor
 *
 * The answer is a line "KIND LEAD SKIP" and a line for each candidate. KIND: words; open (no blank
 * follows); file, dir, command (the shell completes these itself). LEAD: characters of the typed
 * word before the value ("--signal="). SKIP: for command, the words before it. Candidates for zsh:
 * "WORD<tab>DESCRIPTION" without the lead; fish: the same with the lead; bash: first a line with
 * the unquoted value, then words for COMPREPLY, each only the part that readline replaces. */
#ifndef MUXD_CLIENT_COMPLETE_H
#define MUXD_CLIENT_COMPLETE_H
#include "base/buf.h"
#include "client/rpc/ue.h"
#include "wire/verb.h"

#define COMPLETE_OPTIONS_MAX 64

struct place { /* of the word at the cursor */
    const struct verb *verb;          /* NULL: none yet; &verbs[VERB_GLOBAL]: an unknown one */
    const struct verb_option *option; /* the word is its value; NULL: none */
    bool wants_option;                /* the word begins like an option */
    size_t operand;                   /* else its index among the operands */
    size_t command;                   /* index of the first operand among the words */
    const char *word;                 /* of a value only what follows the lead */
    size_t lead;                      /* bytes */
    const struct verb_option *given[COMPLETE_OPTIONS_MAX];
    size_t given_count;
    const char *socket;               /* -S; NULL: none */
    const char *const *words;         /* all; borrowed */
    size_t count;
};

/* words: without ue itself, at least one; the last one is at the cursor. */
void place_find(struct place *place, const char *const *words, size_t count);
/* What completes the word; COMPLETE_NONE for options, verbs and all that has no candidates. */
enum complete_kind place_kind(const struct place *place);
/* The same for an operand of the verb, counted from 0. */
enum complete_kind place_operand_kind(const struct verb *verb, size_t index);

struct candidates {
    struct candidate {
        char *word, *description; /* owned */
    } *list;                      /* owned */
    size_t count;
};
/* Adds a word that is not there yet. */
void candidates_add(struct candidates *all, const char *word, const char *description);
void candidates_remove(struct candidates *all, const char *word);
void candidates_fini(struct candidates *all);
/* Adds what the tables know: verbs, options and values that are not on the line yet. */
void candidates_of_place(struct candidates *all, const struct place *place);

/* The words of the line, unquoted, as a shell splits it at blanks; freed by strv_free. */
char **bash_words(const char *line);
char *bash_unquote(const char *word); /* the caller's */

enum complete_shell { COMPLETE_ZSH, COMPLETE_FISH, COMPLETE_BASH };
struct asked {
    enum complete_shell shell;
    bool lists;         /* bash only lists them, with descriptions */
    const char *behind; /* bash: what readline replaces */
};
void complete_append(struct buf *out, const struct asked *asked, const struct place *place,
                     const struct candidates *all);
#endif
