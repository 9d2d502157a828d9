/* keys: the bytes that a terminal sends for a named key, in the modes that the program has set. No
 * fd, no clock. Spellings: tmux (C-M-x, PPage, BTab, KP0), words (ctrl+shift+up, alt-x), Emacs and
 * vim (<up>, C-<return>, <C-Up>), caret (^C), 0xHH for a byte, U+XXXX or the character itself. A
 * combination that no bytes express is an error, never another key. Sources: xterm ctlseqs
 * "PC-Style Function Keys" and "modifyOtherKeys", ECMA-48, the kitty keyboard protocol. */
#ifndef MUXD_TERM_KEYS_H
#define MUXD_TERM_KEYS_H
#include "base/buf.h"
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

struct keys_modes {          /* what the program has set; all zero: a terminal after reset */
    bool application_cursor; /* DECCKM */
    bool application_keypad; /* DECKPAM */
    bool backspace_is_bs;    /* DECBKM */
    unsigned other_keys;     /* modifyOtherKeys: 0 to 2 */
    unsigned kitty;          /* flags of the kitty keyboard protocol, 0 to 31 */
};

/* Appends the bytes of one key. ERR_KEY, and out is unchanged: the name is unknown (the error names
 * the nearest), or no bytes express the key. */
int keys_append(struct buf *out, const char *name, struct err *err);
int keys_append_modes(struct buf *out, const char *name, const struct keys_modes *modes,
                      struct err *err);
#endif
