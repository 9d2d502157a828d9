/* talk.c: owns the keeper's end of the link. Takes the worker's messages and sends what the worker
 * has to hear. Nothing is queued: what has to be sent stands in the slots, so a worker that reads
 * slowly or dies costs no memory, and its successor hears all of it. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "keep/keeper/kept.h"
#include "keep/sentinel.h"
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define TELL_AGAIN_MS 10
#define LEAVE_MS 1000 /* from the end of the link until the worker must have ended */
#define STOP_MS 10000 /* and from KEEP_STOP */
#define SPAWN_FDS 4 /* plan and stdio; what follows is held */
#define ABOUT (sizeof(struct keep_msg) << 16 | KEEP_PROTOCOL)

/* False: try again later. */
static bool keeper_talk_tell(struct keeper *keeper, struct keep_msg msg, const int *fds,
                             size_t nfds)
{
    BUG_UNLESS(msg.type >= KEEP_SLOT && nfds <= FD_PASS_MAX);
    if (keeper->link < 0)
        return false;
    msg.size_and_protocol = ABOUT;
    msg.seq = keeper->seq + 1;
    if (fd_send(keeper->link, &msg, sizeof msg, fds, nfds, MSG_DONTWAIT) >= 0) {
        keeper->seq++;
        return true;
    }
    if (errno == EAGAIN)
        keeper->want_write = true;
    /* too many descriptors in flight, or no memory: no event tells when that ends */
    else if (errno != EPIPE && errno != ECONNRESET)
        keeper->retry_at_ms = clock_mono_ms() + TELL_AGAIN_MS;
    return false;
}

/* False: the whole slot is told again later. */
static bool tell_slot(struct keeper *keeper, struct slot *slot)
{
    struct keep_msg msg = {.type = KEEP_SLOT, .session = slot->session, .pid = slot->pid};
    int fds[FD_PASS_MAX];
    size_t n = 0;
    for (int tag = 0; tag < KEEP_FD_COUNT && n < FD_PASS_MAX; tag++)
        if (slot->fds[tag] >= 0) {
            msg.arg[0] |= 1 << tag;
            fds[n++] = slot->fds[tag];
        }
    if (!keeper_talk_tell(keeper, msg, fds, n))
        return false;
    return slot->state != SLOT_FAILED ||
           keeper_talk_tell(keeper,
                            (struct keep_msg){.type = KEEP_FAILED,
                                              .session = slot->session,
                                              .arg = {slot->how[0], slot->how[1]}},
                            NULL, 0);
}

static bool tell_slots(struct keeper *keeper)
{
    while (keeper->hand) {
        if (keeper->hand->used && !keeper->hand->dropped && !tell_slot(keeper, keeper->hand))
            return false;
        keeper->hand = slots_next(&keeper->slots, keeper->hand);
    }
    return true;
}

static bool tell_was(struct keeper *keeper)
{
    const struct as_was *was = &keeper->was;
    struct keep_msg msg = {
        .type = KEEP_WAS,
        .pid = getpid(),
        .arg = {was->nofile_soft, was->core_soft, was->oom_score_adj, keeper->generation}};
    int fds[] = {keeper->exe, keeper->sentinel_fd};
    return keeper_talk_tell(keeper, msg, fds, keeper->sentinel_fd >= 0 ? 2 : 1);
}

static bool tell_listener(struct keeper *keeper)
{
    struct keep_msg msg = {.type = KEEP_SLOT_LISTEN, .arg = {keeper->listener_given}};
    return keeper->listener < 0 || keeper_talk_tell(keeper, msg, &keeper->listener, 1);
}

static bool tell_handed(struct keeper *keeper)
{
    struct keep_msg msg = {.type = KEEP_HANDED,
                           .arg = {keeper->slots.count, keeper->generation, keeper->worker_before}};
    minder_dismiss(keeper); /* first: from then on the worker starts a keeper in need */
    if (keeper->failed_error != 0)
        msg.arg[3] = keeper->failed_error | keeper->failed_tried << 16;
    if (!keeper_talk_tell(keeper, msg, NULL, 0))
        return false;
    SLOTS_EACH(&keeper->slots, slot)
        if (slot->state == SLOT_EXITED)
            slots_owe(&keeper->slots, slot, SLOT_OWES_EXITED);
    keeper->failed_error = 0;
    return true;
}

/* Each step of the hand-over is repeated until all of it is sent. */
static bool hand_over(struct keeper *keeper)
{
    BUG_UNLESS(keeper->talk != TALK_NONE);
    if (keeper->talk == TALK_WAS && tell_was(keeper))
        keeper->talk = TALK_LISTEN;
    if (keeper->talk == TALK_LISTEN && tell_listener(keeper))
        keeper->talk = TALK_SLOTS;
    if (keeper->talk == TALK_SLOTS && tell_slots(keeper))
        keeper->talk = TALK_HANDED;
    if (keeper->talk == TALK_HANDED && tell_handed(keeper))
        keeper->talk = TALK_DONE;
    return keeper->talk == TALK_DONE;
}

static bool tell_owed(struct keeper *keeper, struct slot *slot)
{
    struct keep_msg msg = {.session = slot->session, .pid = slot->pid};
    if (slot->owes & SLOT_OWES_SPAWNED) {
        msg.type = KEEP_SPAWNED;
        if (!keeper_talk_tell(keeper, msg, &slot->pidfd, slot->pidfd >= 0) &&
            !keeper_talk_tell(keeper, msg, NULL, 0)) /* the worker can do without the pidfd */
            return false;
        slot->owes &= (uint8_t)~SLOT_OWES_SPAWNED;
    }
    if (slot->owes == 0)
        return true;
    msg.type = slot->owes & SLOT_OWES_FAILED ? KEEP_FAILED : KEEP_EXITED;
    msg.arg[0] = slot->how[0];
    msg.arg[1] = slot->how[1];
    return keeper_talk_tell(keeper, msg, NULL, 0);
}

static void talk_send_owed(struct keeper *keeper)
{
    if (!hand_over(keeper))
        return;
    for (; keeper->odd_count > 0;
         keeper->odd_count--, keeper->odd_first = (keeper->odd_first + 1) % KEEPER_ODD_MAX) {
        if (!keeper_talk_tell(keeper, keeper->odd[keeper->odd_first], NULL, 0))
            return;
    }
    /* all is well; before, its death or that of the new keeper would have ended the programs */
    if (keeper->old_sentinel && keeper->sentinel > 0 && kill(keeper->sentinel, SIGKILL) == 0)
        sentinel_restart(keeper);
    keeper->old_sentinel = false;
    keeper->owes_was = keeper->owes_was && !tell_was(keeper);
    if (keeper->owes_missed &&
        !keeper_talk_tell(keeper, (struct keep_msg){.type = KEEP_MISSED}, NULL, 0))
        return;
    keeper->owes_missed = false;
    struct slot *slot;
    while ((slot = slots_first_owing(&keeper->slots)) != NULL) {
        if (!tell_owed(keeper, slot))
            return;
        slots_paid(&keeper->slots);
    }
}

void talk_pump(struct keeper *keeper)
{
    if (keeper->talk == TALK_NONE || keeper->link < 0)
        return;
    bool wanted = keeper->want_write;
    keeper->want_write = false;
    keeper->retry_at_ms = 0;
    talk_send_owed(keeper);
    if (keeper->want_write != wanted)
        keeper_watch(keeper, keeper->link, WATCH_LINK, 0, keeper->want_write);
}

void talk_odd(struct keeper *keeper, struct keep_msg msg)
{
    BUG_UNLESS(keeper->odd_count >= 0 && keeper->odd_count <= KEEPER_ODD_MAX);
    if (keeper->odd_count == KEEPER_ODD_MAX)
        return;
    keeper->odd[(keeper->odd_first + keeper->odd_count++) % KEEPER_ODD_MAX] = msg;
}

void talk_upgrade_failed(struct keeper *keeper, int error, int tried)
{
    talk_odd(keeper, (struct keep_msg){.type = KEEP_UPGRADE_FAILED, .arg = {error, tried}});
}

static void on_hello(struct keeper *keeper)
{
    slots_forgive(&keeper->slots);
    keeper->hand = slots_next(&keeper->slots, NULL);
    keeper->lacks = keeper->owes_missed = false; /* that was between us and the worker before */
    keeper->talk = TALK_WAS;
}

static void on_hold(struct keeper *keeper, const struct keep_msg *msg, int fds[], size_t nfds)
{
    struct slot *slot = slots_take(&keeper->slots, msg->session);
    size_t next = 0;
    for (int tag = 0; slot && !slot->dropped && tag < KEEP_FD_COUNT && next < nfds; tag++) {
        if (!(msg->arg[0] & 1 << tag))
            continue;
        fd_close(&slot->fds[tag]);
        slot->fds[tag] = fds[next];
        fds[next++] = -1;
    }
}

/* From here on clients may come: the process that waits for the first worker is told so. */
static void keeper_talk_tell_ready(struct keeper *keeper)
{
    keeper->listened = keeper->up = true;
    keeper->failures = 0;
    if (keeper->options.ready_fd < 0)
        return;
    ssize_t told = write(keeper->options.ready_fd, "1", 1);
    (void)told; /* that process may have gone */
    fd_close(&keeper->options.ready_fd);
    dup2(STDIN_FILENO, STDERR_FILENO); /* /dev/null: stderr led to our starter */
}

/* There was no room for all descriptors of the message, so nothing of it is used. True when that is
 * dealt with here. A worker listens even if its socket has no room here. */
static bool missed(struct keeper *keeper, const struct keep_msg *msg)
{
    if (msg->type == KEEP_LISTEN)
        keeper_talk_tell_ready(keeper);
    else if (msg->type != KEEP_HOLD && msg->type != KEEP_ADOPT)
        return false;
    keeper->lacks = keeper->owes_missed = true;
    return true;
}

/* It comes last when a worker gives everything again. */
static void on_listen(struct keeper *keeper, const struct keep_msg *msg, int *fd)
{
    fd_close(&keeper->listener);
    keeper->listener = *fd;
    keeper->listener_given = msg->arg[0] != 0;
    *fd = -1;
    keeper->lacks = keeper->owes_missed;
    keeper_talk_tell_ready(keeper);
}

static void keeper_talk_on_was(struct keeper *keeper, const struct keep_msg *msg, int *fd)
{
    keeper->was = (struct as_was){msg->arg[0], msg->arg[1], msg->arg[2]};
    keeper->generation = msg->arg[3];
    fd_close(&keeper->sentinel_fd);
    keeper->sentinel_fd = *fd;
    *fd = -1;
    sentinel_listen(keeper->sentinel_fd);
    if (keeper->sentinel_fd < 0)
        sentinel_restart(keeper);
    keeper->owes_was = true; /* the worker has to learn our pid: it is not our child */
}

static void talk_take_msg(struct keeper *keeper, const struct keep_msg *msg, int fds[FD_PASS_MAX],
                          size_t nfds)
{
    switch (msg->type) {
    case KEEP_HELLO: on_hello(keeper); break;
    case KEEP_HOLD: on_hold(keeper, msg, fds, nfds); break;
    case KEEP_LISTEN: on_listen(keeper, msg, &fds[0]); break;
    case KEEP_SPAWN:
        if (nfds > SPAWN_FDS)
            on_hold(keeper, msg, fds + SPAWN_FDS, nfds - SPAWN_FDS);
        programs_spawn(keeper, msg->session, fds, nfds < SPAWN_FDS ? nfds : SPAWN_FDS);
        break;
    case KEEP_ACK:
        if (msg->arg[0] != 0)
            programs_drop(keeper, msg->session, msg->arg[0]);
        programs_ack(keeper, msg->session, (pid_t)msg->pid);
        break;
    case KEEP_DROP: programs_drop(keeper, msg->session, msg->arg[0]); break;
    case KEEP_SERVED: supervise_served(keeper); break;
    case KEEP_STOP:
        keeper->stopped = true;
        keeper->leave_until_ms = clock_mono_ms() + STOP_MS; /* fall through */
    case KEEP_STOPPING:
        keeper->stopping = true;
        keeper->stop_told = keeper->generation;
        break;
    case KEEP_UPGRADE: trials_begin(keeper); break;
    case KEEP_ADOPT:
        programs_adopt(keeper, msg->session, (pid_t)msg->pid, fds[0]);
        fds[0] = -1;
        break;
    case KEEP_WAS: keeper_talk_on_was(keeper, msg, &fds[0]); break;
    default: break;
    }
    for (size_t i = 0; i < nfds; i++)
        fd_close(&fds[i]);
}

void talk_take(struct keeper *keeper)
{
    while (keeper->link >= 0) {
        struct keep_msg msg = {.type = 0};
        int fds[FD_PASS_MAX] = {-1, -1, -1, -1, -1, -1, -1, -1};
        size_t nfds = FD_PASS_MAX;
        bool cut = false;
        ssize_t n = fd_recv_cut(keeper->link, &msg, sizeof msg, fds, &nfds, &cut, MSG_DONTWAIT);
        for (; cut && nfds > 0; nfds--)
            fd_close(&fds[nfds - 1]);
        /* the kernel is short of memory: the message is still there in the next turn */
        if (n < 0 && (errno == EAGAIN || fd_is_short(errno)))
            return;
        /* it died with messages of ours unread: the kernel says so once, before its last words */
        if (n < 0 && errno == ECONNRESET)
            continue;
        if (n <= 0) {
            talk_over(keeper);
            if (keeper->leave_until_ms == 0)
                keeper->leave_until_ms = clock_mono_ms() + LEAVE_MS;
            return;
        }
        if (n == sizeof msg && msg.size_and_protocol == ABOUT && (!cut || !missed(keeper, &msg)))
            talk_take_msg(keeper, &msg, fds, nfds);
        else
            for (size_t i = 0; i < nfds; i++)
                fd_close(&fds[i]);
    }
}

void talk_over(struct keeper *keeper)
{
    if (keeper->link >= 0)
        keeper_unwatch(keeper, keeper->link);
    fd_close(&keeper->link);
    keeper->talk = TALK_NONE;
    keeper->want_write = false;
    keeper->retry_at_ms = 0;
}
