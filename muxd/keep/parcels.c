/* parcels.c: owns the descriptors of messages that could not be sent at once. */
#include "keep/parcels.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

struct parcel *parcel_new(const struct keep_msg *msg)
{
    struct parcel *parcel = xcalloc(1, sizeof *parcel);
    BUG_UNLESS(msg->type != 0);
    parcel->msg = *msg;
    parcel->since_ms = clock_mono_ms();
    return parcel;
}

static void parcels_close_all(struct parcel *parcel)
{
    while (parcel->nfds > 0)
        fd_close(&parcel->fds[--parcel->nfds]);
}

bool parcel_take(struct parcel *parcel, const int *fds, size_t nfds, size_t given)
{
    BUG_UNLESS(parcel->nfds == 0 && given <= nfds && nfds <= FD_PASS_MAX);
    for (; parcel->nfds < given; parcel->nfds++)
        parcel->fds[parcel->nfds] = fds[parcel->nfds];
    for (; parcel->nfds < nfds; parcel->nfds++) {
        int own = fcntl(fds[parcel->nfds], F_DUPFD_CLOEXEC, 0);
        if (own < 0) {
            parcel->error = errno;
            parcels_close_all(parcel);
            return false;
        }
        parcel->fds[parcel->nfds] = own;
    }
    return true;
}

void parcel_free(struct parcel *parcel)
{
    parcels_close_all(parcel);
    free(parcel);
}

void parcels_clear(struct parcels *parcels)
{
    struct parcel *parcel;
    while ((parcel = STAILQ_FIRST(parcels)) != NULL) {
        STAILQ_REMOVE_HEAD(parcels, next);
        parcel_free(parcel);
    }
}
