/* test_session_number.c: no number is given out twice, whatever happens between. */
#include "tests/lib/test.h"

#include "base/log.h"
#include "session/number.h"
#include "sys/loop.h"
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

TEST(test_begins_and_goes_on)
{
    struct number number;
    struct err err;
    assert_int_equal(number_init(&number, NULL, dir, &err), 0);
    assert_int_equal(access(path, F_OK), -1); /* nothing is reserved before it is needed */
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(number_take(&number), NUMBER_FIRST + i);
    assert_int_equal(on_disk(), NUMBER_FIRST + NUMBER_BLOCK);
    number_fini(&number);
    assert_int_equal(on_disk(), NUMBER_FIRST + 3); /* a clean end gives back the rest */
    assert_int_equal(number_init(&number, NULL, dir, &err), 0);
    assert_int_equal(number_take(&number), NUMBER_FIRST + 3);
    number_fini(&number);
}

/* The blocks come from a thread; no number is out before the disk has it. */
TEST(test_ahead)
{
    struct number number;
    struct err err;
    struct loop *loop = loop_new(&err);
    assert_non_null(loop);
    assert_int_equal(number_init(&number, loop, dir, &err), 0);
    number_begin(&number, NULL);
    assert_non_null(number.job);
    for (uint64_t i = 0; i < 20 * NUMBER_BLOCK; i++) {
        assert_int_equal(number_take(&number), NUMBER_FIRST + i);
        assert_true(on_disk() > NUMBER_FIRST + i);
        if (i % 3 == 0)
            loop_turn(loop, 0);
    }
    assert_true(number.block > NUMBER_BLOCK); /* they went fast */
    number_fini(&number);
    assert_int_equal(on_disk(), NUMBER_FIRST + 20 * NUMBER_BLOCK);
    assert_int_equal(number_init(&number, loop, dir, &err), 0);
    number_begin(&number, NULL);
    number_fini(&number); /* nothing was taken */
    assert_int_equal(on_disk(), NUMBER_FIRST + 20 * NUMBER_BLOCK);
    loop_free(loop);
}

TEST(test_ahead_is_there_in_time)
{
    struct number number;
    struct err err;
    struct loop *loop = loop_new(&err);
    assert_non_null(loop);
    assert_int_equal(number_init(&number, loop, dir, &err), 0);
    number_begin(&number, NULL);
    loop_wait_offloaded(loop);
    for (uint64_t i = 0; i < 3 * NUMBER_BLOCK; i++) {
        if (number.next >= number.end) /* it would have to wait for the disk otherwise */
            assert_true(!number.job && number.ahead.from == NUMBER_FIRST + i);
        assert_int_equal(number_take(&number), NUMBER_FIRST + i);
        loop_wait_offloaded(loop);
    }
    number_fini(&number);
    loop_free(loop);
}

TEST(test_crash_skips_the_block)
{
    struct number first, second;
    struct err err;
    assert_int_equal(number_init(&first, NULL, dir, &err), 0);
    uint64_t last = 0;
    for (int i = 0; i < NUMBER_BLOCK + 5; i++)
        last = number_take(&first);
    /* first is never finished: that is the crash */
    assert_int_equal(number_init(&second, NULL, dir, &err), 0);
    assert_true(number_take(&second) > last);
    number_fini(&second);
    free(first.dir);
}

/* A worker is killed, its keeper is not: the next one goes on where it was. */
TEST(test_successor_goes_on)
{
    struct number first, second;
    struct number_kept kept = {0};
    struct err err;
    assert_int_equal(number_init(&first, NULL, dir, &err), 0);
    number_begin(&first, &kept);
    for (uint64_t i = 0; i < NUMBER_BLOCK + 5; i++)
        assert_int_equal(number_take(&first), NUMBER_FIRST + i);
    assert_int_equal(number_init(&second, NULL, dir, &err), 0);
    number_skip_past(&second, NUMBER_FIRST + NUMBER_BLOCK + 4); /* it lives */
    number_begin(&second, &kept);
    for (uint64_t i = NUMBER_BLOCK + 5; i < 3 * NUMBER_BLOCK; i++)
        assert_int_equal(number_take(&second), NUMBER_FIRST + i);
    number_fini(&second);
    free(first.dir);
}

/* What can't be true is not gone by: numbers would come twice. */
TEST(test_kept_is_checked)
{
    static const struct { uint64_t next, end; } wrong[] = {
        {UINT64_MAX, NUMBER_FIRST + 64}, {NUMBER_FIRST + 5, NUMBER_FIRST + 5}, {5, 60}, {NUMBER_FIRST, 5000}, {NUMBER_FIRST + 70, NUMBER_FIRST + 90}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct number number;
        struct number_kept kept = {.next = wrong[i].next, .end = wrong[i].end};
        struct err err;
        write_next("1064\n");
        assert_int_equal(number_init(&number, NULL, dir, &err), 0);
        number_begin(&number, &kept);
        assert_int_equal(number_take(&number), 1064);
        number_fini(&number);
    }
}

TEST(test_two_daemons)
{
    struct number a, b;
    struct err err;
    bool seen[4 * NUMBER_BLOCK] = {false};
    assert_int_equal(number_init(&a, NULL, dir, &err), 0);
    assert_int_equal(number_init(&b, NULL, dir, &err), 0);
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

TEST(test_skip_past)
{
    struct number number;
    struct err err;
    assert_int_equal(number_init(&number, NULL, dir, &err), 0);
    number_skip_past(&number, 5000);
    assert_int_equal(number_take(&number), 5001);
    assert_true(on_disk() > 5001);
    number_skip_past(&number, 10);
    assert_int_equal(number_take(&number), 5002);
    number_fini(&number);
}

TEST(test_broken_files)
{
    static const char *const texts[] = {"", "abc\n", "-5\n", "12\n", "99999999999999999999999\n", "1005 x\n"};
    struct number number;
    struct err err;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_next(texts[i]);
        assert_int_equal(number_init(&number, NULL, dir, &err), ERR_SYSTEM);
        assert_non_null(strstr(err.text, "/next'"));
        assert_int_equal(number_take(&number), NUMBER_FIRST); /* from memory */
        number_fini(&number);
    }
    assert_int_equal(number_init(&number, NULL, "/nonexistent/dir", &err), ERR_SYSTEM);
    number_fini(&number);
}

TEST(test_disk_refuses)
{
    struct number number;
    struct err err;
    log_open("/dev/null", LOG_ERROR, &err);
    assert_int_equal(number_init(&number, NULL, dir, &err), 0);
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

/* There is no room for another file, but for other bytes in the one that is there. */
TEST(test_full_disk)
{
    struct number number;
    struct err err;
    char fresh[96];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    assert_int_equal(mkdir(fresh, 0700), 0); /* a new file can't be made */
    write_next("9990\n");
    assert_int_equal(number_init(&number, NULL, dir, &err), 0);
    for (uint64_t i = 9990; i < 9990 + 2 * NUMBER_BLOCK; i++) {
        assert_int_equal(number_take(&number), i);
        assert_true(!number.warned && on_disk() > i);
    }
    number_fini(&number);
    assert_int_equal(on_disk(), 9990 + 2 * NUMBER_BLOCK);
    rmdir(fresh);
}

/* Numbers that the disk never heard of: neither the next worker nor, once there is room, the next daemon gives them out again. */
TEST(test_uncovered_numbers)
{
    struct number first, second;
    struct number_kept kept = {0};
    struct err err;
    char fresh[96];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    log_open("/dev/null", LOG_ERROR, &err);
    assert_int_equal(mkdir(fresh, 0700), 0);
    assert_int_equal(number_init(&first, NULL, dir, &err), 0);
    number_begin(&first, &kept);
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(number_take(&first), NUMBER_FIRST + i);
    assert_true(first.warned);
    assert_int_equal(number_init(&second, NULL, dir, &err), 0);
    number_begin(&second, &kept);
    assert_int_equal(number_take(&second), NUMBER_FIRST + 5);
    rmdir(fresh);
    number_fini(&second);
    assert_int_equal(on_disk(), NUMBER_FIRST + 6);
    free(first.dir);
    log_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_begins_and_goes_on, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_ahead, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_ahead_is_there_in_time, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_crash_skips_the_block, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_successor_goes_on, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_kept_is_checked, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_two_daemons, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_skip_past, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_broken_files, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_disk_refuses, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_full_disk, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(test_uncovered_numbers, make_dir, drop_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
