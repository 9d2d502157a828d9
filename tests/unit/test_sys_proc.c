/* Other processes: what /proc says, signals that hit the right one, families and cgroups. */
#include "tests/lib/test.h"

#include "base/clock.h"
#include "base/err.h"
#include "sys/cgroup.h"
#include "sys/family.h"
#include "sys/proc.h"
#include "sys/pty.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
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
static pid_t run(const char *command, const char *mark)
{
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        if (mark)
            putenv(strdup(mark));
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return pid;
}

TEST(test_env)
{
    char big[40000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    setenv("MUXD_TEST_BIG", big, 1);
    pid_t pid = run("kill -STOP $$", "MUXD_TEST_MARK=1000");
    for (int i = 0; i < 2000 && !proc_env_number(pid, "MUXD_TEST_MARK", NULL); i++)
        poll(NULL, 0, 1);
    assert_int_equal(proc_env_number(pid, "MUXD_TEST_MARK", NULL), 1000);
    assert_int_equal(proc_env_number(pid, "MUXD_TEST_MARK", "MUXD_TEST_MARK=1000"), 1000);
    assert_int_equal(proc_env_number(pid, "MUXD_TEST_MARK", "MUXD_TEST_MARK=100"), 0);
    assert_int_equal(proc_env_number(pid, "MUXD_TEST_MARK", "MUXD_TEST_MARK=10000"), 0);
    assert_int_equal(proc_env_number(pid, "MUXD_TEST_MAR", NULL), 0);
    assert_int_equal(proc_env_number(pid, "TEST_MARK", NULL), 0);
    assert_int_equal(proc_env_number(pid, "MUXD_TEST_BIG", NULL), 0); /* no number */
    unsetenv("MUXD_TEST_BIG");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(proc_env_number(pid, "MUXD_TEST_MARK", NULL), 0);
}

TEST(test_signals)
{
    int status;
    pid_t pid = run("sleep 60; :", NULL);
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

static size_t find(pid_t leader, uint64_t start, struct family *family)
{
    struct census census;
    census_init(&census, "MUXD_TEST_FAMILY", NULL);
    census_look(&census);
    family_sort(&census, &(struct family_query){.number = 77, .leader = leader, .start_ticks = start}, 1, 0);
    family_of(&census, 77, leader, family);
    census_fini(&census);
    return family->count;
}

/* All that was started has come to be what it stays: before that, one that only passes by counts as well as one that is to come. */
static bool is_settled(const struct family *family)
{
    size_t sleeps = 0;
    for (size_t i = 0; i < family->count; i++) {
        struct proc_stat stat;
        sleeps += proc_stat(family->members[i].pid, &stat) && strcmp(stat.comm, "sleep") == 0;
    }
    return family->count == 5 && sleeps == 4;
}

TEST(test_family)
{
    struct family family;
    struct proc_stat stat;
    int64_t until = clock_mono_ms() + 60000;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    /* The leader; a child; one in its own session; one that left altogether (its parent is dead) and has only the mark. */
    pid_t leader = run("sleep 60 & setsid sleep 60 & (setsid sh -c 'sleep 60 & exit' &) ; sleep 60; :", "MUXD_TEST_FAMILY=77");
    assert_true(proc_stat(leader, &stat));
    uint64_t start = stat.start_ticks;
    while (find(leader, start, &family), !is_settled(&family) && clock_mono_ms() < until) {
        family_free(&family);
        poll(NULL, 0, 5);
    }
    assert_true(is_settled(&family));
    assert_int_equal(family.members[0].pid, leader);
    for (size_t i = 1; i < family.count; i++)
        assert_true(family.members[i].pid != leader && family.members[i].pid != getpid());
    family.members[1].start_ticks++; /* another process under the number of a member: spared */
    assert_int_equal(family_signal(&family, SIGKILL), 4);
    family_free(&family);
    assert_int_equal(waitpid(leader, NULL, 0), leader);
    while (find(leader, start, &family) != 1 && clock_mono_ms() < until) /* the killed ones take a moment to die */
        family_free(&family);
    assert_int_equal(family.count, 1); /* found though the leader is gone */
    family_free(&family);
    assert_int_equal(find(0, start, &family), 1); /* and by the mark alone */
    assert_int_equal(family_signal(&family, SIGKILL), 1);
    family_free(&family);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    assert_int_equal(find(leader, start, &family), 0);
    family_free(&family);
}

/* Who has the terminal belongs to its session, whatever its own session is; a program on another terminal does not, although that one
 * may have the same number elsewhere. */
TEST(test_family_on_a_terminal)
{
    struct err err;
    struct family family;
    int master, slave, ready[2];
    char byte;
    assert_int_equal(pty_open(24, 80, &master, &slave, &err), 0);
    assert_int_equal(pty_session(master), 0);
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        ioctl(slave, TIOCSCTTY, 0);
        (void)!write(ready[1], "x", 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(pty_session(master), pid);
    struct family_query query = {.number = 78, .tty_session = pty_session(master)};
    struct census census;
    census_init(&census, "MUXD_TEST_NOBODY", NULL);
    census_look(&census);
    family_sort(&census, &query, 1, 0);
    family_of(&census, 78, 0, &family);
    census_fini(&census);
    assert_int_equal(family.count, 1);
    assert_int_equal(family.members[0].pid, pid);
    assert_int_equal(family_signal(&family, SIGKILL), 1);
    family_free(&family);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(pty_session(master), 0);
    close(master);
    close(slave);
    close(ready[0]);
    close(ready[1]);
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
    pid_t pid = run("kill -STOP $$; setsid sleep 60 & sleep 60; :", NULL); /* what it forks before it is put there stays outside */
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
        cmocka_unit_test(test_stat_parse), cmocka_unit_test(test_children), cmocka_unit_test(test_usage), cmocka_unit_test(test_self),   cmocka_unit_test(test_env),
        cmocka_unit_test(test_signals),    cmocka_unit_test(test_family), cmocka_unit_test(test_family_on_a_terminal),
        cmocka_unit_test(test_cgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
