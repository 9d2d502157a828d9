/* events: what happens to sessions, as numbered events (wire/events.def) for listeners: clients
 * (cmd/events.c) and hooks (server/hooks.c). The events stand in a ring that outlives the
 * worker; output, which the session's journal holds anyway, is added when an event is rendered.
 * Events that are not `kept` are made only while someone listens for them, and for a while
 * after, so that a listener that comes back has missed none. */
#ifndef MUXD_PARTS_EVENTS_H
#define MUXD_PARTS_EVENTS_H
#include "journal/events_ring.h"
#include "session/input.h"
#include "session/part.h"
#include "session/registry.h"
#include "wire/event.h"
#include "wire/json.h"

/* bytes of argv, of typed text, of one piece of output */
#define EVENTS_TEXT_MAX 8192
#define EVENTS_AGGREGATED_MAX (1u << 20) /* bytes of a command's whole output in its end */

/* A listener for these types (bits) comes, and goes. Each events_listen is taken back by one
 * events_unlisten of the same types. */
void events_listen(struct registry *registry, uint32_t types);
void events_unlisten(struct registry *registry, uint32_t types);
unsigned events_count(const struct registry *registry); /* of listeners now */
/* fn is called at the end of a turn in which one of these types happened, while the watch is
 * set. */
struct events_watch {
    struct events_watch *next;
    uint32_t types;
    bool set;
    unsigned run; /* the run of the watches in which it was set: that one passes it over */
    void (*fn)(void *arg);
    void *arg;
};
void events_watch_set(struct registry *registry, struct events_watch *watch);
/* does nothing when it is not set */
void events_watch_stop(struct registry *registry, struct events_watch *watch);

uint64_t events_next(struct registry *registry); /* the number of the next event */
/* The hooks have been handed every event before this number. Outlives the worker. */
uint64_t events_handed(struct registry *registry);
void events_set_handed(struct registry *registry, uint64_t seq);
/* The next event at the cursor that is one of types and, if session is given, of the session of
 * that number or name. NULL: there is none. *missed as for events_ring_read, of all types. */
const struct event_record *events_read(struct registry *registry, struct events_cursor *cursor,
                                       uint32_t types, const char *session, const char **text,
                                       uint64_t *missed);
/* Appends the event as one JSON object, with what the journal has for it. aggregated_max: at
 * most so many bytes of aggregated_output; 0: none. */
void events_render(struct registry *registry, const struct event_record *record, const char *text,
                   size_t aggregated_max, struct buf *out);

/* To be called before input is given to the session. The text of a secret, and what people type,
 * is not told. size 0: a poll. */
void events_typed(struct session *session, const struct author *author, const char *data,
                  size_t size, bool secret);
/* The keyboard has a new holder, or became free. */
struct events_holder {
    const char *who; /* "nobody", "agent", "person" */
    bool nobody;
    uid_t uid;
    pid_t pid;
    const char *client; /* "": not known */
};
/* someone listens for it */
bool events_wants(const struct registry *registry, enum event_type type);
void events_keyboard(struct session *session, const struct events_holder *holder);
/* A staged secret was lost with the worker that kept it. */
void events_secret_lost(struct session *session);
/* A patch was applied, or has failed while it was; files: an array, borrowed. */
void events_patched(struct registry *registry, const char *call_id, const char *cwd,
                    const struct json *files, int exit_code);

/* A command waits for a person's yes, or no longer does. facts: an object, borrowed. */
void events_approval(struct registry *registry, const struct json *facts);

extern const struct part events_part;
#endif
