/* test_keep_plan.c: plans as written, and what a child makes of them. */
#include "tests/lib/test.h"

#include "base/fdio.h"
#include "keep/plan.h"
#include "keep/plan_layout.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct run {
    char out[65536];
    int step, error, status;
};

static void run_fd(int plan, struct run *run)
{
    int out[2], status[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(status, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int stdio[3] = {null, out[1], out[1]};
        plan_execute(plan, stdio, status[1]);
    }
    close(out[1]);
    close(status[1]);
    int words[2] = {0, 0};
    fd_read_all(status[0], words, sizeof words);
    ssize_t n = fd_read_all(out[0], run->out, sizeof run->out - 1);
    run->out[n > 0 ? n : 0] = '\0';
    run->step = words[0];
    run->error = words[1];
    assert_int_equal(waitpid(pid, &run->status, 0), pid);
    close(out[0]);
    close(status[0]);
    close(null);
}

static char *env[] = {(char *)"PATH=/nowhere:/bin:/usr/bin", (char *)"A=b c", NULL};

static void run_plan(const struct plan *plan, struct run *run)
{
    struct err err = {0};
    int fd = -1;
    assert_int_equal(plan_write(plan, &fd, &err), 0);
    run_fd(fd, run);
    close(fd);
}

static void run_sh(const char *script, struct run *run)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
    run_plan(&(struct plan){.argv = argv, .env = env, .cwd = "/", .umask = 027}, run);
}

TEST(test_runs)
{
    struct run run;
    run_sh("pwd; umask; echo $A; exit 7", &run);
    assert_int_equal(run.step, PLAN_OK);
    assert_string_equal(run.out, "/\n0027\nb c\n");
    assert_int_equal(WEXITSTATUS(run.status), 7);
}

TEST(test_no_descriptors)
{
    struct run run;
    int leak = dup(0); /* not close-on-exec, on purpose */
    run_sh("ls /proc/$$/fd; :", &run);
    close(leak);
    assert_string_equal(run.out, "0\n1\n2\n"); /* the shell's: with a pipe it might still hold that, too */
}

TEST(test_own_session)
{
    struct run run;
    run_sh("set -- $(cat /proc/$$/stat); [ $1 = $5 ] && [ $1 = $6 ] && echo leader", &run);
    assert_string_equal(run.out, "leader\n");
}

TEST(test_limits)
{
    struct run run;
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"ulimit -n; ulimit -f", NULL};
    struct plan_limit limit = {RLIMIT_FSIZE, 512 * 77, RLIM_INFINITY};
    struct rlimit now;
    getrlimit(RLIMIT_FSIZE, &now);
    limit.hard = now.rlim_max;
    run_plan(&(struct plan){.argv = argv, .env = env, .limits = &limit, .nlimits = 1, .nofile_soft = 99}, &run);
    assert_string_equal(run.out, "99\n77\n");
    limit.soft = 10;
    limit.hard = 5;
    run_plan(&(struct plan){.argv = argv, .env = env, .limits = &limit, .nlimits = 1}, &run);
    assert_int_equal(run.step, PLAN_LIMITS);
    assert_int_equal(run.error, EINVAL);
}

TEST(test_failures)
{
    static const struct {
        const char *program, *cwd;
        int step, error;
    } cases[] = {
        {"/proc/nonexistent/x", "/", PLAN_EXEC, ENOENT}, {"surely-no-such-program", "/", PLAN_EXEC, ENOENT},
        {"", "/", PLAN_EXEC, ENOENT},               {"/etc/passwd", "/", PLAN_EXEC, EACCES},
        {"/etc", "/", PLAN_EXEC, EACCES},           {"/etc/passwd/x", "/", PLAN_EXEC, ENOTDIR},
        {"true", "/proc/nonexistent", PLAN_CHDIR, ENOENT}, {"true", "/etc/passwd", PLAN_CHDIR, ENOTDIR},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        char *argv[] = {(char *)cases[i].program, NULL};
        run_plan(&(struct plan){.argv = argv, .env = env, .cwd = cases[i].cwd}, &run);
        assert_int_equal(run.step, cases[i].step);
        assert_int_equal(run.error, cases[i].error);
        assert_int_equal(WEXITSTATUS(run.status), 127);
    }
    struct run run;
    char *found[] = {(char *)"PATH=/nowhere:/etc:/etc/ssl", NULL}, *argv[] = {(char *)"passwd", NULL};
    run_plan(&(struct plan){.argv = argv, .env = found, .cwd = "/"}, &run);
    assert_int_equal(run.error, EACCES); /* it is there and may not be executed: that says more than that it is nowhere else */
}

TEST(test_script_without_interpreter)
{
    char path[] = "/tmp/test_keep_plan_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(write(fd, "echo \"$0 $1\"\n", 13) == 13);
    fchmod(fd, 0700);
    close(fd);
    struct run run;
    char *argv[] = {(char *)"name", (char *)"one", NULL}, wanted[64];
    run_plan(&(struct plan){.program = path, .argv = argv, .env = env}, &run);
    unlink(path);
    snprintf(wanted, sizeof wanted, "%s one\n", path);
    assert_string_equal(run.out, wanted);
}

TEST(test_tty)
{
    struct err err = {0};
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), plan, status[2];
    assert_true(master >= 0);
    grantpt(master);
    unlockpt(master);
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"echo yes > /dev/tty", NULL}, text[64] = "";
    assert_int_equal(plan_write(&(struct plan){.argv = argv, .env = env, .tty = true}, &plan, &err), 0);
    assert_int_equal(pipe2(status, O_CLOEXEC), 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    pid_t pid = fork();
    if (pid == 0) {
        int stdio[3] = {slave, slave, slave};
        plan_execute(plan, stdio, status[1]);
    }
    close(slave);
    close(status[1]);
    assert_true(read(master, text, sizeof text - 1) > 0);
    assert_string_equal(text, "yes\r\n");
    waitpid(pid, NULL, 0);
    close(master);
    close(plan);
    close(status[0]);
}

TEST(test_tty_without_terminal)
{
    struct run run;
    char *argv[] = {(char *)"true", NULL};
    run_plan(&(struct plan){.argv = argv, .env = env, .tty = true}, &run);
    assert_int_equal(run.step, PLAN_TTY);
    assert_int_equal(run.error, ENOTTY);
}

TEST(test_caps)
{
    struct err err = {0};
    int fd = 77;
    char *big = malloc(PLAN_STRING_MAX + 1);
    memset(big, 'x', PLAN_STRING_MAX);
    big[PLAN_STRING_MAX] = '\0';
    char *argv[] = {(char *)"true", big, NULL}, *none[] = {NULL};
    assert_int_equal(plan_write(&(struct plan){.argv = argv, .env = env}, &fd, &err), ERR_TOO_LARGE);
    big[PLAN_STRING_MAX - 1] = '\0';
    assert_int_equal(plan_write(&(struct plan){.argv = argv, .env = env}, &fd, &err), 0);
    int seals = fcntl(fd, F_GET_SEALS);
    assert_int_equal(seals, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
    struct run run;
    run_fd(fd, &run);
    assert_int_equal(run.step, PLAN_OK);
    close(fd);
    assert_int_equal(plan_write(&(struct plan){.argv = none, .env = env}, &fd, &err), ERR_ARGUMENTS);
    free(big);
}

/* Whatever one word of a plan is, the child must say so or run, never crash. */
TEST(test_damaged)
{
    struct err err = {0};
    int good;
    char *argv[] = {(char *)"true", (char *)"x", NULL};
    assert_int_equal(plan_write(&(struct plan){.argv = argv, .env = env, .cwd = "/"}, &good, &err), 0);
    char data[4096];
    ssize_t size = pread(good, data, sizeof data, 0);
    assert_true(size > (ssize_t)sizeof(struct plan_head));
    close(good);
    static const uint64_t words[] = {0, 1, 7, 1 << 20, UINT64_MAX, UINT64_MAX / 8, sizeof(struct plan_head)};
    size_t spots = sizeof(struct plan_head) / 8 + 7;
    for (size_t at = 0; at < spots; at++)
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            char copy[4096];
            memcpy(copy, data, (size_t)size);
            memcpy(copy + at * 8, &words[w], 8);
            int fd = memfd_create("damaged", MFD_CLOEXEC);
            assert_int_equal(write(fd, copy, (size_t)size), size);
            struct run run;
            run_fd(fd, &run);
            int signo = WIFSIGNALED(run.status) ? WTERMSIG(run.status) : 0; /* a damaged limit may well kill */
            assert_true(signo == 0 || signo == SIGKILL || signo == SIGXCPU || signo == SIGXFSZ);
            close(fd);
        }
    int fd = memfd_create("short", MFD_CLOEXEC);
    struct run run;
    run_fd(fd, &run);
    assert_int_equal(run.step, PLAN_READ);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs), cmocka_unit_test(test_no_descriptors), cmocka_unit_test(test_own_session),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_failures), cmocka_unit_test(test_script_without_interpreter),
        cmocka_unit_test(test_tty), cmocka_unit_test(test_tty_without_terminal), cmocka_unit_test(test_caps),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
