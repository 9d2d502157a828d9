/* torn: a paste whose end does not come. What is pasted is text, also ue's own keys in it; but a
 * person whose terminal has lost the end of a paste must get out. The rest of a paste comes at
 * once: what comes long after it is typed, and so is the prefix key, with one key behind it at
 * most, when for a while nothing comes before it and nothing after it. */
#ifndef MUXD_CLIENT_TORN_H
#define MUXD_CLIENT_TORN_H
#include "client/attach/prefix.h"
#include <stdint.h>

#define TORN_MS 3000 /* no pause in a paste is so long */
#define TORN_ALONE_MS 300
#define TORN_HELD 32 /* bytes: more than the prefix key and another in any encoding */

struct torn { /* zero it */
    int64_t came_ms;      /* when keys came last */
    int64_t due_ms;       /* held is a command then; 0: nothing is held */
    char held[TORN_HELD]; /* came within a paste: its text, or the prefix key */
    size_t size;
};

/* Before data is taken: what came within an open paste, and may be typed, is held, and data is not
 * to be taken (true). What was held and is text goes to out; so does the end of a paste that is
 * torn. */
bool torn_hold(struct torn *torn, struct prefix *prefix, const char *data, size_t size,
               struct buf *out, int64_t now_ms);
/* The prefix key is due: the paste has ended, which out is told. Copies what is to be taken then to
 * data, with room for TORN_HELD bytes. Returns its size; 0: nothing is due. */
size_t torn_due(struct torn *torn, struct prefix *prefix, char *data, struct buf *out,
                int64_t now_ms);
/* No more keys will come: what is held is text. */
void torn_end(struct torn *torn, struct buf *out);
#endif
