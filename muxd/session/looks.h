/* looks: looks at all processes, in a thread, one for everybody who asks at the time; and at once, for who can't wait. For this room
 * only. */
#ifndef MUXD_SESSION_LOOKS_H
#define MUXD_SESSION_LOOKS_H
#include "base/list.h"
#include "session/session.h"
#include "sys/family.h"

struct registry;

struct look {
    struct family family; /* lent for the call */
    /* Nobody can have hopped over the look by forking and dying, and no program was just being started, which could not be told from
     * somebody's orphan. */
    bool sure;
    bool spawning;
    bool blind; /* not everybody was seen */
};
typedef void look_fn(void *arg, const struct look *look);

struct look_ask { /* embedded in its owner; zero it */
    struct list link;
    uint64_t number;
    look_fn *fn;
    void *arg;
};
/* fn is told, in a later turn, of a look that begins after this; it takes the place of what the same ask is still waiting for. */
void looks_ask(struct registry *registry, struct look_ask *ask);
void looks_drop(struct look_ask *ask); /* fine when it waits for nothing */
/* At once, with a pass over /proc in the loop; several in one turn share it. Freed by family_free. */
void looks_now(struct session *session, struct family *out);
void looks_turn_end(struct registry *registry);
void looks_done(struct registry *registry); /* nobody is being ended: what is known of the processes may be forgotten */
void looks_fini(struct registry *registry);
#endif
