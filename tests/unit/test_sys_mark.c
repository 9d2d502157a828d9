/* Marks: the word of a state directory, what programs start with, who is found by it, and signals
 * that hit nobody else. */
#include "tests/lib/test.h"

#include "base/clock.h"
#include "sys/mark.h"
#include "sys/proc.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 60000
#define LOCKS (__rlimit_resource_t) RLIMIT_LOCKS

static char dir[64];

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/test_sys_mark.XXXXXX");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    char path[96];
    snprintf(path, sizeof path, "%s/mark", dir);
    unlink(path);
    return rmdir(dir); /* nothing else is left in it */
}

static struct mark new_mark(void)
{
    struct mark mark;
    assert_true(mark_init(&mark, dir, "/a/socket"));
    return mark;
}

static void write_file(const char *text)
{
    char path[96];
    snprintf(path, sizeof path, "%s/mark", dir);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

/* --- the word --- */

TEST(test_word_is_kept)
{
    char path[96];
    struct stat info;
    struct mark first = new_mark(), again = new_mark(), other;
    assert_int_equal(first.word, again.word);
    assert_int_not_equal(first.word, 0);
    assert_true(mark_init(&other, dir, "/another/socket"));
    assert_int_not_equal(first.word, other.word);
    snprintf(path, sizeof path, "%s/mark", dir);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
}

TEST(test_bad_word_is_replaced)
{
    static const char *const texts[] = {
        "",           "\n",         "12345678",      "1234567\n", "123456789\n",
        "00000000\n", "xyzxyzxy\n", "12345678\nmore"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_file(texts[i]);
        struct mark first = new_mark(), again = new_mark();
        assert_int_equal(first.word, again.word);
    }
    write_file("12345678\n");
    struct mark given = new_mark(), again = new_mark();
    assert_int_equal(given.word, again.word);
}

TEST(test_no_place_for_the_word)
{
    struct mark mark;
    assert_false(mark_init(&mark, "/dev/null", "/a/socket"));
    assert_int_equal(errno, ENOTDIR);
    assert_int_not_equal(mark.word, 0);
}

/* Several daemons begin at once, with one directory and (a test's licence) one socket. */
TEST(test_all_read_the_same_word)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < 8; i++)
        if (fork() == 0) {
            struct mark mark;
            bool kept = mark_init(&mark, dir, "/a/socket");
            _exit(!kept || write(ends[1], &mark.word, sizeof mark.word) != sizeof mark.word);
        }
    uint32_t words[8];
    for (int i = 0; i < 8; i++) {
        assert_int_equal(read(ends[0], &words[i], sizeof words[i]), sizeof words[i]);
        assert_int_equal(words[i], words[0]);
        assert_true(wait(&status) > 0 && status == 0);
    }
    close(ends[0]);
    close(ends[1]);
}

/* --- one process --- */

/* A child that bears the limits, then what fn does; it ends with this process. */
static pid_t begin(const struct rlimit *limits, size_t count, void (*fn)(void))
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (size_t i = 0; i < count; i++)
            if (setrlimit(LOCKS, &limits[i]) != 0)
                _exit(1);
        if (fn)
            fn();
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static pid_t begin_marked(const struct mark *mark, uint64_t number, void (*fn)(void))
{
    struct rlimit limit = mark_limit(mark, number);
    return begin(&limit, 1, fn);
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST(test_mark_of)
{
    struct mark mark = new_mark(), stranger = mark;
    stranger.word ^= 1;
    static const uint64_t numbers[] = {1, 1000, UINT32_MAX, 0x500001234ull};
    assert_true(mark_fits(&mark));
    for (size_t i = 0; i < 4; i++) {
        pid_t pid = begin_marked(&mark, numbers[i], NULL);
        assert_int_equal(mark_of(&mark, pid), (uint32_t)numbers[i]);
        assert_int_equal(mark_of(&stranger, pid), 0);
        end(pid);
        assert_int_equal(mark_of(&mark, pid), 0);
    }
    struct rlimit small = {1024, 1024};
    pid_t pid = begin(&small, 1, NULL);
    assert_int_equal(mark_of(&mark, pid), 0);
    end(pid);
    assert_int_equal(mark_of(&mark, getpid()), 0);
    assert_int_equal(mark_of(&mark, 1), 0); /* root's: read from its file */
    assert_int_equal(mark_of(&mark, 0), 0);
    assert_int_equal(mark_of(&mark, -1), 0);
}

static struct mark kept;

static void lowers_the_first(void)
{
    struct rlimit low = {7, 7}, second;
    if (!mark_second_limit(&kept, 1000, &second) || setrlimit(RLIMIT_RSS, &second) != 0 ||
        setrlimit(RLIMIT_LOCKS, &low) != 0)
        _exit(1);
}

/* Two limits bear the mark: it takes both to shed it. */
TEST(test_second_limit)
{
    kept = new_mark();
    struct rlimit second;
    if (!mark_second_limit(&kept, 1000, &second))
        skip();
    pid_t pid = begin_marked(&kept, 1000, lowers_the_first);
    assert_int_equal(mark_of(&kept, pid), 1000);
    struct rlimit low = {7, 7};
    assert_int_equal(prlimit(pid, RLIMIT_RSS, &low, NULL), 0);
    assert_int_equal(mark_of(&kept, pid), 0);
    end(pid);
    kept.above_second = 1000;
    assert_false(mark_second_limit(&kept, 1000, &second));
}

/* A daemon inside a session of another: its programs are known to both, and so are those of a third
 * one inside to the outermost. */
TEST(test_nested)
{
    struct mark outer = new_mark(), inner = outer, innermost = outer;
    if (outer.above != RLIM_INFINITY)
        skip();
    inner.word ^= 0x0fffffff;
    innermost.word ^= 0x00ff00ff;
    inner.above = innermost.above = mark_limit(&outer, 1234).rlim_max;
    assert_true(mark_fits(&inner));
    struct rlimit limits[] = {mark_limit(&outer, 1234), mark_limit(&inner, 1001),
                              mark_limit(&innermost, 1002)};
    pid_t second = begin(limits, 2, NULL), third = begin(limits, 3, NULL);
    assert_int_equal(mark_of(&outer, second), 1234);
    assert_int_equal(mark_of(&inner, second), 1001);
    assert_int_equal(mark_of(&outer, third), 1234);
    assert_int_equal(mark_of(&inner, third), 0);
    assert_int_equal(mark_of(&innermost, third), 1002);
    end(second);
    end(third);
    inner.above = 1000;
    assert_false(mark_fits(&inner));
}

static void is_started_in_it(void)
{
    struct mark mark;
    if (!mark_init(&mark, dir, "/a/socket") || mark_of(&mark, getpid()) != 0)
        _exit(1);
}

/* A daemon that begins in what an earlier life of itself has left takes another word: it would look
 * for itself. */
TEST(test_started_in_a_leftover)
{
    struct mark mark = new_mark();
    pid_t pid = begin_marked(&mark, 1000, is_started_in_it);
    struct mark now = new_mark();
    assert_int_not_equal(now.word, mark.word);
    end(pid);
}

/* --- all --- */

static void shell(const char *command)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
}

static void leave_family(void)
{
    shell("setsid sleep 60 & (setsid sh -c 'sleep 60 & exit' &); setsid -f env -i sleep 60; exec "
          "sleep 60");
}

/* All that was started has come to be what it stays. */
static size_t count_sleeps(const struct mark *mark, struct bearers *found, uint64_t number)
{
    size_t count, sleeps = 0;
    mark_walk(mark, getpid(), 0, found);
    const struct bearer *all = bearers_of(found, number, &count);
    for (size_t i = 0; i < count; i++) {
        struct proc_stat stat;
        sleeps += proc_stat(all[i].pid, &stat) && strcmp(stat.comm, "sleep") == 0;
    }
    return count == sleeps + 1 ? sleeps : 0; /* and the one that began */
}

TEST(test_walk)
{
    struct mark mark = new_mark();
    struct bearers found = {0};
    size_t count;
    pid_t neighbour = begin_marked(&mark, 1000, NULL),
          pid = begin_marked(&mark, 1001, leave_family);
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    while (count_sleeps(&mark, &found, 1001) != 4 && clock_mono_ms() < until)
        poll(NULL, 0, 5);
    const struct bearer *all = bearers_of(&found, 1001, &count);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(mark_signal(&mark, &all[i], SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    do { /* orphans fall to us */
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        mark_walk(&mark, 0, MARK_HIDDEN | MARK_OTHERS, &found);
    } while (bearers_of(&found, 1001, &count) && clock_mono_ms() < until);
    assert_int_equal(count, 0);
    all = bearers_of(&found, 1000, &count);
    assert_int_equal(count, 1);
    assert_int_equal(all[0].pid, neighbour);
    kill(neighbour, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)neighbour, &info, WEXITED | WNOWAIT), 0);
    mark_walk(&mark, 0, MARK_HIDDEN | MARK_OTHERS, &found);
    assert_int_equal(found.count, 0); /* a zombie doesn't count */
    assert_int_equal(mark_of(&mark, neighbour), 1000);
    end(neighbour);
    bearers_fini(&found);
}

static void *sleep_in_thread(void *arg)
{
    while (pause() != 0)
        ;
    return arg;
}

static void start_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, sleep_in_thread, NULL) != 0)
        _exit(1);
}

TEST(test_walk_since)
{
    struct mark mark = new_mark();
    struct bearers found = {0};
    size_t count;
    pid_t before = proc_last_pid();
    pid_t pid = begin_marked(&mark, 1000, start_thread);
    if (!mark_walk_since(&mark, 0, before, &found))
        skip(); /* too much goes on here */
    const struct bearer *all = bearers_of(&found, 1000, &count);
    assert_int_equal(count, 1); /* its thread has a number, too, and is no process */
    assert_int_equal(all[0].pid, pid);
    assert_true(mark_walk_since(&mark, 0, proc_last_pid(), &found));
    assert_null(bearers_of(&found, 1000, &count));
    assert_false(mark_walk_since(&mark, 0, 0, &found));
    end(pid);
    bearers_fini(&found);
}

static void shed(void)
{
    if (fork() == 0) {
        struct rlimit none = {0, 0};
        setrlimit(LOCKS, &none);
        execl("/bin/sh", "sh", "-c", "sleep 60 & wait", (char *)NULL);
        _exit(127);
    }
}

/* Who sheds the mark is known by its parent. */
TEST(test_descend)
{
    struct mark mark = new_mark();
    struct bearers found = {0};
    size_t count = 0;
    pid_t pid = begin_marked(&mark, 1000, shed);
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    while (count < 3 && clock_mono_ms() < until) {
        mark_walk(&mark, 0, MARK_HIDDEN | MARK_OTHERS, &found);
        bearers_of(&found, 1000, &count);
        assert_true(count == 1 || count == 2); /* the mark alone; it may not be shed yet */
        mark_descend(&mark, 1000, &found);
        bearers_of(&found, 1000, &count);
    }
    /* It may have been seen before it shed the mark, by that pass: once more, now that it has. */
    mark_walk(&mark, 0, MARK_HIDDEN | MARK_OTHERS, &found);
    mark_descend(&mark, 1000, &found);
    const struct bearer *all = bearers_of(&found, 1000, &count);
    if (count < 3)
        fail_msg("%zu found", count);
    for (size_t i = 0; i < count; i++) {
        struct bearer one = all[i];
        assert_true(mark_lives(&mark, &one));
        one.start_ticks += 1; /* another process under the number */
        assert_false(mark_lives(&mark, &one));
        assert_int_equal(mark_signal(&mark, &one, SIGKILL), -ESRCH);
    }
    for (size_t i = 0; i < count; i++)
        assert_int_equal(mark_signal(&mark, &all[i], SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    bearers_fini(&found);
}

TEST(test_bearers)
{
    static const struct bearer all[] = {{5, 10, 0}, {5, 11, 0}, {9, 1, 0}};
    struct bearers bearers = {0};
    size_t count;
    assert_null(bearers_of(&bearers, 5, &count));
    bearers_set(&bearers, all, 3);
    assert_ptr_equal(bearers_of(&bearers, 5, &count), bearers.all);
    assert_int_equal(count, 2);
    assert_ptr_equal(bearers_of(&bearers, 9, &count), bearers.all + 2);
    assert_int_equal(count, 1);
    static const uint64_t none[] = {0, 4, 6, 10};
    for (size_t i = 0; i < 4; i++)
        assert_null(bearers_of(&bearers, none[i], &count));
    assert_non_null(
        bearers_of(&bearers, 0x700000005ull, &count)); /* the low half is what a mark holds */
    bearers_set(&bearers, all, 0);
    assert_int_equal(bearers.count, 0);
    bearers_fini(&bearers);
    bearers_fini(&bearers);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_##name, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(word_is_kept),
        CASE(bad_word_is_replaced),
        CASE(no_place_for_the_word),
        CASE(all_read_the_same_word),
        CASE(mark_of),
        CASE(second_limit),
        CASE(nested),
        CASE(started_in_a_leftover),
        CASE(walk),
        CASE(walk_since),
        CASE(descend),
        CASE(bearers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
