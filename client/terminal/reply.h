/* reply: recognizes a terminal's replies to ue's queries (query.h) among the keys. */
#ifndef MUXD_CLIENT_REPLY_H
#define MUXD_CLIENT_REPLY_H
#include "wire/profile.h"

#define REPLY_MAX 128 /* bytes; longer sequences are no replies */

enum reply {
    REPLY_NONE,   /* no reply, but a key */
    REPLY_PART,   /* perhaps the beginning of a reply */
    REPLY_FACT,   /* a reply; its contents are in *profile */
    REPLY_SCHEME, /* the same; terminals also send it unasked */
    REPLY_LAST    /* device attributes: the last query, to which every terminal replies */
};
/* data begins with ESC. *used: bytes of the reply, or of its possible beginning. */
enum reply reply_take(struct profile *profile, const char *data, size_t size, size_t *used);
#endif
