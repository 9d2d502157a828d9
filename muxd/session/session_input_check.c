/* session_input_check.c: owns what is refused as input: a session that takes none, a line that the
 * kernel would cut, more than the queue has room for. */
#include "session/internal.h"
#include "sys/pty.h"

/* N_TTY keeps 4,096 bytes of an unfinished line, the line end counted, and drops the rest without a
 * word (PLATFORM.md, pty facts). */
#define CANONICAL_MAX 4095

int session_input_fd(const struct session *session)
{
    return session_is_tty(session) ? session->out.fd : session->input.fd;
}

static bool ends_line(const struct pty_mode *mode, char byte)
{
    unsigned char c = (unsigned char)byte;
    return c == '\n' || (c == '\r' && mode->icrnl) || (c && c == mode->eof) ||
           (c && mode->signals && c == mode->intr);
}

/* Where the unfinished line begins once data is typed, or ERR_LINE_TOO_LONG. */
static int check_lines(const struct session *session, const char *data, size_t size,
                       uint64_t *line_from, struct err *err)
{
    struct pty_mode mode;
    uint64_t head = journal_in_head(session->journal);
    *line_from = head + size;
    if (!session_is_tty(session) || pty_get_mode(session->out.fd, &mode) != 0 || !mode.canonical)
        return 0;
    *line_from = session->input.line_from;
    for (size_t i = 0; i < size; i++) {
        if (ends_line(&mode, data[i]))
            *line_from = head + i + 1;
        else if (head + i + 1 - *line_from > CANONICAL_MAX)
            return err_set(err, ERR_LINE_TOO_LONG,
                           "'%s' reads whole lines, of which the kernel keeps only %d bytes; send "
                           "shorter lines%s",
                           session_name(session), CANONICAL_MAX,
                           session->input.held ? ", or wait until it is ready" : "");
    }
    return 0;
}

int session_check_open(const struct session *session, struct err *err)
{
    unsigned long long number = session_number(session);
    if (session->exited || session->finished)
        return err_set(err, ERR_ENDED, "'%s' (session %llu) has ended; start a new one",
                       session_name(session), number);
    if (session_input_fd(session) < 0 || session->input.to_close)
        return err_set(err, ERR_STDIN_CLOSED,
                       "standard input of '%s' (session %llu) is closed; start it with a terminal "
                       "or with --stdin",
                       session_name(session), number);
    return 0;
}

int session_check_input(const struct session *session, const char *data, size_t size,
                        uint64_t *line_from, struct err *err)
{
    uint64_t from;
    size_t room = journal_input_free(session->journal);
    int code = session_check_open(session, err);
    if (!code)
        code = check_lines(session, data, size, line_from ? line_from : &from, err);
    if (code || size <= room)
        return code;
    return err_set(err, ERR_INPUT_FULL,
                   "'%s' has %zu of %llu bytes of its input queue free, not %zu; wait until it has "
                   "read, or send less",
                   session_name(session), room,
                   (unsigned long long)session->journal->header->input_size, size);
}

int session_check_direct(const struct session *session, struct err *err)
{
    int code = session_check_open(session, err);
    if (code || journal_in_head(session->journal) == journal_in_tail(session->journal))
        return code;
    return err_set(err, ERR_INPUT_FULL,
                   "'%s' has not read yet what was typed before; try again when it has",
                   session_name(session));
}
