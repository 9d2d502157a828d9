/* parcels: messages with their descriptors that wait to be sent. Private to the link. */
#ifndef MUXD_KEEP_PARCELS_H
#define MUXD_KEEP_PARCELS_H
#include "base/fdio.h"
#include "keep/keep.h"
#include <sys/queue.h>

struct parcel {
    STAILQ_ENTRY(parcel) next;
    struct keep_msg msg;
    int fds[FD_PASS_MAX]; /* its own */
    size_t nfds;
    int64_t since_ms; /* CLOCK_MONOTONIC: when it was made */
    int error;        /* why it is not sent at all */
};
STAILQ_HEAD(parcels, parcel);

/* a copy of msg without descriptors; freed by parcel_free */
struct parcel *parcel_new(const struct keep_msg *msg);
/* The first `given` descriptors become its own, the others it duplicates. False: there is no room,
 * it holds none, and its error says why. */
bool parcel_take(struct parcel *parcel, const int *fds, size_t nfds, size_t given);
void parcel_free(struct parcel *parcel);                              /* closes what it holds */
void parcels_clear(struct parcels *parcels);
#endif
