/* link.c: owns the worker's end of the link: the queue of what the socket did not take, and the
 * pieces of a hand-over. */
#include "keep/link.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "keep/arrival.h"
#include "keep/parcels.h"
#include "keep/plan.h"
#include "keep/sentinel.h"
#include "keep/spare.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* then they go out before the end of the turn: each is compared with what is sent meanwhile */
#define LATE_MAX 256
#define ABOUT (sizeof(struct keep_msg) << 16 | KEEP_PROTOCOL)

struct link {
    int fd; /* -1 once the keeper is lost */
    const struct link_handlers *handlers;
    void *arg;
    uint64_t seq;
    struct parcels queue;    /* goes out in order */
    struct parcels late;     /* what nobody waits for: not before the end of the turn */
    size_t nlate;
    /* those that had no descriptors left: told as failed or missed from the next flush */
    struct parcels refused;
    bool full;               /* the socket said EAGAIN */
    struct arrival arrival;
    struct spare spare;      /* held while a hand-over is on its way */
    bool again;              /* one that link_again asked for */
    /* what muxd was started with, to be given to a new keeper; type 0: not told yet */
    struct keep_msg was;
    int sentinel, keeper_exe;
    int predecessor, upgrade_tried;
    bool listener_given;
};

struct link *link_new(int fd, const struct link_handlers *handlers, void *arg)
{
    struct link *link = xcalloc(1, sizeof *link);
    link->fd = fd;
    link->handlers = handlers;
    link->arg = arg;
    link->sentinel = link->keeper_exe = link->predecessor = -1;
    STAILQ_INIT(&link->queue);
    STAILQ_INIT(&link->late);
    STAILQ_INIT(&link->refused);
    fd_set_nonblock(fd, true);
    fd_set_cloexec(fd, true);
    return link;
}

void link_free(struct link *link)
{
    if (!link)
        return;
    parcels_clear(&link->queue);
    parcels_clear(&link->late);
    parcels_clear(&link->refused);
    arrival_drop(&link->arrival);
    spare_release(&link->spare);
    fd_close(&link->fd);
    fd_close(&link->sentinel);
    fd_close(&link->keeper_exe);
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

/* True when it is off our hands: sent, or nobody is there to take it (the end of the socket will be
 * read soon). */
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
    struct parcel *parcel = parcel_new(msg);
    link->full = true;
    if (parcel_take(parcel, fds, nfds))
        STAILQ_INSERT_TAIL(&link->queue, parcel, next);
    else
        STAILQ_INSERT_TAIL(&link->refused, parcel, next);
}

/* True when the queue is empty. */
static bool drain(struct link *link)
{
    struct parcel *parcel;
    while ((parcel = STAILQ_FIRST(&link->queue)) != NULL) {
        if (!send_now(link, &parcel->msg, parcel->fds, parcel->nfds))
            return false;
        STAILQ_REMOVE_HEAD(&link->queue, next);
        parcel_free(parcel);
    }
    return true;
}

static void late_is_due(struct link *link)
{
    STAILQ_CONCAT(&link->queue, &link->late);
    link->nlate = 0;
}

/* What is about all sessions, or about one with news that wait, must not overtake them. */
static bool would_overtake(const struct link *link, uint64_t session)
{
    const struct parcel *parcel;
    bool found = session == 0;
    STAILQ_FOREACH(parcel, &link->late, next)
        found |= parcel->msg.session == session;
    return found;
}

static void post(struct link *link, struct keep_msg msg, const int *fds, size_t nfds)
{
    if (would_overtake(link, msg.session))
        late_is_due(link);
    if (!drain(link) || !send_now(link, &msg, fds, nfds))
        queue_up(link, &msg, fds, nfds);
}

/* The keeper is not woken for housekeeping while answers are on their way: it would take the
 * processor from who gives them. */
static void post_late(struct link *link, const struct keep_msg *msg)
{
    struct parcel *parcel = parcel_new(msg);
    STAILQ_INSERT_TAIL(&link->late, parcel, next);
    if (++link->nlate >= LATE_MAX)
        late_is_due(link);
}

void link_flush(struct link *link)
{
    struct parcel *parcel;
    late_is_due(link);
    drain(link);
    while ((parcel = STAILQ_FIRST(&link->refused)) != NULL) {
        STAILQ_REMOVE_HEAD(&link->refused, next);
        if (parcel->msg.type == KEEP_SPAWN)
            link->handlers->failed(link->arg, parcel->msg.session, PLAN_FORK, EMFILE);
        else if (parcel->msg.type != KEEP_WAS) /* the new keeper makes its own sentinel then */
            link->handlers->missed(link->arg, parcel->msg.type, parcel->msg.session);
        free(parcel);
    }
    link->full = !STAILQ_EMPTY(&link->queue);
}

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

/* No room for another descriptor: the one before is better than none. */
static void link_on_was(struct link *link, const struct keep_msg *msg, int *exe, int *sentinel)
{
    link->was = *msg;
    if (*exe >= 0)
        link_use(&link->keeper_exe, exe);
    if (*sentinel < 0 && link->sentinel >= 0)
        return;
    if (link->sentinel >= 0 && !is_same(link->sentinel, *sentinel))
        sentinel_dismiss(link->sentinel); /* replaced: its end must not be taken for ours */
    link_use(&link->sentinel, sentinel);
}

static void tell_upgrade_failed(struct link *link, int64_t error, int64_t tried)
{
    link->upgrade_tried = (int)tried;
    link->handlers->upgrade_failed(link->arg, (int)error);
}

static void link_take(struct link *link, const struct keep_msg *msg, int fds[FD_PASS_MAX],
                      size_t nfds)
{
    const struct link_handlers *call = link->handlers;
    int first = fds[0];
    switch (msg->type) {
    case KEEP_SLOT:
        if (arrival_add(&link->arrival, msg, fds, nfds))
            call->slot(link->arg, link->arrival.session, link->arrival.pid, link->arrival.fds);
        break;
    case KEEP_WAS: link_on_was(link, msg, &fds[0], &fds[1]); break;
    case KEEP_SLOT_LISTEN:
        fds[0] = -1;
        link->listener_given = msg->arg[0] != 0;
        call->listener(link->arg, first);
        break;
    case KEEP_HANDED:
        spare_release(&link->spare);
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
    case KEEP_MISSED: call->missed(link->arg, (unsigned)msg->arg[0], msg->session); break;
    default: log_warn("keeper: message of unknown type %u is left alone", msg->type);
    }
    for (size_t i = 0; i < nfds; i++)
        fd_close(&fds[i]);
}

/* Without a pidfd there is another way. Without a session's descriptors there is none, and without
 * the sentinel the death of the keeper would be taken for ours. */
static void receive(struct link *link, const struct keep_msg *msg, int fds[FD_PASS_MAX],
                    size_t nfds, bool cut)
{
    int journal;
    bool needed = msg->type == KEEP_SLOT || msg->type == KEEP_SLOT_LISTEN ||
                  (msg->type == KEEP_WAS && !link->was.type);
    if ((!cut && !link->arrival.cut) || !needed) {
        link_take(link, msg, fds, nfds);
    } else if (arrival_cut(&link->arrival, msg, fds, nfds, &journal)) {
        link->handlers->cut(link->arg, msg->type, msg->session, (pid_t)msg->pid, journal);
        /* so that the next ones come with their journals, and have names at least */
        if (journal < 0)
            spare_release_one(&link->spare);
        fd_close(&journal);
    }
    if (msg->type == KEEP_SLOT && link->again) {
        link->again = false;
        spare_release(&link->spare);
    }
}

static void lose(struct link *link)
{
    /* stays open until the handler has taken it out of its loop, and then has perhaps another
     * number */
    int dead = link->fd;
    parcels_clear(&link->queue);
    parcels_clear(&link->late);
    link->nlate = 0;
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
        bool cut = false;
        ssize_t n = fd_recv_cut(link->fd, &msg, sizeof msg, fds, &nfds, &cut, MSG_DONTWAIT);
        /* short: it is still there in the next turn */
        if (n < 0 && (errno == EAGAIN || fd_is_short(errno)))
            return;
        /* it left without having read all of ours: told once, before its last words */
        if (n < 0 && errno == ECONNRESET)
            continue;
        if (n <= 0)
            lose(link);
        else if (n == sizeof msg && msg.size_and_protocol == ABOUT)
            receive(link, &msg, fds, nfds, cut);
        else
            BUG("a message of %zd bytes from another protocol than %d", n,
                KEEP_PROTOCOL); /* keep_protocol_word was the same */
    }
}

void link_replace(struct link *link, int fd)
{
    fd_close(&link->fd);
    parcels_clear(&link->queue);
    parcels_clear(&link->late);
    link->nlate = 0;
    arrival_drop(&link->arrival);
    spare_release(&link->spare);
    link->again = false;
    link->fd = fd;
    link->seq = 0;
    link->full = false;
    link->was.pid = 0;
    fd_set_nonblock(fd, true);
    fd_set_cloexec(fd, true);
    post(link,
         (struct keep_msg){
             .type = KEEP_WAS,
             .arg = {link->was.arg[0], link->was.arg[1], link->was.arg[2], link->was.arg[3]}},
         &link->sentinel, link->sentinel >= 0);
}

void link_hello(struct link *link)
{
    spare_hold(&link->spare);
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

void link_listen(struct link *link, int fd, bool given)
{
    post(link, (struct keep_msg){.type = KEEP_LISTEN, .arg = {given}}, &fd, 1);
}

void link_spawn(struct link *link, uint64_t session, int plan_fd, const int stdio[3],
                const int held[KEEP_FD_COUNT])
{
    int fds[FD_PASS_MAX] = {plan_fd, stdio[0], stdio[1], stdio[2]};
    struct keep_msg msg = {.type = KEEP_SPAWN, .session = session};
    size_t n = 4;
    for (int tag = 0; held && tag < KEEP_FD_COUNT; tag++)
        if (held[tag] >= 0) {
            BUG_UNLESS(n < FD_PASS_MAX);
            msg.arg[0] |= 1 << tag;
            fds[n++] = held[tag];
        }
    post(link, msg, fds, n);
}

void link_adopt(struct link *link, uint64_t session, pid_t pid, int pidfd)
{
    post(link, (struct keep_msg){.type = KEEP_ADOPT, .session = session, .pid = pid}, &pidfd,
         pidfd >= 0);
}

void link_ack(struct link *link, uint64_t session, pid_t pid, unsigned mask)
{
    post_late(link,
              &(struct keep_msg){.type = KEEP_ACK, .session = session, .pid = pid, .arg = {mask}});
}

static void post_plain(struct link *link, uint32_t type, uint64_t session)
{
    post(link, (struct keep_msg){.type = type, .session = session}, NULL, 0);
}

void link_release(struct link *link, uint64_t session, unsigned mask)
{
    post_late(link, &(struct keep_msg){.type = KEEP_DROP, .session = session, .arg = {mask}});
}

bool link_again(struct link *link, uint64_t session, bool urgent)
{
    bool free = spare_hold(&link->spare);
    if (!free || urgent)
        spare_release(&link->spare);
    if (!free && !urgent)
        return false;
    link->again = true;
    post_plain(link, KEEP_AGAIN, session);
    return true;
}

void link_drop(struct link *link, uint64_t session) { link_release(link, session, 0); }
void link_served(struct link *link) { post_plain(link, KEEP_SERVED, 0); }
void link_stop(struct link *link) { post_plain(link, KEEP_STOP, 0); }
void link_upgrade(struct link *link) { post_plain(link, KEEP_UPGRADE, 0); }

pid_t link_keeper_pid(const struct link *link)
{
    return link->fd >= 0 ? (pid_t)link->was.pid : 0;
}

bool link_listener_given(const struct link *link) { return link->listener_given; }
int link_keeper_exe(const struct link *link) { return link->keeper_exe; }
int link_predecessor(const struct link *link) { return link->predecessor; }

const char *link_upgrade_text(const struct link *link)
{
    static const char *const texts[] = {
        [KEEP_UPGRADE_TRIAL] = "run the new programs",
        [KEEP_UPGRADE_EXEC] = "execute the new keeper",
        [KEEP_UPGRADE_STATE] = "have the sessions taken over by the new keeper",
        [KEEP_UPGRADE_WORKER] = "have the new worker come up"};
    bool known = link->upgrade_tried > 0 &&
                 link->upgrade_tried < (int)(sizeof texts / sizeof *texts);
    return known ? texts[link->upgrade_tried] : "upgrade";
}
