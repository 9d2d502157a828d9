/* A request and its answer, with a server that misbehaves: lost connections, foreign answers, garbage. */
#include "base/fdio.h"
#include "base/mem.h"
#include "client/rpc/call.h"
#include "tests/lib/test.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct server {
    char dir[64];
    char *path;
    int listener, lines[2]; /* lines: a pipe with all that the server has read */
    pid_t pid;
};

/* Each answer serves one connection: "" closes it after the request, anything else is sent; then it waits for the end. */
static void serve(const struct server *server, const char *const *answers)
{
    for (; *answers; answers++) {
        char line[65536];
        size_t len = 0;
        int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
        while (len == 0 || line[len - 1] != '\n') {
            ssize_t n = read(fd, line + len, sizeof line - len);
            if (n <= 0)
                _exit(1);
            len += (size_t)n;
        }
        if (fd_write_all(server->lines[1], line, len) < 0 || fd_write_all(fd, *answers, strlen(*answers)) < 0)
            _exit(1);
        if (**answers)
            len = (size_t)read(fd, line, sizeof line);
        close(fd);
    }
    _exit(0);
}

static void server_start(struct server *server, const char *const *answers)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(server->dir, "/tmp/ueXXXXXX");
    assert_non_null(mkdtemp(server->dir));
    server->path = xasprintf("%s/s", server->dir);
    memcpy(address.sun_path, server->path, strlen(server->path) + 1);
    server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(server->listener, 8), 0);
    assert_int_equal(pipe2(server->lines, O_CLOEXEC), 0);
    server->pid = fork();
    if (server->pid == 0)
        serve(server, answers);
    close(server->listener); /* ends with the server, as a daemon's */
    close(server->lines[1]);
}

static char *server_stop(struct server *server)
{
    static char all[131072];
    size_t len = 0;
    ssize_t n;
    kill(server->pid, SIGTERM);
    waitpid(server->pid, NULL, 0);
    while ((n = read(server->lines[0], all + len, sizeof all - 1 - len)) > 0)
        len += (size_t)n;
    all[len] = 0;
    close(server->lines[0]);
    unlink(server->path);
    rmdir(server->dir);
    free(server->path);
    return all;
}

struct outcome {
    int result;
    struct err err;
    struct msg_answer answer;
    char *sent; /* static */
};

static struct outcome call(const char *const *answers, unsigned flags)
{
    struct server server;
    struct connection conn;
    struct outcome outcome = {0};
    struct json *params = json_object_new();
    json_add_text(params, "word", "same");
    server_start(&server, answers);
    connection_init(&conn, server.path, NULL, false);
    outcome.result = call_run(&conn, "anything", params, flags, &outcome.answer, &outcome.err);
    connection_fini(&conn);
    json_free(params);
    outcome.sent = server_stop(&server);
    return outcome;
}

#define REQUEST "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"anything\",\"params\":{\"word\":\"same\"}}\n"
#define ANSWER "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":7}}\n"

TEST(test_answer)
{
    int64_t number = 0;
    struct outcome outcome = call((const char *const[]){ANSWER, NULL}, CALL_AGAIN);
    assert_int_equal(outcome.result, 0);
    assert_true(json_get_int(outcome.answer.result, "a", &number) && number == 7);
    assert_string_equal(outcome.sent, REQUEST);
    msg_answer_fini(&outcome.answer);
}

TEST(test_others_answers_are_passed_over)
{
    struct outcome outcome = call((const char *const[]){"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"method\":\"event\"}\n" ANSWER, NULL},
                                  CALL_WAITS);
    assert_int_equal(outcome.result, 0);
    assert_non_null(json_get(outcome.answer.result, "a"));
    msg_answer_fini(&outcome.answer);
}

TEST(test_retry)
{
    struct outcome outcome = call((const char *const[]){"", "", ANSWER, NULL}, CALL_WAITS);
    assert_int_equal(outcome.result, 0);
    /* the daemon is told how long the client has waited already */
    static const char again[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"anything\",\"params\":{\"word\":\"same\",\"_meta\":{\"waited_ms\":";
    const char *second = outcome.sent + strlen(REQUEST), *third = strchr(second, '\n') + 1;
    assert_memory_equal(outcome.sent, REQUEST, strlen(REQUEST));
    assert_memory_equal(second, again, strlen(again));
    assert_memory_equal(third, again, strlen(again));
    assert_true(strtol(third + strlen(again), NULL, 10) >= strtol(second + strlen(again), NULL, 10));
    assert_string_equal(strchr(third, '\n'), "\n");
    msg_answer_fini(&outcome.answer);
}

TEST(test_once_is_once)
{
    struct outcome outcome = call((const char *const[]){"", ANSWER, NULL}, CALL_ONCE);
    assert_int_equal(outcome.result, ERR_NO_DAEMON);
    assert_string_equal(outcome.sent, REQUEST);
    msg_answer_fini(&outcome.answer);
}

TEST(test_refusal)
{
    struct outcome outcome = call((const char *const[]){"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32001,\"message\":\"'x': no\","
                                                        "\"data\":{\"code\":\"no_such_session\",\"content\":\"words\"}}}\n", NULL}, CALL_AGAIN);
    assert_int_equal(outcome.result, ERR_NO_SUCH_SESSION);
    assert_string_equal(outcome.err.text, "'x': no");
    assert_string_equal(json_get_str(outcome.answer.data, "content", NULL), "words");
    msg_answer_fini(&outcome.answer);
}

/* A daemon with too many connections says so and closes, before it has read anything; the request can't be sent any more. */
TEST(test_refusal_before_the_request)
{
    static const char refusal[] = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32009,\"message\":\"too many\",\"data\":{\"code\":\"limit\"}}}\n";
    struct connection conn;
    struct msg_answer answer;
    struct err err;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    connection_init(&conn, "/nowhere/s", NULL, false);
    conn.fd = ends[0];
    assert_int_equal(fd_write_all(ends[1], refusal, strlen(refusal)), (ssize_t)strlen(refusal));
    close(ends[1]);
    assert_int_equal(call_run(&conn, "anything", NULL, CALL_WAITS, &answer, &err), ERR_LIMIT);
    assert_string_equal(err.text, "too many");
    msg_answer_fini(&answer);
    connection_fini(&conn);
}

TEST(test_garbage)
{
    struct outcome outcome = call((const char *const[]){"HTTP/1.1 400 Bad Request\r\n", NULL}, CALL_AGAIN);
    assert_int_equal(outcome.result, ERR_INTERNAL);
    msg_answer_fini(&outcome.answer);
}

TEST(test_nobody_listens)
{
    struct connection conn;
    struct msg_answer answer;
    struct err err;
    connection_init(&conn, "/nowhere/at/all", NULL, false);
    assert_int_equal(call_run(&conn, "hello", NULL, CALL_AGAIN, &answer, &err), ERR_NO_DAEMON);
    assert_int_equal(err_exit_status(err.code), 69);
    connection_fini(&conn);
}

TEST(test_path_too_long)
{
    char path[300];
    struct connection conn;
    struct err err;
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = 0;
    connection_init(&conn, path, NULL, false);
    assert_int_equal(connection_try(&conn, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, "107"));
    connection_fini(&conn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer),       cmocka_unit_test(test_others_answers_are_passed_over),
        cmocka_unit_test(test_retry),        cmocka_unit_test(test_once_is_once),
        cmocka_unit_test(test_refusal),      cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_refusal_before_the_request), cmocka_unit_test(test_nobody_listens), cmocka_unit_test(test_path_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
