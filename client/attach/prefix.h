/* prefix: finds ue's own keys among those that are typed: the key behind the prefix key
 * (wire/attach.def). */
#ifndef MUXD_CLIENT_PREFIX_H
#define MUXD_CLIENT_PREFIX_H
#include "base/buf.h"
#include "wire/paste.h"
#include <stdbool.h>
#include <stddef.h>

enum prefix_command {
    PREFIX_NONE, /* followed by the keys in the order of attach_keys */
#define ATTACH_KEY(ident, ...) PREFIX_##ident,
#include "wire/attach.def"
};

struct prefix {
    unsigned char key; /* a control character */
    bool pending;      /* it was typed: the next key is a command */
    bool pastes;       /* the terminal marks what is pasted: none of that is a key of ours */
    struct paste paste;
};

#define PREFIX_DEFAULT 0x1c
/* "C-a", "^A". False: not a control key, or one that every keyboard needs (Tab, Enter, Escape). */
bool prefix_parse(const char *word, unsigned char *key);
/* Takes data up to and with the first command, and sets *command; appends the program's keys to
 * out. Returns the bytes taken. It knows the three encodings of keys that programs can set: plain,
 * modifyOtherKeys and kitty's. */
size_t prefix_take(struct prefix *prefix, const char *data, size_t size, struct buf *out,
                   enum prefix_command *command);
#endif
