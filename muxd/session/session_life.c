/* session_life.c: owns a session's making and unmaking. */
#include "base/bug.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "session/internal.h"
#include "session/sandbox.h"
#include "sys/proc.h"
#include <stdlib.h>

static void session_on_drain(void *arg)
{
    session_dirty(arg);
}

static void session_on_hold(void *arg)
{
    struct session *session = arg;
    if (session->input.held)
        session_release_hold(session);
    else
        session_flush_input(session);
}

struct session *session_new(struct registry *registry, struct journal *journal,
                            const int fds[KEEP_FD_COUNT])
{
    BUG_UNLESS(journal && registry);
    struct session *session = xcalloc(1, sizeof *session);
    session->registry = registry;
    session->journal = journal;
    struct list *nodes[] = {&session->order, &session->dirty, &session->more,
                            &session->aged,  &session->waits, &session->input.typed};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
        list_init(nodes[i]);
    session->out = (struct stream){.session = session,
                                   .fd = fds[KEEP_FD_MASTER] >= 0 ? fds[KEEP_FD_MASTER]
                                                                  : fds[KEEP_FD_OUT]};
    session->errors = (struct stream){
        .session = session, .fd = fds[KEEP_FD_ERR], .is_stderr = true};
    session->input.fd = fds[KEEP_FD_IN];
    session->part_fd = fds[KEEP_FD_SECRET];
    session->pidfd = -1;
    session->seen_head = journal_head(journal);
    session->created_ns = session->last_output_ns = session->input.last_ns = loop_now_ns(
        registry->loop);
    loop_timer_init(&session->exit.drain, registry->loop, session_on_drain, session);
    loop_timer_init(&session->input.hold, registry->loop, session_on_hold, session);
    loop_timer_init(&session->limits.lifetime, registry->loop, NULL, session);
    loop_timer_init(&session->limits.idle, registry->loop, NULL, session);
    loop_timer_init(&session->limits.usage, registry->loop, NULL, session);
    session_sandbox_adopt(session);
    return session;
}

void session_free(struct session *session)
{
    session_go(session);
    waiter_end_all(session);
    part_free(session);
    for (int id = 0; id < PART_COUNT; id++)
        BUG_UNLESS(!session->part[id]);
    for (int id = 0; id < TABLE_COUNT; id++)
        BUG_UNLESS(!session->chains[id].in);
    prompt_fini(session);
    fd_close(&session->part_fd);
    loop_timer_stop(&session->exit.drain);
    fd_close(&session->pidfd);
    session_input_fini(session);
    session_io_close(session);
    list_remove(&session->dirty);
    list_remove(&session->aged);
    journal_free(session->journal);
    free(session->birth.program);
    free(session->nonce);
    echoes_free(session->echoes);
    times_free(session->times);
    free(session);
}

void session_set_pid(struct session *session, pid_t pid, int pidfd)
{
    struct journal_header *header = session->journal->header;
    struct proc_stat stat;
    BUG_UNLESS(pid > 0);
    /* else a predecessor has looked, and the process is the same */
    if (atomic_load(&header->pid) != pid || header->pid_start_ticks == 0)
        header->pid_start_ticks = proc_stat(pid, &stat) ? stat.start_ticks : 0;
    atomic_store(&header->pid, (int32_t)pid);
    atomic_store(&header->state, SESSION_RUNNING);
    fd_close(&session->pidfd);
    session->keeper_knows = true;
    /* while a predecessor's sessions come in, the room is for their descriptors */
    session->pidfd = pidfd >= 0 || !session->registry->handed_over ? pidfd : proc_pidfd(pid);
    prompt_start(session);
}

/* There may have been no descriptor left for it when the program began. The process number still
 * belongs to it: its start time says so, or the keeper, which reaps its own child only after the
 * exit is acknowledged. */
int session_pidfd(struct session *session)
{
    struct proc_stat stat;
    pid_t pid = session_pid(session);
    uint64_t start_ticks = session->journal->header->pid_start_ticks;
    if (session->pidfd >= 0 || pid <= 0 || session->exited)
        return session->pidfd;
    int pidfd = proc_pidfd(pid);
    bool same = start_ticks ? proc_stat(pid, &stat) && stat.start_ticks == start_ticks
                            : session->own_child;
    if (!same)
        fd_close(&pidfd);
    return session->pidfd = pidfd;
}

void session_close_pidfd(struct session *session)
{
    fd_close(&session->pidfd);
}

void session_set_own_child(struct session *session, bool own)
{
    session->own_child = own;
}

void session_go(struct session *session)
{
    session->gone = true;
    limits_stop(session);
}

int session_take_part_fd(struct session *session)
{
    int fd = session->part_fd;
    session->part_fd = -1;
    return fd;
}
