/* play_secret: a secret from the person's terminal, a descriptor or a file, staged for the program
 * of a session. It is in no variable, trace or report, and goes on a connection of its own. */
#include "base/fdio.h"
#include "base/mem.h"
#include "base/value.h"
#include "client/play/playing.h"
#include "client/rpc/call.h"
#include "client/rpc/own_terminal.h"
#include "client/rpc/params.h"
#include "client/rpc/secret_line.h"
#include "client/terminal/hidden.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Those that ue has opened itself are close-on-exec. */
static bool was_given(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    return flags >= 0 && !(flags & FD_CLOEXEC);
}

static long play_secret_ask(const struct play_step *step, char *line, struct err *err)
{
    char *prompt = xasprintf("secret for '%s': ", step->session->name);
    own_terminal_wait_foreground();
    long len = hidden_ask(prompt, line, err);
    free(prompt);
    return len;
}

/* The signals that end a script come only while it waits for bytes, so that none comes just before
 * that. */
static long read_from(int fd, const char *what, char *line, struct err *err)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t block, before;
    sigemptyset(&block);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        sigaddset(&block, ending[i]);
    sigprocmask(SIG_BLOCK, &block, &before);
    long len = call_is_interrupted() ? err_set(err, ERR_CANCELLED, "interrupted")
                                     : hidden_read_from(fd, what, &before, line, err);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return len;
}

static long secret_from(const struct play_step *step, char *line, struct err *err)
{
    const char *source = step->count > 0 ? play_text(step, 0) : "from-terminal";
    int64_t fd = 0;
    if (strcmp(source, "from-terminal") == 0)
        return play_secret_ask(step, line, err);
    const char *from = play_text(step, 1);
    if (strcmp(source, "from-fd") == 0 && value_int(from, 0, 65535, &fd) && !was_given((int)fd))
        return err_set(err, ERR_USAGE, "descriptor %s was not given; open it for ue, as in %s<FILE",
                       from, from);
    if (strcmp(source, "from-fd") == 0)
        return read_from((int)fd, from, line, err);
    /* a named pipe is not waited for here */
    int file = open(from, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0)
        return err_set(err, ERR_SYSTEM, "'%s' can't be opened: %s", from, strerror(errno));
    long len = read_from(file, from, line, err);
    fd_close(&file);
    return len;
}

static int play_secret_stage(struct play *play, const struct play_step *step,
                             struct connection *conn, const char *line, size_t len, struct err *err)
{
    struct msg_answer answer;
    struct json *params = play_params(step->session);
    json_add_bool(params, "stage", true);
    params_meta(play->ue, params, META_VERB | META_HUMAN);
    conn->shows_person = true;
    int code = call_run(conn, "type_secret", params, CALL_ONCE, &answer, err);
    json_free(params);
    msg_answer_fini(&answer);
    if (code < 0)
        return code;
    struct json *end = secret_line_give(conn, line, len, err);
    code = end ? secret_line_code(end, err) : err->code;
    json_free(end);
    return code;
}

enum play_flow play_SECRET(struct play *play, const struct play_step *step)
{
    struct connection conn = {0};
    struct err err = {0};
    hidden_no_dump();
    char *line = hidden_new();
    if (!line)
        return play_fail(play, UE_FAILED, "no memory for a secret: %s", strerror(errno));
    long len = secret_from(step, line, &err);
    int code = len < 0 ? (int)len : 0;
    if (code == 0) {
        connection_init(&conn, play->ue->conn.path, NULL, false);
        code = play_secret_stage(play, step, &conn, line, (size_t)len, &err);
        connection_fini(&conn);
    }
    hidden_free(line);
    return code < 0 ? play_fail_err(play, &err) : PLAY_NEXT;
}
