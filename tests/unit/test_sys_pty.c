/* A pseudo-terminal as seen from its master. */
#include "tests/lib/test.h"

#include "base/err.h"
#include "sys/peercred.h"
#include "sys/pty.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static int master, slave;

static int open_pty(void **state)
{
    struct err err;
    (void)state;
    return pty_open(30, 90, &master, &slave, &err);
}

static int close_pty(void **state)
{
    (void)state;
    close(master);
    close(slave);
    return 0;
}

TEST(test_new_terminal)
{
    int rows, cols;
    struct termios modes;
    struct stat st;
    assert_int_equal(pty_get_size(slave, &rows, &cols), 0);
    assert_int_equal(rows, 30);
    assert_int_equal(cols, 90);
    assert_true(fcntl(master, F_GETFL) & O_NONBLOCK);
    assert_false(fcntl(slave, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(master, F_GETFD) & FD_CLOEXEC && fcntl(slave, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(tcgetattr(slave, &modes), 0);
    assert_true(modes.c_iflag & IUTF8);
    assert_int_equal(fstat(slave, &st), 0);
    assert_int_equal(st.st_mode & 0157, 0);
    char name[32];
    snprintf(name, sizeof name, "/dev/pts/%d", pty_slave_number(master));
    assert_string_equal(ttyname(slave), name);
    assert_int_equal(pty_resize(master, 5, 6), 0);
    assert_int_equal(pty_get_size(slave, &rows, &cols), 0);
    assert_int_equal(rows * 10 + cols, 56);
    assert_int_equal(pty_get_cell(master, &rows, &cols), 0);
    assert_int_equal(rows + cols, 0);
    assert_int_equal(pty_set_cell(master, 20, 9), 0);
    assert_int_equal(pty_resize(master, 1000, 1000), 0); /* stays, as long as all of it can be told */
    assert_int_equal(pty_get_cell(slave, &rows, &cols), 0);
    assert_int_equal(rows * 100 + cols, 2009);
    assert_int_equal(pty_set_cell(master, 512, 512), 0);
    assert_int_equal(pty_get_cell(slave, &rows, &cols), 0);
    assert_int_equal(rows + cols, 0);
    assert_int_equal(pty_get_size(slave, &rows, &cols), 0);
    assert_int_equal(rows + cols, 2000);
    assert_true(pty_set_cell(slave + 100, 1, 1) < 0);
    assert_int_equal(pty_foreground(master), 0);
    assert_true(pty_resize(slave + 100, 1, 1) < 0);
}

TEST(test_modes_seen_from_the_master)
{
    struct pty_mode mode;
    struct termios modes;
    assert_int_equal(pty_get_mode(master, &mode), 0);
    assert_true(mode.canonical && mode.echo && mode.signals && mode.icrnl && mode.opost && mode.echoctl);
    assert_int_equal(mode.intr, 3);
    assert_int_equal(mode.eof, 4);
    tcgetattr(slave, &modes);
    cfmakeraw(&modes);
    tcsetattr(slave, TCSANOW, &modes);
    assert_int_equal(pty_get_mode(master, &mode), 0);
    assert_false(mode.canonical || mode.echo || mode.signals || mode.icrnl || mode.opost);
    assert_int_equal(pty_get_mode(-1, &mode), -1);
}

TEST(test_unread_input_at_once)
{
    char line[16];
    for (int i = 0; i < 200; i++) {
        assert_int_equal(write(master, "four\n", 5), 5);
        assert_int_equal(pty_unread_input(master), 5); /* also right behind the write */
        assert_int_equal(read(slave, line, sizeof line), 5);
        assert_int_equal(pty_unread_input(master), 0);
        tcflush(master, TCIFLUSH);
    }
    assert_int_equal(write(master, "half", 4), 4);
    assert_int_equal(pty_unread_input(master), 0); /* no whole line, nobody is woken */
}

TEST(test_peer)
{
    int pair[2];
    struct peercred cred;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(peercred_get(pair[0], &cred), 0);
    assert_int_equal(cred.uid, geteuid());
    assert_int_equal(cred.pid, getpid());
    assert_int_equal(peercred_get(master, &cred), -1);
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_new_terminal, open_pty, close_pty),
        cmocka_unit_test_setup_teardown(test_modes_seen_from_the_master, open_pty, close_pty),
        cmocka_unit_test_setup_teardown(test_unread_input_at_once, open_pty, close_pty),
        cmocka_unit_test_setup_teardown(test_peer, open_pty, close_pty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
