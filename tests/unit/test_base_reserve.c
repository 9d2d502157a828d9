/* Descriptors that are kept back for clients, and the room that must be left for a successor. */
#include "base/reserve.h"
#include "base/fdio.h"
#include "tests/lib/test.h"
#include <sys/resource.h>
#include <unistd.h>

static int lowest_free(void)
{
    int fd = dup(STDIN_FILENO);
    close(fd);
    return fd;
}

static void limit_descriptors(int count)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)count;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST(room_is_for_a_start_that_waits)
{
    int free = lowest_free();
    limit_descriptors(free + RESERVE_ROOM - 1);
    assert_false(reserve_has_room());
    limit_descriptors(free + RESERVE_ROOM);
    assert_true(reserve_has_room());
    assert_int_equal(lowest_free(), free); /* it was only looked for */
}

TEST(reserve_is_not_room)
{
    int free = lowest_free();
    assert_false(reserve_is_short()); /* it was never filled */
    limit_descriptors(free + RESERVE_MAX - 1);
    reserve_fill();
    assert_true(reserve_is_short() && reserve_count() == RESERVE_MAX - 1);
    limit_descriptors(free + RESERVE_MAX + RESERVE_ROOM - 1);
    reserve_fill();
    assert_false(reserve_is_short() || reserve_has_room());
    limit_descriptors(free + RESERVE_MAX + RESERVE_ROOM);
    assert_true(reserve_has_room());
    reserve_release(0);
    assert_int_equal(lowest_free(), free);
}

TEST(what_lies_beyond_a_limit_takes_no_room_below_it)
{
    int free = lowest_free(), beyond = free + 2 * RESERVE_ROOM;
    limit_descriptors(beyond + 1);
    assert_int_equal(dup2(STDIN_FILENO, beyond), beyond);
    limit_descriptors(free + RESERVE_ROOM);
    assert_true(reserve_has_room());
    limit_descriptors(free + RESERVE_ROOM - 1);
    assert_false(reserve_has_room());
    limit_descriptors(beyond + 1);
    close(beyond);
}

int main(void)
{
    close_range(STDERR_FILENO + 1, ~0u, 0); /* what was inherited leaves no holes */
    const struct CMUnitTest tests[] = {cmocka_unit_test(room_is_for_a_start_that_waits), cmocka_unit_test(reserve_is_not_room),
                                       cmocka_unit_test(what_lies_beyond_a_limit_takes_no_room_below_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
