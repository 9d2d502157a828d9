/* test_lib_unit_child.c: a forked child of a unit test dies where it fails; it never goes on with the tests that follow. */
#include "tests/lib/test.h"

#include "tests/lib/unit_child.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t first; /* the process that may run tests */

static void assert_is_first(void)
{
    if (getpid() != first)
        _exit(1); /* what must not be */
}

/* The status of a child that does something wrong and would then come back into cmocka. */
static int status_of(void (*wrong)(void))
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit no_core = {0, 0};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setrlimit(RLIMIT_CORE, &no_core);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO); /* the words of the failure that is wanted */
        wrong();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void fails(void) { assert_true(0); }
static void crashes(void) { kill(getpid(), SIGSEGV); }

static void runs_itself(void)
{
    execl("/proc/self/exe", "test", (char *)NULL);
}

static void forks_too_deep(void)
{
    for (;;) {
        int status;
        pid_t pid = fork();
        if (pid > 0) {
            waitpid(pid, &status, 0);
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
        }
    }
}

TEST(test_failed_assertion)
{
    assert_is_first();
    int status = status_of(fails);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

TEST(test_fault)
{
    assert_is_first();
    int status = status_of(crashes);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

TEST(test_started_anew)
{
    assert_is_first();
    int status = status_of(runs_itself);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), UNIT_CHILD_STATUS);
}

TEST(test_too_deep)
{
    assert_is_first();
    int status = status_of(forks_too_deep);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), UNIT_CHILD_STATUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failed_assertion),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_started_anew),
        cmocka_unit_test(test_too_deep),
    };
    first = getpid();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
