/* query_place: what is known of a session's terminal at the place of a query in its output. */
#ifndef MUXD_PARTS_QUERY_PLACE_H
#define MUXD_PARTS_QUERY_PLACE_H
#include "term/responder.h"

struct session;

struct query_place {
    struct session *session;
    uint64_t offset, modes;
    bool later; /* set by a fact that only a later turn will know */
};

/* Borrowed from the place. */
struct responder_facts query_place_facts(struct query_place *place);
#endif
