/* fdio: flags, whole transfers, and descriptors that travel with a message. */
#include "base/fdio.h"
#include "tests/lib/test.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_count(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

TEST(sets_flags_and_closes)
{
    int pair[2];
    assert_int_equal(pipe(pair), 0);
    assert_int_equal(fd_set_cloexec(pair[0], true), 0);
    assert_int_equal(fcntl(pair[0], F_GETFD), FD_CLOEXEC);
    assert_int_equal(fd_set_cloexec(pair[0], false), 0);
    assert_int_equal(fcntl(pair[0], F_GETFD), 0);
    assert_int_equal(fd_set_nonblock(pair[0], true), 0);
    assert_true(fcntl(pair[0], F_GETFL) & O_NONBLOCK);
    assert_int_equal(fd_set_nonblock(pair[0], false), 0);
    assert_false(fcntl(pair[0], F_GETFL) & O_NONBLOCK);
    int closed = pair[0];
    errno = ENOENT;
    fd_close(&pair[0]);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(pair[0], -1);
    assert_int_equal(fd_set_nonblock(closed, true), -1);
    assert_int_equal(errno, EBADF);
    fd_close(&pair[0]);
    fd_close(&pair[1]);
}

TEST(transfers_all_over_a_nonblocking_pipe)
{
    enum { SIZE = 300000 }; /* more than a pipe holds */
    int pair[2];
    assert_int_equal(pipe2(pair, O_CLOEXEC | O_NONBLOCK), 0);
    char *data = malloc(SIZE);
    for (int i = 0; i < SIZE; i++)
        data[i] = (char)(i * 7 + i / 256);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(pair[0]);
        _exit(fd_write_all(pair[1], data, SIZE) == SIZE ? 0 : 1);
    }
    fd_close(&pair[1]);
    char *back = malloc(SIZE + 1);
    assert_int_equal(fd_read_all(pair[0], back, SIZE + 1), SIZE); /* fewer: end of file */
    assert_memory_equal(back, data, SIZE);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    fd_close(&pair[0]);
    assert_int_equal(fd_read_all(-1, back, 1), -1);
    free(back);
    free(data);
}

TEST(passes_descriptors)
{
    static const int kinds[] = {SOCK_STREAM, SOCK_SEQPACKET};
    int before = open_count();
    for (size_t kind = 0; kind < 2; kind++) {
        int pair[2], through[2];
        assert_int_equal(socketpair(AF_UNIX, kinds[kind] | SOCK_CLOEXEC, 0, pair), 0);
        assert_int_equal(pipe2(through, 0), 0);
        assert_int_equal(fd_send(pair[0], "message", 7, through, 2, 0), 7);
        int got[FD_PASS_MAX];
        size_t count = FD_PASS_MAX;
        char text[16];
        assert_int_equal(fd_recv(pair[1], text, sizeof text, got, &count, 0), 7);
        assert_memory_equal(text, "message", 7);
        assert_int_equal(count, 2);
        assert_int_equal(fcntl(got[0], F_GETFD), FD_CLOEXEC);
        assert_int_equal(fcntl(got[1], F_GETFD), FD_CLOEXEC);
        assert_int_equal(fd_write_all(through[1], "x", 1), 1);
        assert_int_equal(fd_read_all(got[0], text, 1), 1);
        assert_int_equal(text[0], 'x');
        assert_int_equal(fd_send(pair[0], "none", 4, NULL, 0, 0), 4);
        assert_int_equal(fd_recv(pair[1], text, sizeof text, NULL, NULL, 0), 4);
        for (int i = 0; i < 2; i++) {
            fd_close(&pair[i]);
            fd_close(&through[i]);
            fd_close(&got[i]);
        }
    }
    assert_int_equal(open_count(), before);
}

TEST(closes_descriptors_without_room)
{
    int pair[2], fds[FD_PASS_MAX];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    for (int i = 0; i < FD_PASS_MAX; i++)
        fds[i] = pair[0];
    int before = open_count();
    for (size_t room = 0; room <= FD_PASS_MAX; room++) {
        assert_int_equal(fd_send(pair[0], "m", 1, fds, FD_PASS_MAX, 0), 1);
        int got[FD_PASS_MAX];
        size_t count = room;
        char byte;
        ssize_t n = fd_recv(pair[1], &byte, 1, got, &count, 0);
        if (room < FD_PASS_MAX) {
            assert_int_equal(n, -1);
            assert_int_equal(errno, EMSGSIZE);
            assert_int_equal(count, 0);
        } else {
            assert_int_equal(n, 1);
            assert_int_equal(count, FD_PASS_MAX);
            for (size_t i = 0; i < count; i++)
                fd_close(&got[i]);
        }
        assert_int_equal(open_count(), before);
    }
    /* A message cut short is no message. */
    assert_int_equal(fd_send(pair[0], "long", 4, fds, 1, 0), 4);
    size_t count = 1;
    char byte;
    assert_int_equal(fd_recv(pair[1], &byte, 1, fds + 1, &count, 0), -1);
    assert_int_equal(errno, EMSGSIZE);
    assert_int_equal(open_count(), before);
    fd_close(&pair[0]);
    fd_close(&pair[1]);
}

TEST(send_reports_a_gone_peer)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    fd_close(&pair[1]);
    assert_int_equal(fd_send(pair[0], "x", 1, NULL, 0, 0), -1); /* and no SIGPIPE */
    assert_int_equal(errno, EPIPE);
    fd_close(&pair[0]);
}

TEST(raises_the_descriptor_limit)
{
    struct rlimit old, now;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    struct rlimit low = {.rlim_cur = 64, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    assert_int_equal(fd_raise_nofile(), 64);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
    assert_true(now.rlim_cur == old.rlim_max);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_flags_and_closes), cmocka_unit_test(transfers_all_over_a_nonblocking_pipe),
        cmocka_unit_test(passes_descriptors), cmocka_unit_test(closes_descriptors_without_room),
        cmocka_unit_test(send_reports_a_gone_peer), cmocka_unit_test(raises_the_descriptor_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
