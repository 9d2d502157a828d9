/* log and clock: lines that cannot attack their reader, levels, full disks, and dates. */
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "tests/lib/test.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/muxd-log-XXXXXX";
static char *path;

static int make_dir(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    path = xasprintf("%s/muxd.log", dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    free(path);
    return rmdir(dir);
}

static int remove_log(void **state)
{
    (void)state;
    log_close();
    log_set_role(NULL);
    return unlink(path);
}

static char *contents(void)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    char *text = xcalloc(1, 65536);
    assert_true(fd_read_all(fd, text, 65535) >= 0);
    fd_close(&fd);
    return text;
}

static size_t count(const char *text, char byte)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == byte;
    return n;
}

TEST(one_event_is_one_line)
{
    struct err err = {0};
    assert_int_equal(log_open(path, LOG_INFO, &err), 0);
    log_set_role("worker");
    errno = EPIPE;
    log_info("name '%s'", "a\nb\x1b[2J\xFF\xC2\x9B\xC3\xA9");
    assert_int_equal(errno, EPIPE);
    log_debug("not shown");
    log_set_level(LOG_DEBUG);
    log_debug("shown");
    char *text = contents();
    char *want = xasprintf("info worker[%d] name 'a\\x0ab\\x1b[2J\\xff\\xc2\\x9b\xC3\xA9'\n", (int)getpid());
    assert_non_null(strstr(text, want));
    assert_null(strstr(text, "not shown"));
    assert_non_null(strstr(text, "debug worker["));
    assert_int_equal(count(text, '\n'), 2);
    assert_int_equal(text[10], 'T');
    assert_int_equal(text[23], 'Z');
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    free(want);
    free(text);
}

TEST(long_messages_are_cut_and_say_so)
{
    struct err err = {0};
    assert_int_equal(log_open(path, LOG_INFO, &err), 0);
    char *large = xmalloc(10001);
    memset(large, 1, 10000); /* each byte takes four */
    large[10000] = 0;
    log_warn("%s", large);
    char *text = contents();
    assert_int_equal(count(text, '\n'), 1);
    assert_non_null(strstr(text, "\\x01 [5905 bytes more]\n"));
    free(text);
    for (int i = 0; i < 10000; i++) /* the cut is in the middle of one */
        large[i] = "\xc3\xa9"[i % 2];
    log_warn("%s", large);
    text = contents();
    assert_non_null(strstr(text, "\xc3\xa9 [5906 bytes more]\n"));
    free(text);
    free(large);
}

TEST(lost_lines_are_counted_and_told)
{
    struct err err = {0};
    assert_int_equal(log_open(path, LOG_INFO, &err), 0);
    struct rlimit old, full;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    log_info("before");
    full = (struct rlimit){.rlim_cur = 80, .rlim_max = old.rlim_max}; /* the second line fits in part only */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    log_info("the first one that is lost, and is long enough to be cut at the limit");
    log_info("lost too");
    struct log_trouble trouble;
    assert_true(log_trouble(&trouble) && trouble.lost == 2);
    assert_non_null(strstr(trouble.text, "can't be written"));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    log_info("after");
    assert_false(log_trouble(&trouble));
    signal(SIGXFSZ, handler);
    char *text = contents();
    assert_non_null(strstr(text, "2 lines of this log were lost"));
    assert_null(strstr(text, "lost too"));
    assert_non_null(strstr(text, "] after\n"));
    assert_int_equal(count(text, '\n'), 4); /* before, the torn one, the count, after */
    free(text);
}

TEST(refuses_links_and_missing_directories)
{
    struct err err = {0};
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(log_open(path, LOG_INFO, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(log_open("/does/not/exist/muxd.log", LOG_INFO, &err), ERR_SYSTEM);
}

TEST(trouble_is_told_with_its_time)
{
    struct err err = {0};
    struct log_trouble trouble;
    int64_t before_ms = clock_real_ms();
    assert_int_equal(log_open("/does/not/exist/muxd.log", LOG_INFO, &err), ERR_SYSTEM);
    assert_true(log_trouble(&trouble) && trouble.since_ms >= before_ms && trouble.lost == 0);
    assert_non_null(strstr(trouble.text, "No such file or directory"));
    assert_int_equal(log_open(path, LOG_INFO, &err), 0);
    log_info("well");
    assert_false(log_trouble(&trouble));

    char *moved = xasprintf("%s.1", path);
    assert_int_equal(rename(path, moved), 0);
    log_info("into the moved one");
    assert_true(log_trouble(&trouble));
    assert_non_null(strstr(trouble.text, "is gone"));
    int64_t since_ms = trouble.since_ms;
    int other = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); /* of the same name, but not ours */
    assert_true(other >= 0);
    fd_close(&other);
    assert_true(log_trouble(&trouble) && trouble.since_ms == since_ms);
    assert_int_equal(rename(moved, path), 0);
    assert_false(log_trouble(&trouble));

    assert_int_equal(unlink(path), 0);
    assert_true(log_trouble(&trouble));
    assert_int_equal(log_open(path, LOG_INFO, &err), 0);
    assert_false(log_trouble(&trouble));
    log_close();
    log_go_without(path);
    assert_true(log_trouble(&trouble));
    assert_non_null(strstr(trouble.text, "its directory is refused"));
    assert_int_equal(log_open("-", LOG_INFO, &err), 0);
    assert_false(log_trouble(&trouble));
    free(moved);
}

TEST(formats_dates)
{
    char text[32];
    clock_format_iso(0, text);
    assert_string_equal(text, "1970-01-01T00:00:00.000Z");
    clock_format_iso(1788091200123, text);
    assert_string_equal(text, "2026-08-30T12:00:00.123Z");
    clock_format_iso(-1, text);
    assert_string_equal(text, "1969-12-31T23:59:59.999Z");
    clock_format_iso(INT64_MAX, text);
    assert_string_equal(text, "1970-01-01T00:00:00.000Z");
    int64_t mono = clock_mono_ns(), boot = clock_boot_ms();
    assert_true(clock_mono_ms() >= mono / 1000000);
    assert_true(clock_boot_ms() >= boot);
    assert_true(clock_real_ms() > 1600000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(one_event_is_one_line, remove_log),
        cmocka_unit_test_teardown(long_messages_are_cut_and_say_so, remove_log),
        cmocka_unit_test_teardown(lost_lines_are_counted_and_told, remove_log),
        cmocka_unit_test_teardown(refuses_links_and_missing_directories, remove_log),
        cmocka_unit_test_teardown(trouble_is_told_with_its_time, remove_log),
        cmocka_unit_test(formats_dates),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
