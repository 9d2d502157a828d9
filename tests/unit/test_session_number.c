/* test_session_number.c: no number is given out twice, whatever happens between. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/log.h"
#include "session/number.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], path[80];

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/test_session_number.XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/next", dir);
    return 0;
}

static int drop_dir(void **state)
{
    (void)state;
    unlink(path);
    rmdir(path);
    return rmdir(dir);
}

static void write_next(const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static uint64_t on_disk(void)
{
    unsigned long long value = 0;
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu", &value), 1);
    fclose(file);
    return value;
}

static void test_begins_and_goes_on(void **state)
{
    (void)state;
    struct number number;
    struct err err;
    assert_int_equal(number_init(&number, dir, &err), 0);
    assert_int_equal(access(path, F_OK), -1); /* nothing is reserved before it is needed */
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(number_take(&number), NUMBER_FIRST + i);
    assert_int_equal(on_disk(), NUMBER_FIRST + NUMBER_BLOCK);
    number_fini(&number);
    assert_int_equal(on_disk(), NUMBER_FIRST + 3); /* a clean end gives back the rest */
    assert_int_equal(number_init(&number, dir, &err), 0);
    assert_int_equal(number_take(&number), NUMBER_FIRST + 3);
    number_fini(&number);
}

static void test_crash_skips_the_block(void **state)
{
    (void)state;
    struct number first, second;
    struct err err;
    assert_int_equal(number_init(&first, dir, &err), 0);
    uint64_t last = 0;
    for (int i = 0; i < NUMBER_BLOCK + 5; i++)
        last = number_take(&first);
    /* first is never finished: that is the crash */
    assert_int_equal(number_init(&second, dir, &err), 0);
    assert_true(number_take(&second) > last);
    number_fini(&second);
    free(first.dir);
}

static void test_two_daemons(void **state)
{
    (void)state;
    struct number a, b;
    struct err err;
    bool seen[4 * NUMBER_BLOCK] = {false};
    assert_int_equal(number_init(&a, dir, &err), 0);
    assert_int_equal(number_init(&b, dir, &err), 0);
    for (int i = 0; i < NUMBER_BLOCK + 7; i++) {
        uint64_t n = number_take(i % 2 ? &a : &b) - NUMBER_FIRST;
        assert_true(n < sizeof seen && !seen[n]);
        seen[n] = true;
    }
    number_fini(&a);
    uint64_t before = on_disk();
    number_fini(&b);
    assert_true(on_disk() <= before && on_disk() > NUMBER_FIRST);
}

static void test_skip_past(void **state)
{
    (void)state;
    struct number number;
    struct err err;
    assert_int_equal(number_init(&number, dir, &err), 0);
    number_skip_past(&number, 5000);
    assert_int_equal(number_take(&number), 5001);
    assert_true(on_disk() > 5001);
    number_skip_past(&number, 10);
    assert_int_equal(number_take(&number), 5002);
    number_fini(&number);
}

static void test_broken_files(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "abc\n", "-5\n", "12\n", "99999999999999999999999\n", "1005 x\n"};
    struct number number;
    struct err err;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_next(texts[i]);
        assert_int_equal(number_init(&number, dir, &err), ERR_SYSTEM);
        assert_non_null(strstr(err.text, "/next'"));
    }
    assert_int_equal(number_init(&number, "/nonexistent/dir", &err), ERR_SYSTEM);
}

static void test_disk_refuses(void **state)
{
    (void)state;
    struct number number;
    struct err err;
    log_open("/dev/null", LOG_ERROR, &err);
    assert_int_equal(number_init(&number, dir, &err), 0);
    assert_int_equal(mkdir(path, 0700), 0); /* neither to be read as a number nor replaced */
    assert_int_equal(number_take(&number), NUMBER_FIRST);
    assert_true(number.warned);
    assert_int_equal(number_take(&number), NUMBER_FIRST + 1);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(number_take(&number), NUMBER_FIRST + 2);
    assert_false(number.warned);
    assert_true(on_disk() > NUMBER_FIRST + 2);
    number_fini(&number);
    log_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_begins_and_goes_on, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_crash_skips_the_block, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_two_daemons, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_skip_past, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_broken_files, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_disk_refuses, make_dir, drop_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
