/* call: owns a request until its answer is there. Sessions outlive the worker: when the connection
 * is lost, the same request with the same request_id goes to the worker's successor. */
#include "client/rpc/call.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/limit.h"
#include "client/print/say.h"
#include "client/rpc/other_release.h"
#include "client/rpc/ue.h"
#include "client/rpc/unread.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* for a restart while the socket's path is missing; a daemon that lives binds it again at once */
#define REOPEN_GONE_MS 1500
#define CANCEL_ANSWER_MS 2000 /* for the answer to a cancelled call */

static volatile sig_atomic_t interrupts;
static volatile sig_atomic_t waiting; /* in a call that ^C ends */
static volatile sig_atomic_t held;    /* interrupts that calls have handled, and one; 0: not held */

static void call_on_interrupt(int signo)
{
    (void)signo;
    interrupts++;
    if (held && !waiting && interrupts > held)
        _exit(UE_INTERRUPTED); /* the second one in a row, and no call looks: we may be stuck */
}

int call_hold_interrupts(struct connection *conn, struct err *err)
{
    struct sigaction before, action = {.sa_handler = call_on_interrupt};
    int result = connection_open(conn, err);
    if (result < 0)
        return result;
    if (sigaction(SIGINT, &action, &before) == 0 && before.sa_handler == SIG_IGN)
        sigaction(SIGINT, &before, NULL);
    else
        held = interrupts + 1;
    return 0;
}

bool call_is_interrupted(void)
{
    return held && interrupts >= held;
}

struct watch { /* what SIGINT did before */
    struct sigaction action;
    sigset_t mask;
};

/* Until unwatch_interrupt SIGINT is delivered only while we poll. It stays ignored where it was
 * ignored (a shell's background jobs). */
static void watch_interrupt(struct watch *before)
{
    struct sigaction action = {.sa_handler = call_on_interrupt};
    sigset_t block;
    sigemptyset(&block);
    sigaddset(&block, SIGINT);
    sigprocmask(SIG_BLOCK, &block, &before->mask);
    if (sigaction(SIGINT, &action, &before->action) == 0 && before->action.sa_handler == SIG_IGN)
        sigaction(SIGINT, &before->action, NULL);
}

static void unwatch_interrupt(const struct watch *before)
{
    sigaction(SIGINT, &before->action, NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

struct call {
    struct connection *conn;
    struct buf line; /* the request */
    int64_t id;
    unsigned flags;
    struct watch before; /* with CALL_WAITS; its mask is in effect while we poll */
    int interrupted;     /* interrupts that were handled */
    bool fed;            /* cancelled, because standard input can be read */
    int64_t give_up_ms;  /* clock_mono_ms; set by the first interrupt */
    struct msg_answer *answer;
    struct err *err;
};

enum step { STEP_DONE = 1, STEP_LOST = 2, STEP_FED = 3 }; /* besides 0 and errors */

static int call_interrupted(struct call *call)
{
    return err_set(call->err, ERR_CANCELLED, "interrupted");
}

static int send_cancel(struct call *call)
{
    struct buf line = BUF_INIT;
    struct json *params = json_object_new();
    json_add_int(params, "id", call->id);
    msg_request(&line, call->conn->next_id++, "cancel", params);
    json_free(params);
    int result = connection_send(call->conn, line.data, line.len);
    buf_fini(&line);
    return result;
}

/* The first ^C asks the daemon to end the wait and leaves it a moment to answer; the second one
 * ends the call at once. */
static int act_on_interrupt(struct call *call)
{
    if (call->interrupted++ > 0)
        return call_interrupted(call);
    call->give_up_ms = clock_mono_ms() + CANCEL_ANSWER_MS;
    return send_cancel(call) < 0 ? call_interrupted(call) : 0;
}

/* How long it waits in silence; 0: for ever. */
static int call_patience_ms(const struct call *call)
{
    if (call->interrupted)
        return 0;
    if (call->conn->slow_note)
        return call->conn->slow_ms;
    return call->conn->unread_looked ? 0 : UNREAD_MS;
}

static void lose_patience(struct connection *conn)
{
    if (conn->slow_note)
        say_note("%s", conn->slow_note);
    else
        unread_look(conn);
    conn->slow_note = NULL;
}

/* 0: something can be read; an error after ^C. */
static int wait_readable(struct call *call)
{
    struct pollfd fds[] = {{.fd = call->conn->fd, .events = POLLIN},
                           {.fd = STDIN_FILENO, .events = POLLIN}};
    for (;;) {
        while (interrupts > call->interrupted) {
            int result = act_on_interrupt(call);
            if (result < 0)
                return result;
        }
        struct timespec left = {0};
        if (call->interrupted) {
            int64_t ms = call->give_up_ms - clock_mono_ms();
            if (ms <= 0)
                return call_interrupted(call);
            left = (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
        }
        bool feeds = (call->flags & CALL_FEEDS) && !call->fed && !call->interrupted;
        int patience_ms = call_patience_ms(call);
        if (patience_ms > 0)
            left = (struct timespec){.tv_sec = patience_ms / 1000,
                                     .tv_nsec = patience_ms % 1000 * 1000000};
        int ready = ppoll(fds, feeds ? 2 : 1, call->interrupted || patience_ms > 0 ? &left : NULL,
                          &call->before.mask);
        if (patience_ms > 0 && ready == 0)
            lose_patience(call->conn);
        if (ready <= 0)
            continue;
        if (fds[0].revents)
            return 0;
        if (feeds && fds[1].revents) {
            call->fed = true;
            send_cancel(call); /* the next read reports a lost connection */
        }
    }
}

/* A notification. That a person is asked is told once, not again for the worker's successor. */
static void call_take_note(struct call *call, const struct msg_answer *note)
{
    const char *state = json_get_str(note->data, "state", NULL),
               *id = json_get_str(note->data, "id", NULL);
    if (strcmp(note->method, "approval") != 0 || !state || !id || strcmp(state, "asked") != 0 ||
        call->conn->told_asked)
        return;
    call->conn->told_asked = true;
    say_note("'%s': waits until a person approves it; `ue approvals` shows it, `ue approve -i` "
             "asks about it",
             id);
}

static int call_take_line(struct call *call, const char *line, size_t len)
{
    struct msg_answer answer;
    int result = msg_parse_answer(&answer, line, len, call->err);
    if (result < 0) {
        err_prefix(call->err, "'%s' answers what can't be read", call->conn->path);
        msg_answer_fini(&answer);
        return call->err->code = ERR_INTERNAL;
    }
    /* the daemon could not read the id; this is our only request */
    bool without_id = answer.id.kind == MSG_ID_NONE;
    bool ours = answer.method == NULL &&
                (without_id || (answer.id.kind == MSG_ID_NUMBER && answer.id.number == call->id));
    if (!ours) { /* the answer to the cancel, or a notification */
        if (answer.method)
            call_take_note(call, &answer);
        msg_answer_fini(&answer);
        return 0;
    }
    connection_heard(call->conn);
    *call->answer = answer;
    if (answer.err.code < 0) {
        *call->err = answer.err;
        if (answer.err.code == ERR_CANCELLED)
            json_get_int(answer.data, "session_id", &call->conn->cancelled);
        if (call->fed && answer.err.code == ERR_CANCELLED)
            return STEP_FED;
        return call->interrupted && answer.err.code == ERR_CANCELLED ? call_interrupted(call)
                                                                     : answer.err.code;
    }
    return STEP_DONE;
}

static int call_take_lines(struct call *call)
{
    const char *line;
    size_t len;
    for (;;) {
        int result = frame_next(&call->conn->in, &line, &len, call->err);
        if (result == 0)
            return 0;
        if (result < 0)
            return err_set(call->err, ERR_TOO_LARGE,
                           "'%s' answers with a line longer than %zu bytes; ask for less",
                           call->conn->path, call->conn->in.max_line);
        result = call_take_line(call, line, len);
        if (result != 0)
            return result;
    }
}

static int call_receive(struct call *call)
{
    for (;;) {
        size_t room;
        int result = call->flags & CALL_WAITS ? wait_readable(call) : 0;
        struct pollfd in = {.fd = call->conn->fd, .events = POLLIN};
        if (result < 0)
            return result;
        if (!call->conn->unread_looked && poll(&in, 1, UNREAD_MS) == 0)
            unread_look(call->conn);
        char *to = frame_room(&call->conn->in, &room);
        ssize_t n = recv(call->conn->fd, to, room, 0);
        frame_filled(&call->conn->in, n > 0 ? (size_t)n : 0);
        if (n < 0 && errno == EINTR)
            continue;
        /* completions set a timeout on the socket */
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return err_set(call->err, ERR_NO_DAEMON, "'%s': does not answer", call->conn->path);
        if (n <= 0)
            return STEP_LOST;
        result = call_take_lines(call);
        if (result != 0)
            return result;
    }
}

static int call_attempt(struct call *call)
{
    call->fed = false;
    int sent = connection_send_line(call->conn, call->line.data, call->line.len);
    if (sent < 0 && errno == ETOOMANYREFS)
        return limit_err(call->err, ERR_SYSTEM, LIMIT_CONNECTION, errno,
                         "'%s': this terminal can't be shown to the daemon", call->conn->path);
    /* who closed the connection may have said why */
    bool closed = sent < 0 && (errno == EPIPE || errno == ECONNRESET);
    return sent == 0 || closed ? call_receive(call) : STEP_LOST;
}

static int call_reopen(struct call *call, int64_t lost_ms)
{
    int result = connection_reopen(call->conn, lost_ms + REOPEN_GONE_MS, call->err);
    struct pollfd none = {.fd = -1};
    while (result == ERR_NO_DAEMON && clock_mono_ms() < lost_ms + CONNECTION_RESTART_MS &&
           call->conn->why == ECONNREFUSED) {
        if (interrupts > call->interrupted)
            return call_interrupted(call);
        ppoll(&none, 0, &(struct timespec){.tv_nsec = 50000000},
              call->flags & CALL_WAITS ? &call->before.mask : NULL);
        result = connection_try(call->conn, call->err);
    }
    if (result == ERR_NO_DAEMON)
        err_set(call->err, ERR_NO_DAEMON,
                "'%s': the daemon went away before it answered; `ue list --all` shows what became "
                "of the session",
                call->conn->path);
    return result;
}

int call_run(struct connection *conn, const char *method, const struct json *params, unsigned flags,
             struct msg_answer *answer, struct err *err)
{
    struct call call = {
        .conn = conn, .line = BUF_INIT, .flags = flags, .answer = answer, .err = err};
    BUG_UNLESS(!(flags & ~(unsigned)(CALL_ONCE | CALL_WAITS | CALL_FEEDS)));
    BUG_UNLESS(!(flags & CALL_FEEDS) || (flags & CALL_WAITS));
    *answer = (struct msg_answer){0};
    int result = connection_open(conn, err);
    if (result < 0)
        return result;
    call.id = conn->next_id++;
    call.interrupted = held && (flags & CALL_WAITS) ? held - 1 : interrupts;
    int64_t begun_ms = clock_mono_ms();
    msg_request(&call.line, call.id, method, params);
    if (flags & CALL_WAITS)
        watch_interrupt(&call.before);
    waiting = (flags & CALL_WAITS) != 0;
    while ((result = call_attempt(&call)) == STEP_LOST) {
        connection_close(conn);
        if (call.interrupted) {
            result = call_interrupted(&call);
            break;
        }
        if (flags & CALL_ONCE) {
            result = err_set(
                err, ERR_NO_DAEMON,
                "'%s': the daemon went away before it answered; look whether it was done",
                conn->path);
            break;
        }
        if ((result = call_reopen(&call, clock_mono_ms())) < 0)
            break;
        call_again(&call.line, begun_ms);
        conn->unread_looked = false;
    }
    waiting = false;
    if (held && (flags & CALL_WAITS))
        held = call.interrupted + 1;
    if (flags & CALL_WAITS)
        unwatch_interrupt(&call.before);
    buf_fini(&call.line);
    if (result == ERR_ARGUMENTS || result == ERR_NO_SUCH_METHOD)
        other_release_hint(conn, method, params, err);
    return result < 0 ? result : result == STEP_FED ? CALL_FED : 0;
}

int call_post(struct connection *conn, const char *method, const struct json *params, int64_t *id,
              struct err *err)
{
    struct buf line = BUF_INIT;
    *id = conn->next_id++;
    msg_request(&line, *id, method, params);
    int result = connection_send(conn, line.data, line.len);
    buf_fini(&line);
    return result == 0 ? 0 : err_set(err, ERR_NO_DAEMON, "'%s': the daemon went away", conn->path);
}
