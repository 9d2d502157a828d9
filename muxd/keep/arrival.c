/* arrival.c: owns the descriptors of a slot between the first and the last message about it. */
#include "keep/arrival.h"
#include "base/fdio.h"

void arrival_drop(struct arrival *arrival)
{
    for (int i = 0; arrival->open && i < KEEP_FD_COUNT; i++)
        fd_close(&arrival->fds[i]);
    arrival->open = false;
}

static void arrival_begin(struct arrival *arrival, const struct keep_msg *msg)
{
    arrival_drop(arrival);
    for (int i = 0; i < KEEP_FD_COUNT; i++)
        arrival->fds[i] = -1;
    arrival->open = true;
    arrival->session = msg->session;
    arrival->pid = (pid_t)msg->pid;
}

bool arrival_add(struct arrival *arrival, const struct keep_msg *msg, int fds[], size_t nfds)
{
    if (!arrival->open || arrival->session != msg->session)
        arrival_begin(arrival, msg);
    size_t next = 0;
    for (int tag = 0; tag < KEEP_FD_COUNT && next < nfds; tag++)
        if (msg->arg[0] & 1 << tag) {
            fd_close(&arrival->fds[tag]);
            arrival->fds[tag] = fds[next];
            fds[next++] = -1;
        }
    if (msg->arg[1] != 0)
        return false;
    arrival->open = false;
    return true;
}

bool arrival_cut(struct arrival *arrival, const struct keep_msg *msg, int fds[], size_t nfds,
                 int *journal)
{
    arrival_drop(arrival);
    arrival->cut = msg->type == KEEP_SLOT && msg->arg[1] != 0;
    *journal = -1;
    if (msg->type == KEEP_SLOT && !arrival->cut && msg->arg[0] & 1 << KEEP_FD_JOURNAL && nfds > 0) {
        *journal = fds[0];
        fds[0] = -1;
    }
    for (size_t i = 0; i < nfds; i++)
        fd_close(&fds[i]);
    return !arrival->cut;
}
