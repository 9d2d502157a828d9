/* link.c: owns the worker's end of the link: the queue of what the socket did not take, and the pieces of a hand-over. */
#include "keep/link.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "keep/plan.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#define ABOUT (sizeof(struct keep_msg) << 16 | KEEP_PROTOCOL)

struct parcel {
    STAILQ_ENTRY(parcel) next;
    struct keep_msg msg;
    int fds[FD_PASS_MAX]; /* our own duplicates */
    size_t nfds;
};
STAILQ_HEAD(parcels, parcel);

struct link {
    int fd; /* -1 once the keeper is lost */
    const struct link_handlers *handlers;
    void *arg;
    uint64_t seq;
    struct parcels queue;    /* goes out in order */
    struct parcels refused;  /* spawns that had no descriptors left: told as failed from the next flush */
    bool full;               /* the socket said EAGAIN */
    uint64_t slot_session;   /* the slot whose descriptors come in several messages */
    pid_t slot_pid;
    int slot_fds[KEEP_FD_COUNT];
    bool slot_open;
    struct keep_msg was;     /* what muxd was started with, to be given to a new keeper; type 0: not told yet */
    int sentinel;
    int predecessor, upgrade_tried;
};

struct link *link_new(int fd, const struct link_handlers *handlers, void *arg)
{
    struct link *link = xcalloc(1, sizeof *link);
    link->fd = fd;
    link->handlers = handlers;
    link->arg = arg;
    link->sentinel = link->predecessor = -1;
    STAILQ_INIT(&link->queue);
    STAILQ_INIT(&link->refused);
    fd_set_nonblock(fd, true);
    fd_set_cloexec(fd, true);
    return link;
}

static void parcels_clear(struct parcels *parcels)
{
    struct parcel *parcel;
    while ((parcel = STAILQ_FIRST(parcels)) != NULL) {
        STAILQ_REMOVE_HEAD(parcels, next);
        for (size_t i = 0; i < parcel->nfds; i++)
            fd_close(&parcel->fds[i]);
        free(parcel);
    }
}

static void slot_drop(struct link *link)
{
    for (int i = 0; link->slot_open && i < KEEP_FD_COUNT; i++)
        fd_close(&link->slot_fds[i]);
    link->slot_open = false;
}

void link_free(struct link *link)
{
    if (!link)
        return;
    parcels_clear(&link->queue);
    parcels_clear(&link->refused);
    slot_drop(link);
    fd_close(&link->fd);
    fd_close(&link->sentinel);
    free(link);
}

int link_fd(const struct link *link)
{
    return link->fd;
}

bool link_wants_write(const struct link *link)
{
    return link->fd >= 0 && link->full;
}

/* True when it is off our hands: sent, or nobody is there to take it (the end of the socket will be read soon). */
static bool send_now(struct link *link, struct keep_msg *msg, const int *fds, size_t nfds)
{
    msg->size_and_protocol = ABOUT;
    msg->seq = link->seq + 1;
    if (link->fd < 0 || fd_send(link->fd, msg, sizeof *msg, fds, nfds, MSG_DONTWAIT) >= 0) {
        link->seq++;
        return true;
    }
    return errno != EAGAIN && errno != ETOOMANYREFS && errno != ENOMEM && errno != ENOBUFS;
}

static void queue_up(struct link *link, const struct keep_msg *msg, const int *fds, size_t nfds)
{
    struct parcel *parcel = xcalloc(1, sizeof *parcel);
    parcel->msg = *msg;
    link->full = true;
    for (; parcel->nfds < nfds; parcel->nfds++) {
        int own = fcntl(fds[parcel->nfds], F_DUPFD_CLOEXEC, 0);
        if (own < 0)
            break;
        parcel->fds[parcel->nfds] = own;
    }
    if (parcel->nfds == nfds) {
        STAILQ_INSERT_TAIL(&link->queue, parcel, next);
        return;
    }
    if (msg->type != KEEP_SPAWN)
        log_error("keeper: no descriptor left for message %u of session %llu: %s; it would not survive a crash; raise the limit on files",
                  msg->type, (unsigned long long)msg->session, strerror(errno));
    while (parcel->nfds > 0)
        fd_close(&parcel->fds[--parcel->nfds]);
    STAILQ_INSERT_TAIL(&link->refused, parcel, next);
}

static void post(struct link *link, struct keep_msg msg, const int *fds, size_t nfds)
{
    if (!STAILQ_EMPTY(&link->queue) || !send_now(link, &msg, fds, nfds))
        queue_up(link, &msg, fds, nfds);
}

void link_flush(struct link *link)
{
    struct parcel *parcel;
    while ((parcel = STAILQ_FIRST(&link->queue)) != NULL) {
        if (!send_now(link, &parcel->msg, parcel->fds, parcel->nfds))
            break;
        STAILQ_REMOVE_HEAD(&link->queue, next);
        for (size_t i = 0; i < parcel->nfds; i++)
            fd_close(&parcel->fds[i]);
        free(parcel);
    }
    while ((parcel = STAILQ_FIRST(&link->refused)) != NULL) {
        STAILQ_REMOVE_HEAD(&link->refused, next);
        if (parcel->msg.type == KEEP_SPAWN)
            link->handlers->failed(link->arg, parcel->msg.session, PLAN_FORK, EMFILE);
        free(parcel);
    }
    link->full = !STAILQ_EMPTY(&link->queue);
}

/* Collects the descriptors of one slot; the last message of it calls the handler, which owns them then. */
static void on_slot(struct link *link, const struct keep_msg *msg, int fds[], size_t nfds)
{
    if (!link->slot_open || link->slot_session != msg->session) {
        slot_drop(link);
        for (int i = 0; i < KEEP_FD_COUNT; i++)
            link->slot_fds[i] = -1;
        link->slot_open = true;
        link->slot_session = msg->session;
        link->slot_pid = (pid_t)msg->pid;
    }
    size_t next = 0;
    for (int use = 0; use < KEEP_FD_COUNT && next < nfds; use++)
        if (msg->arg[0] & 1 << use) {
            fd_close(&link->slot_fds[use]);
            link->slot_fds[use] = fds[next];
            fds[next++] = -1;
        }
    if (msg->arg[1] != 0)
        return;
    link->slot_open = false;
    link->handlers->slot(link->arg, link->slot_session, link->slot_pid, link->slot_fds);
}

static void on_was(struct link *link, const struct keep_msg *msg, int *fd)
{
    link->was = *msg;
    fd_close(&link->sentinel);
    link->sentinel = *fd;
    *fd = -1;
}

static void take(struct link *link, const struct keep_msg *msg, int fds[FD_PASS_MAX], size_t nfds)
{
    const struct link_handlers *call = link->handlers;
    int first = fds[0];
    switch (msg->type) {
    case KEEP_SLOT: on_slot(link, msg, fds, nfds); break;
    case KEEP_WAS: on_was(link, msg, &fds[0]); break;
    case KEEP_SLOT_LISTEN:
        fds[0] = -1;
        call->listener(link->arg, first);
        break;
    case KEEP_HANDED:
        link->predecessor = (int)msg->arg[2];
        call->handed(link->arg, (int)msg->arg[1]);
        break;
    case KEEP_SPAWNED:
        fds[0] = -1;
        call->spawned(link->arg, msg->session, (pid_t)msg->pid, first);
        break;
    case KEEP_FAILED: call->failed(link->arg, msg->session, (int)msg->arg[0], (int)msg->arg[1]); break;
    case KEEP_EXITED: call->exited(link->arg, msg->session, (pid_t)msg->pid, (int)msg->arg[0], (int)msg->arg[1]); break;
    case KEEP_ORPHAN: call->orphan(link->arg, (pid_t)msg->pid, msg->arg[0] != 0); break;
    case KEEP_UPGRADE_FAILED:
        link->upgrade_tried = (int)msg->arg[1];
        call->upgrade_failed(link->arg, (int)msg->arg[0]);
        break;
    default: log_warn("keeper: message of unknown type %u is left alone", msg->type);
    }
    for (size_t i = 0; i < nfds; i++)
        fd_close(&fds[i]);
}

static void lose(struct link *link)
{
    int dead = link->fd; /* stays open until the handler has taken it out of its loop, and then has perhaps another number */
    parcels_clear(&link->queue);
    link->full = false;
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
        ssize_t n = fd_recv(link->fd, &msg, sizeof msg, fds, &nfds, MSG_DONTWAIT);
        if (n < 0 && errno == EMSGSIZE && msg.size_and_protocol == ABOUT) {
            log_error("keeper: no descriptor left for what message %u of session %llu brought; raise the limit on open files", msg.type,
                      (unsigned long long)msg.session);
            n = sizeof msg;
            nfds = 0;
            memset(fds, -1, sizeof fds);
        }
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0)
            lose(link);
        else if (n == sizeof msg && msg.size_and_protocol == ABOUT)
            take(link, &msg, fds, nfds);
        else
            BUG("a message of %zd bytes from another protocol than %d", n, KEEP_PROTOCOL); /* both are of one binary */
    }
}

void link_replace(struct link *link, int fd)
{
    fd_close(&link->fd);
    parcels_clear(&link->queue);
    slot_drop(link);
    link->fd = fd;
    link->seq = 0;
    link->full = false;
    link->was.pid = 0;
    fd_set_nonblock(fd, true);
    fd_set_cloexec(fd, true);
    post(link, (struct keep_msg){.type = KEEP_WAS, .arg = {link->was.arg[0], link->was.arg[1], link->was.arg[2], link->was.arg[3]}},
         &link->sentinel, link->sentinel >= 0);
}

void link_hello(struct link *link)
{
    post(link, (struct keep_msg){.type = KEEP_HELLO, .arg = {KEEP_PROTOCOL}}, NULL, 0);
}

void link_hold(struct link *link, uint64_t session, const int fds[KEEP_FD_COUNT])
{
    for (int at = 0; at < KEEP_FD_COUNT;) {
        struct keep_msg msg = {.type = KEEP_HOLD, .session = session};
        int held[FD_PASS_MAX];
        size_t n = 0;
        for (; at < KEEP_FD_COUNT && n < FD_PASS_MAX; at++)
            if (fds[at] >= 0) {
                msg.arg[0] |= 1 << at;
                held[n++] = fds[at];
            }
        if (n > 0)
            post(link, msg, held, n);
    }
}

void link_listen(struct link *link, int fd)
{
    post(link, (struct keep_msg){.type = KEEP_LISTEN}, &fd, 1);
}

void link_spawn(struct link *link, uint64_t session, int plan_fd, const int stdio[3])
{
    int fds[4] = {plan_fd, stdio[0], stdio[1], stdio[2]};
    post(link, (struct keep_msg){.type = KEEP_SPAWN, .session = session}, fds, 4);
}

void link_adopt(struct link *link, uint64_t session, pid_t pid, int pidfd)
{
    post(link, (struct keep_msg){.type = KEEP_ADOPT, .session = session, .pid = pid}, &pidfd, pidfd >= 0);
}

void link_ack(struct link *link, uint64_t session, pid_t pid)
{
    post(link, (struct keep_msg){.type = KEEP_ACK, .session = session, .pid = pid}, NULL, 0);
}

static void post_plain(struct link *link, uint32_t type, uint64_t session)
{
    post(link, (struct keep_msg){.type = type, .session = session}, NULL, 0);
}

void link_release(struct link *link, uint64_t session, unsigned mask)
{
    post(link, (struct keep_msg){.type = KEEP_DROP, .session = session, .arg = {mask}}, NULL, 0);
}

void link_drop(struct link *link, uint64_t session) { link_release(link, session, 0); }
void link_served(struct link *link) { post_plain(link, KEEP_SERVED, 0); }
void link_stop(struct link *link) { post_plain(link, KEEP_STOP, 0); }
void link_upgrade(struct link *link) { post_plain(link, KEEP_UPGRADE, 0); }

pid_t link_keeper_pid(const struct link *link)
{
    return link->fd >= 0 ? (pid_t)link->was.pid : 0;
}

int link_predecessor(const struct link *link)
{
    return link->predecessor;
}

const char *link_upgrade_text(const struct link *link)
{
    static const char *const texts[] = {[KEEP_UPGRADE_TRIAL] = "run the new program", [KEEP_UPGRADE_EXEC] = "execute the new program",
                                        [KEEP_UPGRADE_STATE] = "have the sessions taken over by the new program",
                                        [KEEP_UPGRADE_WORKER] = "have the new program's worker come up"};
    bool known = link->upgrade_tried > 0 && link->upgrade_tried < (int)(sizeof texts / sizeof *texts);
    return known ? texts[link->upgrade_tried] : "upgrade";
}
