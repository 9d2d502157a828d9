/* link.c: owns the worker's end of the link, and the queue of what the socket did not take. */
#include "keep/link.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "keep/link_inner.h"
#include "keep/plan.h"
#include "keep/trial.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* When so many messages wait for the end of the turn, they are sent earlier: each new message is
 * compared with all of them. */
#define LATE_MAX 256
#define SPAWN_FDS 4 /* plan and stdio; what follows is held */

void link_clear(struct link *link)
{
    parcels_clear(&link->queue);
    parcels_clear(&link->late);
    link->nlate = 0;
    link->full = false;
}

struct link *link_new(int fd, const struct link_handlers *handlers, void *arg)
{
    struct link *link = xcalloc(1, sizeof *link);
    BUG_UNLESS(fd >= 0 && handlers);
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
    link_clear(link);
    parcels_clear(&link->refused);
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

bool link_is_short(const struct link *link)
{
    return link_wants_write(link) && link->shortage != 0;
}

/* False: try again later. True: sent, or the keeper is dead, which link_on_readable finds out.
 * ETOOMANYREFS: all processes of the user together have more descriptors under way than one may
 * have open (unix(7)). */
static bool send_now(struct link *link, struct keep_msg *msg, const int *fds, size_t nfds)
{
    BUG_UNLESS(msg->type != 0 && nfds <= FD_PASS_MAX);
    msg->size_and_protocol = LINK_ABOUT;
    msg->seq = link->seq + 1;
    if (link->fd < 0 || fd_send(link->fd, msg, sizeof *msg, fds, nfds, MSG_DONTWAIT) >= 0) {
        link->seq++;
        return true;
    }
    bool is_short = errno == ETOOMANYREFS || errno == ENOMEM || errno == ENOBUFS;
    link->shortage = is_short ? errno : 0;
    return errno != EAGAIN && !is_short;
}

/* The first `given` descriptors become the queue's. When the kernel was short of something, that is
 * why a message had to wait at all, and what has to be raised. */
static void queue_up(struct link *link, const struct keep_msg *msg, const int *fds, size_t nfds,
                     size_t given)
{
    struct parcel *parcel = parcel_new(msg);
    link->full = true;
    if (parcel_take(parcel, fds, nfds, given)) {
        STAILQ_INSERT_TAIL(&link->queue, parcel, next);
        return;
    }
    parcel->error = link->shortage ? link->shortage : parcel->error;
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

void link_hurry(struct link *link)
{
    late_is_due(link);
}

/* A message about all sessions, or about one with late messages, must not overtake these. */
static bool would_overtake(const struct link *link, uint64_t session)
{
    const struct parcel *parcel;
    bool found = session == 0;
    STAILQ_FOREACH(parcel, &link->late, next)
        found |= parcel->msg.session == session;
    return found;
}

/* True: sent after all that was said before. */
static bool try_post(struct link *link, struct keep_msg msg, const int *fds, size_t nfds)
{
    if (would_overtake(link, msg.session))
        late_is_due(link);
    return drain(link) && send_now(link, &msg, fds, nfds);
}

static void post(struct link *link, struct keep_msg msg, const int *fds, size_t nfds)
{
    if (!try_post(link, msg, fds, nfds))
        queue_up(link, &msg, fds, nfds, 0);
}

/* Housekeeping does not wake the keeper while clients wait for answers: it would take the processor
 * from those who answer. */
static void post_late(struct link *link, const struct keep_msg *msg)
{
    struct parcel *parcel = parcel_new(msg);
    STAILQ_INSERT_TAIL(&link->late, parcel, next);
    if (++link->nlate >= LATE_MAX)
        late_is_due(link);
}

/* Somebody waits for each start of a program, and the kernel may lack room for ever. What else
 * waits can wait for as long as that. */
static void refuse_overdue(struct link *link)
{
    struct parcels all = STAILQ_HEAD_INITIALIZER(all);
    struct parcel *parcel;
    int64_t begun_ms = clock_mono_ms() - LINK_SHORT_MS;
    STAILQ_CONCAT(&all, &link->queue);
    while ((parcel = STAILQ_FIRST(&all)) != NULL) {
        bool overdue = parcel->msg.type == KEEP_SPAWN && parcel->since_ms <= begun_ms;
        STAILQ_REMOVE_HEAD(&all, next);
        parcel->error = link->shortage;
        STAILQ_INSERT_TAIL(overdue ? &link->refused : &link->queue, parcel, next);
    }
}

/* A new keeper that misses KEEP_WAS makes its own sentinel. */
static void tell_refused(struct link *link)
{
    struct parcel *parcel;
    while ((parcel = STAILQ_FIRST(&link->refused)) != NULL) {
        STAILQ_REMOVE_HEAD(&link->refused, next);
        if (parcel->msg.type == KEEP_SPAWN)
            link->handlers->failed(link->arg, parcel->msg.session, PLAN_HAND_OVER, parcel->error);
        else if (parcel->msg.type != KEEP_WAS)
            link->handlers->missed(link->arg);
        parcel_free(parcel);
    }
}

void link_flush(struct link *link)
{
    late_is_due(link);
    if (!drain(link) && link->shortage != 0)
        refuse_overdue(link);
    tell_refused(link);
    link->full = !STAILQ_EMPTY(&link->queue);
    if (!link->full && link->fd >= 0)
        link->handlers->room(link->arg); /* may fill it again */
}

void link_replace(struct link *link, int fd)
{
    BUG_UNLESS(fd >= 0);
    fd_close(&link->fd);
    link_clear(link);
    link->fd = fd;
    link->seq = 0;
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
    post(link, (struct keep_msg){.type = KEEP_HELLO, .arg = {KEEP_PROTOCOL}}, NULL, 0);
}

/* Adds the descriptors to those of the message, under their tags; how many there are then. */
static size_t add_held(struct keep_msg *msg, int fds[FD_PASS_MAX], size_t count,
                       const int held[KEEP_FD_COUNT])
{
    for (int tag = 0; tag < KEEP_FD_COUNT; tag++)
        if (held[tag] >= 0) {
            BUG_UNLESS(count < FD_PASS_MAX);
            msg->arg[0] |= 1 << tag;
            fds[count++] = held[tag];
        }
    return count;
}

void link_hold(struct link *link, uint64_t session, const int fds[KEEP_FD_COUNT])
{
    struct keep_msg msg = {.type = KEEP_HOLD, .session = session};
    int held[FD_PASS_MAX];
    size_t n = add_held(&msg, held, 0, fds);
    if (n > 0)
        post(link, msg, held, n);
}

static struct keep_msg adopt_msg(uint64_t session, pid_t pid)
{
    BUG_UNLESS(pid > 0);
    return (struct keep_msg){.type = KEEP_ADOPT, .session = session, .pid = pid};
}

bool link_give(struct link *link, uint64_t session, const int fds[KEEP_FD_COUNT], pid_t pid,
               int pidfd)
{
    struct keep_msg msg = {.type = KEEP_HOLD, .session = session};
    int held[FD_PASS_MAX];
    size_t n = add_held(&msg, held, 0, fds);
    bool given = (n == 0 || try_post(link, msg, held, n)) &&
                 (pidfd < 0 || try_post(link, adopt_msg(session, pid), &pidfd, 1));
    link->full |= !given;
    return given;
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
    BUG_UNLESS(plan_fd >= 0);
    size_t n = held ? add_held(&msg, fds, SPAWN_FDS, held) : SPAWN_FDS;
    if (!try_post(link, msg, fds, n)) {
        queue_up(link, &msg, fds, n, SPAWN_FDS);
        return;
    }
    for (size_t i = 0; i < SPAWN_FDS; i++)
        fd_close(&fds[i]);
}

void link_adopt(struct link *link, uint64_t session, pid_t pid, int pidfd)
{
    post(link, adopt_msg(session, pid), &pidfd, pidfd >= 0);
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

void link_drop(struct link *link, uint64_t session) { link_release(link, session, 0); }
void link_served(struct link *link) { post_plain(link, KEEP_SERVED, 0); }
void link_stop(struct link *link) { post_plain(link, KEEP_STOP, 0); }
void link_stopping(struct link *link) { post_plain(link, KEEP_STOPPING, 0); }
void link_upgrade(struct link *link) { post_plain(link, KEEP_UPGRADE, 0); }

pid_t link_keeper_pid(const struct link *link)
{
    return link->fd >= 0 ? (pid_t)link->was.pid : 0;
}

bool link_listener_given(const struct link *link) { return link->listener_given; }
int link_keeper_exe(const struct link *link) { return link->keeper_exe; }
int link_predecessor(const struct link *link) { return link->predecessor; }

const char *link_upgrade_why(int error)
{
    switch (error) {
    case ENODATA: return "it gives no answer of ours; install muxd and muxd-keeper again";
    case EBADMSG: return "another process answers than was started; install the program itself, "
                         "not one that starts it";
    case EPROTO: return "it is of another protocol; install muxd and muxd-keeper of one release";
    case ENOEXEC: return "it is no program for this machine, or a part of one only; install it "
                         "again";
    case EPROTONOSUPPORT: return "it can't read the journals of these sessions";
    case TRIAL_NO_CONFIG: return "it can't read the config; its `muxd --check-config` names the "
                                 "line";
    case ECHILD: return "it has ended";
    case ECANCELED: return "a stop has begun";
    case EBUSY: return "another upgrade is under way; try again when it is over";
    case ETIMEDOUT: return "it takes too long";
    default: return strerror(error);
    }
}

const char *link_upgrade_text(const struct link *link)
{
    static const char *const texts[] = {
        [KEEP_UPGRADE_TRIAL] = "run the new programs",
        [KEEP_UPGRADE_EXEC] = "execute the new keeper",
        [KEEP_UPGRADE_STATE] = "have the sessions taken over by the new keeper",
        [KEEP_UPGRADE_WORKER] = "have the new worker come up",
        [KEEP_UPGRADE_KEEPER] = "be told by the new muxd-keeper that it can take over",
        [KEEP_UPGRADE_MUXD] = "be told by the new muxd that it can take over"};
    bool known = link->upgrade_tried > 0 &&
                 link->upgrade_tried < (int)(sizeof texts / sizeof *texts);
    return known ? texts[link->upgrade_tried] : "upgrade";
}
