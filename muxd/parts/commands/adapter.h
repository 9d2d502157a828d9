/* adapter: how a program is made to tell by marks where its commands begin and end: the rows of
 * adapters.def as data. */
#ifndef MUXD_PARTS_ADAPTER_H
#define MUXD_PARTS_ADAPTER_H
#include "base/buf.h"
#include <stdbool.h>
#include <stdint.h>

struct adapter {
    const char *names; /* separated by blanks */
    const char *ask;   /* what is typed first, without its line end */
    const char *runs;  /* letters of the options that name what it runs in place of a prompt */
    const char *takes; /* options that take a value, separated by blanks */
    bool operands;     /* what it is given besides options does not keep it from prompting */
    bool paste;        /* a command of several lines goes as a paste, where that is asked for */
    bool quotes;       /* C-v takes the key behind it as it is: a tab completes nothing */
    bool blocks;       /* an empty line ends a block of indented lines */
};
/* By the name of the program, or of the adapter's row ("shell"); NULL: there is none. */
const struct adapter *adapter_of(const char *program);
/* Whether its command line, in words with blanks between them, leads to a prompt: what is typed
 * into a script that reads input must not be a question of ours. When in doubt it does not. */
bool adapter_prompts(const struct adapter *adapter, const char *command_line);
/* All names that adapter_of knows, separated by ", ". */
void adapter_names(struct buf *out);
/* The line for a program that has said this word; false: none has it. rows: lines from the cursor
 * up to the echo of what was asked. */
bool adapter_line(struct buf *out, const char *word, const char *nonce, uint64_t level, int rows);
#endif
