/* prefix: keys that are meant for ue itself among those that are typed: whatever follows the prefix
 * key (wire/attach.def). */
#ifndef MUXD_CLIENT_PREFIX_H
#define MUXD_CLIENT_PREFIX_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

enum prefix_command {
    PREFIX_NONE, /* the others in the order of attach_keys */
#define ATTACH_KEY(ident, ...) PREFIX_##ident,
#include "wire/attach.def"
};

struct prefix {
    unsigned char key; /* the control character */
    bool pending;      /* it was typed: the next key is ours */
};

#define PREFIX_DEFAULT 0x1c
/* "C-a", "^A": false for what is no control key or is needed for the keyboard itself (Tab, Enter,
 * Escape). */
bool prefix_parse(const char *word, unsigned char *key);
/* Takes bytes from data up to the first command, which *command tells of; what is for the program
 * goes to out. Bytes taken. Keys are known in all three encodings that programs ask terminals for:
 * plain, modifyOtherKeys and kitty's. */
size_t prefix_take(struct prefix *prefix, const char *data, size_t size, struct buf *out,
                   enum prefix_command *command);
#endif
