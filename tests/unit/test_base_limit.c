/* base/limit: which limit refused, what raises it, and which are reached now. */
#include "base/clock.h"
#include "base/limit.h"
#include "base/limit_kind.h"
#include "tests/lib/test.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int reached;
static struct limit_text last;

static void note(void *arg, const struct limit_text *text)
{
    (void)arg;
    reached++;
    last = *text;
}

static int count(void)
{
    reached = 0;
    limit_each(note, NULL);
    return reached;
}

static void set_soft(__rlimit_resource_t resource, rlim_t soft)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(resource, &limit), 0);
    limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
    assert_int_equal(setrlimit(resource, &limit), 0);
}

TEST(names_the_limit_and_what_raises_it)
{
    struct limit_text text;
    set_soft(RLIMIT_NOFILE, 77);
    assert_true(limit_explain(LIMIT_SESSION, EMFILE, &text));
    assert_string_equal(text.limit, "descriptors (RLIMIT_NOFILE=77)");
    assert_string_equal(text.what, "no further session starts");
    assert_non_null(strstr(text.raise, "ulimit -n"));
    assert_true(limit_explain(LIMIT_SESSION, ENFILE, &text));
    assert_non_null(strstr(text.limit, "fs.file-max="));
    assert_non_null(strstr(text.raise, "sysctl fs.file-max="));
    set_soft(RLIMIT_FSIZE, 12345);
    assert_true(limit_explain(LIMIT_SESSION, EFBIG, &text));
    assert_string_equal(text.limit, "file sizes (RLIMIT_FSIZE=12345)");
    set_soft(RLIMIT_FSIZE, RLIM_INFINITY);
}

TEST(other_errors_are_no_limits)
{
    struct limit_text text;
    struct err err;
    assert_false(limit_explain(LIMIT_SESSION, EINVAL, &text));
    assert_false(limit_explain(LIMIT_PROGRAM, ENOSPC, &text));
    assert_false(limit_explain(LIMIT_SESSION, ENOMEM, &text));
    assert_false(limit_met(LIMIT_SESSION, EIO));
    assert_int_equal(limit_err(&err, ERR_SYSTEM, LIMIT_SESSION, EIO, "no %s", "way"), ERR_SYSTEM);
    assert_string_equal(err.text, "no way: Input/output error; try again");
    assert_int_equal(count(), 0);
}

TEST(is_reached_until_it_went_well)
{
    struct err err;
    set_soft(RLIMIT_NOFILE, 77);
    assert_true(limit_met(LIMIT_SESSION, EMFILE));
    assert_false(limit_met(LIMIT_SESSION, EMFILE));
    assert_int_equal(limit_err(&err, ERR_LIMIT, LIMIT_CONNECTION, EMFILE, "'%s'", "x"), ERR_LIMIT);
    assert_non_null(strstr(err.text, "'x': Too many open files: the limit of descriptors (RLIMIT_NOFILE=77) is reached; raise it "));
    assert_int_equal(count(), 2);
    int64_t since_ms = last.since_ms;
    assert_true(since_ms > 0);
    limit_passed(LIMIT_SESSION);
    assert_int_equal(count(), 1);
    assert_string_equal(last.what, "no further connection is let in");
    assert_true(last.since_ms >= since_ms); /* the other one's, which was reached later */
    since_ms = last.since_ms;
    while (clock_real_ms() == since_ms)
        ;
    assert_false(limit_met(LIMIT_CONNECTION, EMFILE));
    assert_int_equal(count(), 1);
    assert_true(last.since_ms == since_ms);
    limit_passed(LIMIT_CONNECTION);
    assert_int_equal(count(), 0);
}

TEST(one_that_was_raised_is_none_any_more)
{
    set_soft(RLIMIT_NOFILE, 77);
    limit_met(LIMIT_SESSION, EMFILE);
    set_soft(RLIMIT_NOFILE, 60);
    assert_int_equal(count(), 1);
    assert_string_equal(last.limit, "descriptors (RLIMIT_NOFILE=60)");
    set_soft(RLIMIT_NOFILE, 78);
    assert_int_equal(count(), 0);
    set_soft(RLIMIT_NOFILE, 60);
    assert_int_equal(count(), 0);
    limit_met(LIMIT_KEEPER, EMFILE); /* muxd finds out by itself */
    set_soft(RLIMIT_NOFILE, 78);
    assert_int_equal(count(), 1);
    limit_passed(LIMIT_KEEPER);
}

/* inotify_init has one errno for two limits. */
TEST(tells_instances_from_descriptors)
{
    struct limit_text text;
    int held[100], n = 0;
    set_soft(RLIMIT_NOFILE, 60);
    assert_true(limit_explain(LIMIT_SOCKET_WATCH, EMFILE, &text));
    assert_non_null(strstr(text.limit, "inotify instances ("));
    assert_non_null(strstr(text.raise, "raise it with sysctl "));
    assert_true(limit_explain(LIMIT_SOCKET_WATCH, ENOSPC, &text));
    assert_non_null(strstr(text.limit, "fs.inotify.max_user_watches="));
    while (n < 100 && (held[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    assert_true(n > 0 && n < 100);
    bool is = limit_explain(LIMIT_SOCKET_WATCH, EMFILE, &text);
    while (n > 0)
        close(held[--n]);
    assert_true(is);
    assert_string_equal(text.limit, "descriptors (RLIMIT_NOFILE=60)");
}

TEST(memory_that_may_not_be_locked)
{
    struct limit_text text;
    set_soft(RLIMIT_MEMLOCK, 4096);
    static const int errors[] = {ENOMEM, EPERM, EAGAIN};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        assert_true(limit_explain(LIMIT_SECRET, errors[i], &text));
        assert_string_equal(text.limit, "locked memory (RLIMIT_MEMLOCK=4096)");
        assert_non_null(strstr(text.raise, "ulimit -l"));
    }
}

/* Also where the kernel doesn't have the file that its value stands in. */
TEST(each_has_a_name_and_a_way)
{
    for (int kind = LIMIT_KIND_NONE + 1; kind < LIMIT_KINDS; kind++) {
        struct limit_text text = {.what = "x"};
        struct limit_value value = {.value = UINT64_MAX};
        limit_kind_text((enum limit_kind)kind, &value, &text);
        assert_true(strlen(text.limit) > 10 && strlen(text.raise) > 10);
        limit_kind_value((enum limit_kind)kind, &value);
        limit_kind_text((enum limit_kind)kind, &value, &text);
        assert_true(strlen(text.limit) + 1 < sizeof text.limit && strlen(text.raise) + 1 < sizeof text.raise);
    }
    struct limit_text text;
    limit_kind_text(LIMIT_KIND_INSTANCES_HERE, &(struct limit_value){.value = 0}, &text);
    assert_string_equal(text.limit, "inotify instances (user.max_inotify_instances=0)");
    assert_string_equal(text.raise, "raise it with sysctl user.max_inotify_instances=128");
    limit_kind_text(LIMIT_KIND_INSTANCES, &(struct limit_value){.value = 128}, &text);
    assert_string_equal(text.raise, "raise it with sysctl fs.inotify.max_user_instances=512");
    limit_kind_text(LIMIT_KIND_DEVPTS, &(struct limit_value){.value = 1, .place = "/dev/pts"}, &text);
    assert_string_equal(text.limit, "terminals (max=1 of '/dev/pts')");
    assert_string_equal(text.raise, "end sessions, or raise it: mount -o remount,max=NUMBER /dev/pts");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_limit_and_what_raises_it),
        cmocka_unit_test(other_errors_are_no_limits),
        cmocka_unit_test(is_reached_until_it_went_well),
        cmocka_unit_test(one_that_was_raised_is_none_any_more),
        cmocka_unit_test(tells_instances_from_descriptors),
        cmocka_unit_test(memory_that_may_not_be_locked),
        cmocka_unit_test(each_has_a_name_and_a_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
