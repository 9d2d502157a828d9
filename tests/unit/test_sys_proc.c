/* Other processes: what /proc says, signals that hit the right one, and cgroups. */
#include "tests/lib/test.h"

#include "base/clock.h"
#include "base/err.h"
#include "sys/cgroup.h"
#include "sys/proc.h"
#include "sys/pty.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(test_stat_parse)
{
    struct proc_stat stat;
    assert_true(proc_stat_parse("42 (a) b (c) R 7 8 9 34816 11 4194304 1 2 3 4 5 6 7 8 20 0 3 0 98765 100 200", &stat));
    assert_int_equal(stat.pid, 42);
    assert_string_equal(stat.comm, "a) b (c");
    assert_int_equal(stat.state, 'R');
    assert_int_equal(stat.ppid * 10000 + stat.pgrp * 1000 + stat.session * 100 + stat.tpgid, 7 * 10000 + 8 * 1000 + 9 * 100 + 11);
    assert_int_equal(stat.tty_nr, 34816);
    assert_int_equal(stat.threads, 3);
    assert_int_equal(stat.start_ticks, 98765);
    assert_false(proc_stat_parse("", &stat));
    assert_false(proc_stat_parse("42 (a", &stat));
    assert_false(proc_stat_parse("42 (a) R 1 2", &stat));
}

struct seen {
    pid_t wanted[2];
    int count, found;
    bool stop;
};

static bool see_child(void *arg, pid_t pid)
{
    struct seen *seen = arg;
    seen->count++;
    seen->found += pid == seen->wanted[0] || pid == seen->wanted[1];
    return !seen->stop;
}

TEST(test_children)
{
    struct seen seen = {0};
    pid_t children[2];
    if (!proc_children(getpid(), see_child, &seen))
        skip(); /* a kernel without CONFIG_PROC_CHILDREN */
    int before = seen.count;
    for (int i = 0; i < 2; i++)
        if ((children[i] = seen.wanted[i] = fork()) == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pause();
            _exit(0);
        }
    seen.count = 0;
    assert_true(proc_children(getpid(), see_child, &seen));
    assert_int_equal(seen.count, before + 2);
    assert_int_equal(seen.found, 2);
    seen = (struct seen){.stop = true};
    assert_true(proc_children(getpid(), see_child, &seen));
    assert_int_equal(seen.count, 1);
    assert_false(proc_children(-1, see_child, &seen));
    for (int i = 0; i < 2; i++) {
        kill(children[i], SIGKILL);
        assert_int_equal(waitpid(children[i], NULL, 0), children[i]);
    }
}

TEST(test_usage)
{
    enum { SIZE = 16 << 20 };
    struct proc_usage before, after;
    assert_true(proc_usage(getpid(), &before));
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    do { /* until the clock of the kernel has seen it */
        for (size_t i = 0; i < SIZE; i += 512)
            ((volatile char *)memory)[i]++;
        assert_true(proc_usage(getpid(), &after));
    } while (after.cpu_ms < before.cpu_ms + 50);
    assert_true(after.memory_bytes >= before.memory_bytes + SIZE);
    munmap(memory, SIZE);
    assert_false(proc_usage(0x3ffffff, &after));
}

static bool see_self(void *arg, const struct proc_stat *stat)
{
    *(bool *)arg |= stat->pid == getpid();
    return true;
}

TEST(test_self)
{
    struct proc_stat stat;
    bool seen = false;
    assert_true(proc_stat(getpid(), &stat));
    assert_int_equal(stat.ppid, getppid());
    assert_int_equal(stat.session, getsid(0));
    proc_each(see_self, &seen);
    assert_true(seen);
    assert_false(proc_stat(0x3ffffff, &stat));
}

/* A child that runs a shell command in a session of its own. */
static pid_t run(const char *command)
{
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return pid;
}

TEST(test_signals)
{
    int status;
    pid_t pid = run("sleep 60; :");
    int pidfd = proc_pidfd(pid);
    assert_true(pidfd >= 0);
    assert_int_equal(proc_signal_group(pidfd, 0, SIGTERM), -EINVAL);
    assert_int_equal(proc_signal_group(pidfd, 1, SIGTERM), -EINVAL);
    while (getpgid(pid) != pid)
        poll(NULL, 0, 1);
    assert_int_equal(proc_signal_group(pidfd, pid, SIGTERM), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(proc_signal(pidfd, SIGKILL), -ESRCH);
    assert_int_equal(proc_signal_group(pidfd, pid, SIGKILL), -ESRCH); /* the number may be another's by now */
    assert_int_equal(proc_signal_group(pidfd, getpgrp(), 0), -ESRCH);
    close(pidfd);
    assert_true(proc_signal_group(pidfd, pid, 0) < 0);
}

static void *wait_for_ever(void *arg)
{
    while (pause() != 0)
        ;
    return arg;
}

TEST(test_lives)
{
    siginfo_t info;
    pthread_t thread;
    pid_t pid = run("sleep 60; :");
    assert_true(proc_lives(pid));
    kill(pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_false(proc_lives(pid)); /* a zombie */
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_false(proc_lives(pid));
    assert_true(proc_lives(getpid()));
    assert_true(proc_lives(1));
    pid_t before = proc_last_pid();
    assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
    for (pid_t at = before + 1; at <= proc_last_pid(); at++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/task/%d", (int)at);
        assert_false(access(path, F_OK) == 0 && proc_lives(at));
    }
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

TEST(test_command)
{
    char text[40];
    pid_t pid = run("kill -STOP $$; :");
    int64_t until = clock_mono_ms() + 60000;
    do
        proc_command(pid, text, sizeof text);
    while (strncmp(text, "sh ", 3) != 0 && clock_mono_ms() < until);
    assert_string_equal(text, "sh -c kill -STOP $$; :");
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    proc_command(pid, text, sizeof text);
    assert_string_equal(text, "?");
    proc_command(2, text, sizeof text); /* a thread of the kernel, where it is seen, has a name only */
    assert_int_not_equal(strlen(text), 0);
}

TEST(test_cgroup)
{
    int status;
    assert_int_equal(cgroup_put(NULL, 1), -EOPNOTSUPP);
    assert_int_equal(cgroup_kill(NULL), -EOPNOTSUPP);
    print_message("cgroup: %s\n", cgroup_probe());
    if (!cgroup_available())
        skip();
    struct cgroup *cgroup = cgroup_new("test", (uint64_t)getpid());
    assert_non_null(cgroup);
    assert_null(cgroup_new("../x", 1));
    pid_t pid = run("kill -STOP $$; setsid sleep 60 & sleep 60; :"); /* what it forks before it is put there stays outside */
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(cgroup_put(cgroup, pid), 0);
    assert_int_equal(kill(pid, SIGCONT), 0);
    assert_int_equal(cgroup_remove(cgroup), -EBUSY);
    assert_int_equal(cgroup_kill(cgroup), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    int removed = cgroup_remove(cgroup);
    for (int i = 0; i < 2000 && removed == -EBUSY; i++, removed = cgroup_remove(cgroup))
        poll(NULL, 0, 1);
    assert_int_equal(removed, 0);
    cgroup_free(cgroup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stat_parse), cmocka_unit_test(test_children), cmocka_unit_test(test_usage), cmocka_unit_test(test_self),
        cmocka_unit_test(test_signals),    cmocka_unit_test(test_lives),    cmocka_unit_test(test_command),
        cmocka_unit_test(test_cgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
