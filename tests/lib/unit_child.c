/* unit_child: linked into every unit test; owns what a forked child of one may not do. cmocka leaves a failed test by a jump, from an
 * assertion and from its handlers of faults: in a child the jump would lead on to all tests that follow, which fork again, and so do
 * their children. So a child ends where it fails, no child's child forks once more, and no test's program becomes the whole test anew. */
#include "tests/lib/unit_child.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define DEEPEST 2 /* a keeper, its program */
#define MARK "UNIT_TEST_RUNS"

static int depth; /* forks since exec */

static void __attribute__((__noreturn__)) give_up(const char *why)
{
    (void)!write(STDERR_FILENO, why, strlen(why));
    _exit(UNIT_CHILD_STATUS);
}

static void in_child(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS};
    static char abort_there[] = "CMOCKA_TEST_ABORT=1";
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], SIG_DFL);
    putenv(abort_there);
    if (++depth > DEEPEST)
        give_up("unit test: a child of a child forks: it has left its way\n");
}

static void __attribute__((constructor)) watch(void)
{
    if (getenv(MARK) && !&unit_starts_itself)
        give_up("unit test: a unit test became itself once more\n");
    setenv(MARK, "1", 1);
    cmocka_set_test_filter(getenv("UNIT_TEST")); /* one by its name; NULL: all */
    unsetenv("CMOCKA_TEST_ABORT");
    if (pthread_atfork(NULL, NULL, in_child) != 0)
        give_up("unit test: children can't be watched\n");
}
