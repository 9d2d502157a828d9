/* shell_word: one word of a shell script: quotes, escapes, and the lists inside substitutions. For
 * this room only. */
#ifndef MUXD_GUARD_SHELL_WORD_H
#define MUXD_GUARD_SHELL_WORD_H
#include "base/buf.h"
#include "guard/shell_scan.h"

#define SHELL_HEREDOCS_MAX 16 /* announced in one line */
#define SHELL_WHY_HEREDOC "a here-document"

struct shell_heredoc {
    char *end;   /* owned */
    bool strip;  /* <<- */
    bool quoted; /* nothing is expanded in it */
};
struct shell_cursor {
    struct shell_scan *scan;
    const char *at; /* what comes next; ends with a NUL */
    int depth;
    bool other; /* something but a here-document is not plain */
    struct shell_heredoc heredocs[SHELL_HEREDOCS_MAX];
    size_t nheredocs, heredocs_seen;
};
struct shell_word {
    struct buf text; /* the caller's; quotes are resolved, expansions stand as they are written */
    bool quoted;     /* a part of it is */
    bool assignment; /* begins with NAME= or NAME[…]= */
    bool blank;      /* expands to what separates words: it is none */
};

/* Reads one word at the cursor, where no blank and no operator stands (else it is empty). It ends
 * where an expansion of IFS begins another one, too. */
void shell_word_take(struct shell_cursor *at, struct shell_word *word);
/* Looks for substitutions in text, as in double quotes. */
void shell_scan_expansions(struct shell_cursor *at, const char *text);
/* Reads commands until close, which is skipped, or to the end when close is NUL. */
void shell_scan_list(struct shell_cursor *at, char close);
/* The script is not plain; why is static. */
void shell_not_plain(struct shell_cursor *at, const char *why);
#endif
