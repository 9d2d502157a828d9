/* room: the memory that answers to all connections together may take until they are read
 * (burden.h), and the line of connections that wait for room for a large one. Large answers are
 * made in turn, one in a turn of the loop, each when there is room for it and its client has read
 * those before it. Small ones wait for nobody else. */
#ifndef MUXD_PEER_ROOM_H
#define MUXD_PEER_ROOM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROOM_SMALL (64u << 10) /* an answer that is no larger is small */

struct peer;
struct room {
    size_t connections;
    size_t total;              /* [limits] output_total */
    size_t held;               /* memory of answers that were not read; the peers keep it */
    size_t holders;            /* connections that have part in it */
    struct peer *first, *last; /* the line */
    size_t waiting;            /* how many there are in it */
    bool made;                 /* a large answer was made in this turn */
};

/* End of turn: has the first in the line make its answer, if there is room. */
void room_serve(struct room *room);
/* for the first in the line there is room: the next turn serves it; for the first there is none */
bool room_goes_on(struct room *room);
bool room_is_short(struct room *room);
/* what nobody loses for others */
size_t room_share(const struct room *room);
#endif
