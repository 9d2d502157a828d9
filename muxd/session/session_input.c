/* session_input.c: owns the way of input from a request to the program: queued whole, held until
 * the program reads for the first time, and typed as fast as the kernel takes it. */
#include "base/bug.h"
#include "base/fdio.h"
#include "base/log.h"
#include "session/input.h"
#include "session/internal.h"
#include "sys/pty.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define KEPT_PAGES 16     /* of all sessions' input queues */
#define INPUT_AGAIN_MS 20 /* the kernel had no memory for it */

static void end_hold(struct session *session)
{
    if (session->input.held)
        session->input.hold_ended_ns = loop_now_ns(session->registry->loop);
    session->input.held = false;
    if (!session->input.hold_wanted)
        return;
    loop_timer_stop(&session->input.hold);
    session->input.hold_wanted = false;
    session_dirty(session);
}

/* C-c, C-\ or C-z: they act on a program that does not read, too. */
static bool session_input_interrupts(const char *data, size_t size)
{
    return memchr(data, 3, size) || memchr(data, 28, size) || memchr(data, 26, size);
}

int session_queue_input(struct session *session, const struct input *input, bool secret,
                        const struct author *author, struct err *err)
{
    uint64_t line_from;
    struct journal *journal = session->journal;
    const char *data = input->data;
    size_t size = input->size;
    BUG_UNLESS(!session->gone && (data || size == 0));
    part_answer(session); /* the program asked before: the answer goes first */
    int code = session_check_input(session, data, size, &line_from, err);
    if (code)
        return code;
    /* Noted first: to a successor, a note beyond the end of the queue means "not done". */
    if (input->request_hash)
        journal_request_note(journal, input->request_hash,
                             journal_in_head(session->journal) + size);
    if (size > 0 && !journal_input_append(journal, data, size))
        return err_set(err, ERR_INPUT_FULL,
                       "'%s' has no room in its input queue; wait until it has read",
                       session_name(session));
    session->input.line_from = line_from;
    if (secret)
        session->input.wipe_to = journal_in_head(session->journal);
    session->input.last_ns = loop_now_ns(session->registry->loop);
    learned_typed(session, data, size);
    if (session->input.held && size > 0 && session_input_interrupts(data, size))
        end_hold(session);
    part_typed(session, data, size, author); /* before the program can change its terminal */
    session_flush_input(session);
    if (session->prompt.policy && session_input_interrupts(data, size))
        readiness_interrupt(session->prompt.policy);
    return 0;
}

int session_type(struct session *session, const char *data, size_t size, uint64_t request_hash,
                 bool secret, struct err *err)
{
    const struct input input = {.data = data, .size = size, .request_hash = request_hash};
    return session_queue_input(session, &input, secret, NULL, err);
}

bool session_queue_answer(struct session *session, const char *data, size_t size)
{
    BUG_UNLESS(session_is_tty(session) && size > 0);
    bool queued = journal_input_append(session->journal, data, size);
    if (queued)
        session->input.line_from = journal_in_head(session->journal);
    return queued;
}

int session_type_direct(struct session *session, const char *data, size_t size, struct err *err)
{
    int code = session_check_direct(session, err);
    if (code)
        return code;
    if (session->input.held)
        end_hold(session);
    prompt_mark(session);
    session->input.last_ns = loop_now_ns(session->registry->loop);
    session->input.line_from = journal_in_head(session->journal);
    ssize_t n;
    do
        n = write(session_input_fd(session), data, size);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)size)
        return 0;
    return err_set(err, ERR_SYSTEM, "'%s' takes no input now: %s; try again", session_name(session),
                   n < 0 ? strerror(errno) : "the kernel took only a part of it");
}

bool session_is_held(const struct session *session)
{
    return session->input.held;
}

int64_t session_last_input_ns(const struct session *session)
{
    return session->input.last_ns;
}

int64_t session_hold_ended_ns(const struct session *session)
{
    return session->input.held ? 0 : session->input.hold_ended_ns;
}

int session_close_stdin(struct session *session, struct err *err)
{
    if (session_is_tty(session))
        return err_set(err, ERR_NOT_AVAILABLE,
                       "'%s' has a terminal, whose input has no end; type C-d",
                       session_name(session));
    int code = session_check_open(session, err);
    if (code)
        return code;
    session->input.to_close = true;
    session->journal->header->stdin_open = 0;
    session_flush_input(session);
    return 0;
}

/* The kernel is asked for room only while input waits for it. */
static void set_blocked(struct session *session, bool blocked)
{
    bool tty = session_is_tty(session);
    if (session->input.blocked == blocked)
        return;
    session->input.blocked = blocked;
    if (session->prompt.policy)
        readiness_hold(session->prompt.policy, blocked);
    struct loop_io *io = tty ? session->out.io : session->input.io;
    unsigned events = (tty ? LOOP_READ | LOOP_EDGE : 0) | (blocked ? LOOP_WRITE | LOOP_EDGE : 0);
    if (io && loop_io_set(io, events) != 0)
        log_warn("input of session %llu can't be watched: %s",
                 (unsigned long long)session_number(session), strerror(errno));
}

static void on_pipe(void *arg, unsigned events)
{
    (void)events; /* a hang-up shows as EPIPE of the next write */
    session_flush_input(arg);
}

static void block(struct session *session)
{
    if (!session_is_tty(session) && !session->input.io) {
        session->input.io = loop_io_new(session->registry->loop, session->input.fd,
                                        LOOP_WRITE | LOOP_EDGE, on_pipe, session);
        session->input.blocked = session->input.io != NULL;
        if (!session->input.io)
            log_warn("input of session %llu can't be watched: %s",
                     (unsigned long long)session_number(session), strerror(errno));
    } else {
        set_blocked(session, true);
    }
}

static void close_pipe(struct session *session)
{
    loop_io_free(session->input.io);
    session->input.io = NULL;
    session->input.blocked = false;
    if (session->input.fd < 0)
        return;
    fd_close(&session->input.fd);
    session->journal->header->stdin_open = 0;
    if (session->registry->link) /* the keeper's duplicate would hide the end of file */
        link_release(session->registry->link, session_number(session), 1u << KEEP_FD_IN);
}

void session_input_adopt(struct session *session)
{
    session->input.line_from = journal_in_head(session->journal);
    session->input.to_close = !session_is_tty(session) && !session->journal->header->stdin_open &&
                              session->input.fd >= 0;
}

void session_input_fini(struct session *session)
{
    session_trim_input(session);
    loop_timer_stop(&session->input.hold);
    loop_io_free(session->input.io);
    fd_close(&session->input.fd);
}

void session_hold(struct session *session, int64_t ms)
{
    session->input.held |= ms > 0;
    session->input.hold_ms = ms > session->input.hold_ms ? ms : session->input.hold_ms;
}

void session_input_close(struct session *session)
{
    end_hold(session);
    journal_input_drop(session->journal);
    if (session_is_tty(session))
        set_blocked(session, false);
    else
        close_pipe(session);
}

/* True while the program may still be setting up its terminal, which throws away what was typed
 * before (tcsetattr(3), TCSAFLUSH). */
static bool hold_back(struct session *session)
{
    if (!session->input.held)
        return false;
    session_want_hold_end(session);
    return session->input.held;
}

void session_want_hold_end(struct session *session)
{
    int64_t until = session->created_ns + session->input.hold_ms * NS_PER_MS;
    if (!session->input.held)
        return;
    if (until <= loop_now_ns(session->registry->loop)) {
        end_hold(session);
    } else if (!session->input.hold_wanted) {
        session->input.hold_wanted = true;
        loop_timer_set_ns(&session->input.hold, until);
        session_dirty(session); /* so that ready is asked for */
    }
}

void session_want_room(struct session *session)
{
    session->input.room_wanted = true;
}

void session_hold_text(struct session *session)
{
    session->input.held_text = true;
}

void session_release_hold(struct session *session)
{
    if (!session->input.held)
        return;
    part_answer(session);
    end_hold(session);
    session_flush_input(session);
}

static void drop_input(struct session *session, int error)
{
    log_info("session %llu takes no more input: %s",
             (unsigned long long)session_number(session), strerror(error));
    journal_input_drop(session->journal);
    if (!session_is_tty(session))
        close_pipe(session);
}

/* The queue has text of an agent. True: the program reads a secret by now, and all that was typed
 * before it asked is dropped. */
static bool drop_held_text(struct session *session)
{
    if (session->registry->cfg->defaults.agent_secrets || !session_reads_secret(session))
        return false;
    session->input.held_text = false;
    log_warn("session %llu reads a secret: what was typed before it asked is thrown away",
             (unsigned long long)session_number(session));
    journal_input_drop(session->journal);
    pty_erase_line(session->out.fd); /* its beginning would become a part of the secret */
    session->input.line_from = journal_in_head(session->journal);
    return true;
}

void session_trim_input(struct session *session)
{
    if (list_is_empty(&session->input.typed))
        return;
    list_remove(&session->input.typed);
    session->registry->ntyped--;
    journal_trim(session->journal);
    echoes_rest(session);
}

/* The few sessions that are typed into keep the page for their next input: to give it back each
 * time would cost more than the typing. */
static void keep_page(struct session *session)
{
    struct registry *registry = session->registry;
    registry->ntyped += list_is_empty(&session->input.typed);
    list_remove(&session->input.typed);
    list_append(&registry->typed, &session->input.typed);
    if (registry->ntyped > KEPT_PAGES)
        session_trim_input(LIST_OWNER(registry->typed.next, struct session, input.typed));
}

void session_flush_input(struct session *session)
{
    struct journal *journal = session->journal;
    if (journal_in_head(journal) != journal_in_tail(journal) && session_input_fd(session) >= 0) {
        if (hold_back(session))
            return;
        if (session->input.held_text && drop_held_text(session))
            return;
        prompt_mark(session);
        echoes_sent(session);
        ssize_t n = 1;
        while (n > 0 && journal_in_head(journal) != journal_in_tail(journal))
            n = transfer_out(session->registry->transfer, journal, session_input_fd(session),
                             journal_in_tail(journal) < session->input.wipe_to);
        if (session->input.room_wanted)
            session_dirty(session);
        session->input.room_wanted = false;
        keep_page(session);
        if (journal_in_head(journal) == journal_in_tail(journal))
            session->input.held_text = false;
        if (n == -EAGAIN || n == 0) {
            block(session);
            return;
        }
        if (fd_is_short((int)-n)) { /* what was accepted stays in the queue */
            loop_timer_set_ms(&session->input.hold, INPUT_AGAIN_MS);
            return;
        }
        if (n < 0)
            drop_input(session, (int)-n);
    }
    set_blocked(session, false);
    if (session->input.to_close)
        close_pipe(session);
}
