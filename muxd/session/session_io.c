/* session_io.c: owns the way of a program's output into its journal.
 *
 * Every source is watched edge-triggered: a program that closes its terminal and lives would make a
 * level-triggered hang-up spin. So a source counts as readable until a read has found nothing; what
 * the budget of a turn leaves over comes in the next turn. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "session/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>

/* What one session may read in one turn: bytes, and time once it has read its first ones. A pipe
 * may read more while its output is not watched and few others are busy. */
#define PIPE_FIRST_BYTES (64u << 10)
#define PIPE_BUDGET_BYTES (1u << 20)
#define BUDGET_NS (NS_PER_MS / 4)
/* A thread of the kernel fills a terminal, one such piece after the other, and a read waits for it,
 * non-blocking or not (tty_buffer_flush_work): on a busy machine a millisecond for each piece. So
 * the clock is read more often, and while people are attached to other sessions a turn reads one
 * piece: their keys wait for one piece and not for sixteen. */
#define TTY_PIECE_BYTES 4095u
#define TTY_FIRST_BYTES (4 * TTY_PIECE_BYTES)
#define TTY_BUDGET_BYTES (16 * TTY_PIECE_BYTES)
/* A program that has filled half of its pipe writes faster than we come by: with a larger one it
 * sleeps less often. All pipes of a user together may hold 64 MiB (pipe(7)), so only so many are
 * enlarged at a time. */
#define PIPE_BYTES (64u << 10)
#define WIDE_PIPE_BYTES (256u << 10)
#define WIDE_PIPES 64
#define FEW_PIPES 4
/* on_slow = pause: the ring keeps this much room for what the kernel still holds when the program
 * ends. */
#define PAUSE_ROOM_BYTES (160u << 10)

void session_io_want_more(struct session *session)
{
    if (!list_is_empty(&session->more) || session->gone)
        return;
    list_append(&session->registry->more, &session->more);
    registry_kick(session->registry);
}

/* Does the program wait for slow readers? */
static bool may_pause(const struct session *session)
{
    return session->journal->header->on_slow == SLOW_PAUSE || followed_waits(session);
}

static void widen(struct stream *stream)
{
    struct session *session = stream->session;
    if (stream->wide || session_is_tty(session) || session->registry->wide_pipes >= WIDE_PIPES ||
        may_pause(session))
        return;
    if (fcntl(stream->fd, F_SETPIPE_SZ, (int)WIDE_PIPE_BYTES) < 0)
        log_debug("the pipe of session %llu stays as it is: %s",
                  (unsigned long long)session_number(session), strerror(errno));
    stream->wide = true; /* also when the kernel refuses: it is asked once */
    session->registry->wide_pipes++;
}

static unsigned session_io_give_up(struct stream *stream)
{
    struct session *session = stream->session;
    session->registry->wide_pipes -= stream->wide;
    stream->wide = false;
    unsigned mask = stream->is_stderr         ? 1u << KEEP_FD_ERR
                    : session_is_tty(session) ? 1u << KEEP_FD_MASTER
                                              : 1u << KEEP_FD_OUT;
    loop_io_free(stream->io);
    stream->io = NULL;
    stream->readable = false;
    fd_close(&stream->fd);
    return mask;
}

/* A pipe at its end has no writer, and most programs exit right after: the keeper closes its
 * duplicate with the exit, for which it is woken anyway. */
static void close_stream(struct stream *stream, bool at_once)
{
    if (stream->fd < 0)
        return;
    struct session *session = stream->session;
    unsigned mask = session_io_give_up(stream);
    if (!at_once && (!session->exited || session->unacknowledged))
        session->let_go |= mask;
    else if (session->registry->link && !session->gone)
        link_release(session->registry->link, session_number(session), mask);
}

void session_hang_up(struct session *session)
{
    if (session_is_tty(session))
        close_stream(&session->out, true);
}

/* How far the slowest of those whom the program waits for lets output run. Its end waits for the
 * follower only. */
static uint64_t slowest_reader(const struct session *session)
{
    const struct journal_header *header = session->journal->header;
    uint64_t slowest = followed_waits(session) ? session->follower_at : UINT64_MAX;
    bool all = header->on_slow == SLOW_PAUSE && !session->exited;
    for (int i = 0; i < JOURNAL_READERS && all; i++) {
        uint64_t cursor = atomic_load(&header->readers[i].cursor);
        if ((i == 0 || header->readers[i].name[0]) && cursor < slowest)
            slowest = cursor;
    }
    return slowest;
}

/* What an ended program has printed is taken at once, and is little, but what it has left behind
 * may flood: a follower has to have the end before that. Who ends a session waits for nobody. */
static bool may_pause_at_end(const struct session *session)
{
    return followed_waits(session) &&
           atomic_load(&session->journal->header->killed_by) == KILLER_NONE;
}

/* How much may be read before the slowest reader would lose something. */
static uint64_t allowance(const struct session *session)
{
    const struct journal_header *header = session->journal->header;
    if (!may_pause(session) || (session->exited && !may_pause_at_end(session)))
        return UINT64_MAX;
    uint64_t unread = journal_head(session->journal) - slowest_reader(session);
    uint64_t keep = PAUSE_ROOM_BYTES +
                    (session->out.wide + session->errors.wide) * (WIDE_PIPE_BYTES - PIPE_BYTES);
    uint64_t room = session->exited                ? header->ring_size
                    : header->ring_size > 2 * keep ? header->ring_size - keep
                                                   : header->ring_size / 2;
    return unread < room ? room - unread : 0;
}

/* A PTY at its end may be opened anew while its leader lives (PLATFORM.md, pty facts): only the
 * exit makes it final. */
static void at_end(struct stream *stream, bool broken)
{
    stream->readable = false;
    if (!session_is_tty(stream->session) || stream->session->exited)
        close_stream(stream, broken);
}

static size_t read_stream(struct stream *stream, size_t budget)
{
    struct session *session = stream->session;
    bool tty = session_is_tty(session);
    BUG_UNLESS(budget > 0 || !stream->readable);
    size_t done = 0, gulp = tty ? TTY_FIRST_BYTES : budget,
           first = tty ? TTY_FIRST_BYTES : PIPE_FIRST_BYTES;
    int64_t end = budget > first ? clock_mono_ns() + BUDGET_NS : INT64_MAX;
    while (done < budget && stream->readable && stream->fd >= 0 &&
           (done < first || clock_mono_ns() < end)) {
        size_t most = gulp < budget - done ? gulp : budget - done;
        ssize_t n = transfer_in(session->registry->transfer, session->journal, stream->fd, most,
                                stream->is_stderr);
        if (n > 0) {
            done += (size_t)n;
            if (n >= (ssize_t)(PIPE_BYTES / 2))
                widen(stream);
        } else if (n == 0) {
            at_end(stream, false);
        } else if (n == -EAGAIN) {
            stream->readable = false;
        } else if (fd_is_short((int)-n)) {
            break; /* it stays readable, and so comes again */
        } else if (n != -EINTR) {
            log_warn("output of session %llu can't be read: %s",
                     (unsigned long long)session_number(session), strerror((int)-n));
            at_end(stream, true);
        }
    }
    return done;
}

/* Those who watch the output keep up with it only while little comes between two looks. */
static uint64_t most_of_a_turn(const struct session *session)
{
    bool watched = session->searched || session->watched || session->attached > 0 ||
                   may_pause(session);
    bool many = session->registry->wide_pipes > FEW_PIPES;
    if (session_is_tty(session))
        return session->registry->attached > session->attached ? TTY_PIECE_BYTES : TTY_BUDGET_BYTES;
    return watched || many ? PIPE_FIRST_BYTES : PIPE_BUDGET_BYTES;
}

void session_io_more(struct session *session)
{
    uint64_t allowed = allowance(session), budget = most_of_a_turn(session);
    session->paused = allowed == 0;
    if (session->paused)
        return; /* session_resume goes on */
    BUG_UNLESS(session->registry->handed_over);
    session->read_turn = session->registry->turn;
    budget = allowed < budget ? allowed : budget;
    size_t half = session->errors.readable && session->out.readable ? (size_t)(budget + 1) / 2
                                                                    : (size_t)budget;
    size_t done = read_stream(&session->out, half);
    done += read_stream(&session->errors, half);
    if (done > 0)
        session->last_output_ns = loop_now_ns(session->registry->loop);
    if (session->out.readable || session->errors.readable)
        session_io_want_more(session);
    else
        session->caught_up = session->exited;
    if (done > 0 || session->exited)
        session_dirty(session);
}

static bool stream_has(struct stream *stream)
{
    int size = 0;
    bool has = stream->fd >= 0 && ioctl(stream->fd, FIONREAD, &size) == 0 && size > 0;
    stream->readable |= has;
    return has;
}

bool session_io_unread(struct session *session)
{
    bool out = stream_has(&session->out), errors = stream_has(&session->errors);
    if (session->paused || !(out || errors))
        return false;
    session_io_want_more(session);
    return true;
}

void session_io_watched(struct session *session)
{
    session->watched = true;
}

void session_io_read_rest(struct session *session)
{
    session->caught_up = session->paused = false;
    session->out.readable = session->out.fd >= 0;
    session->errors.readable = session->errors.fd >= 0;
    session_io_want_more(session);
}

unsigned session_io_take_let_go(struct session *session)
{
    unsigned mask = session->let_go;
    session->let_go = 0;
    return mask;
}

void session_resume(struct session *session)
{
    if (session->paused && allowance(session) > 0) {
        session->paused = false;
        session_io_want_more(session);
    }
}

static void on_stream(void *arg, unsigned events)
{
    struct stream *stream = arg;
    struct session *session = stream->session;
    if (events & (LOOP_READ | LOOP_HANGUP)) {
        stream->readable = true;
        /* One that has output left over is served from the list, once a turn, like all others. */
        if (list_is_empty(&session->more) && !session->paused)
            session_io_more(session);
    }
    if ((events & LOOP_WRITE) && stream->fd >= 0)
        session_flush_input(session);
}

static int session_io_watch(struct stream *stream, struct err *err)
{
    if (stream->fd < 0)
        return 0;
    struct session *session = stream->session;
    /* by a predecessor */
    stream->wide = !session_is_tty(session) && fcntl(stream->fd, F_GETPIPE_SZ) > (int)PIPE_BYTES;
    session->registry->wide_pipes += stream->wide;
    BUG_UNLESS(!stream->io);
    stream->io = loop_io_new(session->registry->loop, stream->fd, LOOP_READ | LOOP_EDGE, on_stream,
                             stream);
    if (!stream->io)
        return err_set(err, ERR_SYSTEM,
                       "output of '%s' can't be watched: %s; end something and try again",
                       session_name(session), strerror(errno));
    return 0;
}

int session_io_start(struct session *session, struct err *err)
{
    int code = session_io_watch(&session->out, err);
    return code ? code : session_io_watch(&session->errors, err);
}

void session_io_close(struct session *session)
{
    session_io_give_up(&session->out);
    session_io_give_up(&session->errors);
    list_remove(&session->more);
}
