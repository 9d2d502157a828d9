/* link_take.c: owns what the worker makes of the keeper's messages: each goes to its handler. */
#include "base/bug.h"
#include "base/fdio.h"
#include "base/log.h"
#include "keep/link_inner.h"
#include "keep/sentinel.h"
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>

static bool is_same(int a, int b)
{
    struct stat one, other;
    return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static void link_use(int *place, int *fd)
{
    fd_close(place);
    *place = *fd;
    *fd = -1;
}

/* Without room for the new descriptors it keeps the ones it had. */
static void link_on_was(struct link *link, const struct keep_msg *msg, int *exe, int *sentinel)
{
    link->was = *msg;
    if (*exe >= 0)
        link_use(&link->keeper_exe, exe);
    if (*sentinel < 0 && link->sentinel >= 0)
        return;
    if (link->sentinel >= 0 && !is_same(link->sentinel, *sentinel))
        sentinel_dismiss(link->sentinel); /* else it would take the closed socket for our death */
    link_use(&link->sentinel, sentinel);
}

static void tell_upgrade_failed(struct link *link, int64_t error, int64_t tried)
{
    link->upgrade_tried = (int)tried;
    link->handlers->upgrade_failed(link->arg, (int)error);
}

static void take_slot(struct link *link, const struct keep_msg *msg, int fds[FD_PASS_MAX],
                      size_t nfds)
{
    int held[KEEP_FD_COUNT] = KEEP_NO_FDS;
    size_t next = 0;
    for (int tag = 0; tag < KEEP_FD_COUNT && next < nfds; tag++)
        if (msg->arg[0] & 1 << tag) {
            held[tag] = fds[next];
            fds[next++] = -1;
        }
    link->handlers->slot(link->arg, msg->session, (pid_t)msg->pid, held);
}

static void link_take(struct link *link, const struct keep_msg *msg, int fds[FD_PASS_MAX],
                      size_t nfds)
{
    const struct link_handlers *call = link->handlers;
    int first = fds[0];
    switch (msg->type) {
    case KEEP_SLOT: take_slot(link, msg, fds, nfds); break;
    case KEEP_WAS: link_on_was(link, msg, &fds[0], &fds[1]); break;
    case KEEP_SLOT_LISTEN:
        fds[0] = -1;
        link->listener_given = msg->arg[0] != 0;
        call->listener(link->arg, first);
        break;
    case KEEP_HANDED:
        if (msg->arg[3] != 0)
            tell_upgrade_failed(link, msg->arg[3] & 0xffff, msg->arg[3] >> 16);
        link->predecessor = (int)msg->arg[2];
        call->handed(link->arg, (int)msg->arg[1]);
        break;
    case KEEP_SPAWNED:
        fds[0] = -1;
        call->spawned(link->arg, msg->session, (pid_t)msg->pid, first);
        break;
    case KEEP_FAILED:
        call->failed(link->arg, msg->session, (int)msg->arg[0], (int)msg->arg[1]);
        break;
    case KEEP_EXITED:
        call->exited(link->arg, msg->session, (pid_t)msg->pid, (int)msg->arg[0], (int)msg->arg[1]);
        break;
    case KEEP_UPGRADE_FAILED: tell_upgrade_failed(link, msg->arg[0], msg->arg[1]); break;
    case KEEP_MISSED: call->missed(link->arg); break;
    default: log_warn("keeper: message of unknown type %u is ignored", msg->type);
    }
    for (size_t i = 0; i < nfds; i++)
        fd_close(&fds[i]);
}

/* The worker can do without a pidfd, but not without a session's descriptors, the socket or the
 * sentinel, which would take the keeper's death for ours. */
static bool needs_descriptors(const struct link *link, const struct keep_msg *msg)
{
    return msg->type == KEEP_SLOT || msg->type == KEEP_SLOT_LISTEN ||
           (msg->type == KEEP_WAS && !link->was.type);
}

static void link_cut(struct link *link, int fds[FD_PASS_MAX], size_t nfds)
{
    for (size_t i = 0; i < nfds; i++)
        fd_close(&fds[i]);
    link->handlers->cut(link->arg);
}

static void lose(struct link *link)
{
    /* The handler takes it out of its loop first, and may then have called link_replace. */
    int dead = link->fd;
    link_clear(link);
    link->handlers->lost(link->arg);
    if (link->fd == dead)
        fd_close(&link->fd);
}

void link_on_readable(struct link *link)
{
    while (link->fd >= 0) {
        struct keep_msg msg = {.type = 0};
        int fds[FD_PASS_MAX] = {-1, -1, -1, -1, -1, -1, -1, -1};
        size_t nfds = FD_PASS_MAX;
        bool cut = false;
        ssize_t n = fd_recv_cut(link->fd, &msg, sizeof msg, fds, &nfds, &cut, MSG_DONTWAIT);
        /* the kernel is short of memory: the message is still there in the next turn */
        if (n < 0 && (errno == EAGAIN || fd_is_short(errno)))
            return;
        /* it died with messages of ours unread: the kernel says so once, before its last words */
        if (n < 0 && errno == ECONNRESET)
            continue;
        if (n <= 0) {
            lose(link);
            continue;
        }
        /* both have compared keep_protocol_word */
        if (n != sizeof msg || msg.size_and_protocol != LINK_ABOUT)
            BUG("a message of %zd bytes from another protocol than %d", n, KEEP_PROTOCOL);
        if (cut && needs_descriptors(link, &msg))
            link_cut(link, fds, nfds);
        else
            link_take(link, &msg, fds, nfds);
    }
}
