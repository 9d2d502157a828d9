/* A line that is not shown: what is typed, and a signal that comes at the worst moment: when the prompt stands there and nothing is read yet. */
#include "client/terminal/hidden.h"
#include "tests/lib/test.h"
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROMPT "word: "
#define PATIENCE_S 30

static int at_the_prompt; /* this signal */

/* In place of libc's: the signal is there before the caller goes on. */
ssize_t write(int fd, const void *data, size_t size)
{
    ssize_t n = syscall(SYS_write, fd, data, size);
    if (at_the_prompt && size == strlen(PROMPT) && memcmp(data, PROMPT, size) == 0)
        raise(at_the_prompt);
    return n;
}

static void __attribute__((__noreturn__)) ask(int signo, const char *want)
{
    struct err err = {0};
    char *line = hidden_new();
    alarm(PATIENCE_S);
    at_the_prompt = signo;
    long len = line ? hidden_ask(PROMPT, line, &err) : ERR_SYSTEM;
    bool good = want ? len == (long)strlen(want) && memcmp(line, want, strlen(want)) == 0 : len == ERR_CANCELLED;
    hidden_free(line);
    _exit(good ? 0 : 1);
}

/* All that is shown until the end is the prompt and an empty line. */
static void asks(int signo, const char *typed, const char *want)
{
    char shown[256];
    size_t size = 0;
    int master, status;
    bool told = false;
    pid_t pid = forkpty(&master, NULL, NULL, NULL);
    assert_true(pid >= 0);
    if (pid == 0)
        ask(signo, want);
    for (ssize_t n; size < sizeof shown - 1 && (n = read(master, shown + size, sizeof shown - 1 - size)) > 0;) {
        size += (size_t)n;
        shown[size] = '\0';
        if (!told && strstr(shown, PROMPT))
            assert_int_equal(write(master, typed, strlen(typed)), strlen(typed)), told = true;
    }
    shown[size] = '\0';
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_string_equal(shown, PROMPT "\r\n");
    close(master);
}

TEST(test_typed)
{
    asks(0, "secret\n", "secret");
    asks(0, "\n", "");
    asks(0, "\004", NULL);
    asks(0, "\003", NULL);
}

TEST(test_a_signal_right_after_the_prompt)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        asks(signals[i], "", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_typed),
        cmocka_unit_test(test_a_signal_right_after_the_prompt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
