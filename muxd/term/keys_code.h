/* keys_code: a key as read from its name, and its coding. For this room only. */
#ifndef MUXD_TERM_KEYS_CODE_H
#define MUXD_TERM_KEYS_CODE_H
#include "term/keys.h"
#include "wire/keynames.h"

/* the protocols send the sum of these plus one */
enum { KEY_SHIFT = 1, KEY_ALT = 2, KEY_CTRL = 4, KEY_SUPER = 8, KEY_HYPER = 16 };

struct key {
    const struct keyname *named; /* NULL: a character */
    int32_t rune;
    unsigned mods;
};

/* False: no bytes express it; out is unchanged. */
bool keys_code(struct buf *out, const struct key *key, const struct keys_modes *modes);
/* keys_kitty.c: the same when the program has set that protocol (flags are not 0). */
bool keys_kitty(struct buf *out, const struct key *key, unsigned flags);
#endif
