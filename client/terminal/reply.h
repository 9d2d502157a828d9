/* reply: recognises what a terminal answers to ue's questions (client/query.h) among what is
 * typed. */
#ifndef MUXD_CLIENT_REPLY_H
#define MUXD_CLIENT_REPLY_H
#include "wire/outer.h"

#define REPLY_MAX 128 /* bytes; a longer one is none */

enum reply {
    REPLY_NONE,   /* it is something else: a key */
    REPLY_PART,   /* it may be one: more bytes will tell */
    REPLY_FACT,   /* one; what it says is in *outer */
    REPLY_SCHEME, /* the same, and terminals say this by themselves, too */
    REPLY_LAST    /* device attributes, which were asked for last: every terminal answers that */
};
/* data begins with ESC. *used: bytes of the reply, or of what may become one. */
enum reply reply_take(struct outer *outer, const char *data, size_t size, size_t *used);
#endif
