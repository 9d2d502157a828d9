/* shell_scan: which commands a shell script runs, as far as its text tells. A script is plain when
 * it is nothing but commands of plain words, joined by &&, ||, ; | or newlines (CODEX.md 16): then
 * the commands are all that it runs. Of any other script the commands that can be seen are listed,
 * also those inside substitutions, loops and here-documents that a shell is fed; there may be
 * others. Pure. */
#ifndef MUXD_GUARD_SHELL_SCAN_H
#define MUXD_GUARD_SHELL_SCAN_H
#include "base/strv.h"
#include <stdbool.h>

#define SHELL_SCAN_MAX_COMMANDS 2000 /* of one script; what comes later is not looked at */
#define SHELL_SCAN_MAX_DEPTH 32      /* of substitutions inside each other */

struct shell_command {
    char **words; /* owned, a strv of at least one word; quotes are resolved */
};
struct shell_scan {
    bool plain;
    /* one command with a here-document and nothing else that is not plain */
    bool heredoc_only;
    /* more commands, or deeper ones, than are looked at */
    bool overflow;
    const char *why; /* static: the first thing that is not plain, "a redirection"; NULL: plain */
    struct shell_command *commands;
    size_t count;
    struct strv fed; /* bodies of here-documents and here-strings */
};

/* Scans script, NUL-terminated; scan need not be initialised. The caller owes shell_scan_fini. */
void shell_scan(struct shell_scan *scan, const char *script);
void shell_scan_fini(struct shell_scan *scan); /* safe on a zeroed one */
#endif
