/* reserve: descriptors kept back for clients. When all others are in use, a person can still
 * connect to look at sessions and to end some. */
#ifndef MUXD_BASE_RESERVE_H
#define MUXD_BASE_RESERVE_H
#include <stdbool.h>
#include <stddef.h>

#define RESERVE_MAX 6 /* fewer than the start of a session needs: it can't use them up */
void reserve_fill(void); /* opens as many as are missing and can be had; standard input is open */
void reserve_release(size_t keep); /* closes all but keep, for the caller's next descriptor */
size_t reserve_count(void);
/* True while RESERVE_ROOM descriptors are free besides those that are kept back: what the start of
 * a session takes that can't be sent to the keeper at once (the journal and three pipes, each once
 * more in the queue, the program's ends of the pipes, and the plan). A session that runs holds
 * five. Ask before you make anything that must outlive the worker. The keeper has as many
 * descriptors of its own as the worker and holds no more of each session, so a worker or keeper
 * that takes over under the same limit has room for all of it. */
#define RESERVE_ROOM 12
bool reserve_has_room(void);
/* filled before, and not full now: callers that can do without a descriptor open none */
bool reserve_is_short(void);
#endif
