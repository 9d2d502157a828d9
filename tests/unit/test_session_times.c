/* session/times: output by time. */
#include "session/times.h"
#include "tests/lib/test.h"

TEST(test_offsets)
{
    struct times *times = NULL;
    assert_int_equal(times_offset(times, 5, 100, 7), 7);
    times_note(&times, 1000, 0);
    times_note(&times, 1050, 10); /* the same moment */
    times_note(&times, 5000, 50);
    times_note(&times, 4000, 60); /* the clock was set back */
    times_note(&times, 9000, 80);
    assert_int_equal(times_offset(times, 500, 100, 7), 7);
    assert_int_equal(times_offset(times, 1000, 100, 7), 0);
    assert_int_equal(times_offset(times, 1049, 100, 7), 0);
    assert_int_equal(times_offset(times, 1060, 100, 7), 50);
    assert_int_equal(times_offset(times, 2000, 100, 7), 50);
    assert_int_equal(times_offset(times, 5000, 100, 7), 50);
    assert_int_equal(times_offset(times, 8999, 100, 7), 80);
    assert_int_equal(times_offset(times, 20000, 100, 7), 100);
    times_free(times);
}

/* However long it lives: bounded, and never later than what was asked for. */
TEST(test_long_life)
{
    struct times *times = NULL;
    for (int64_t second = 1; second <= 200000; second++)
        times_note(&times, second * 1000, (uint64_t)second * 3);
    for (int64_t second = 1000; second <= 200000; second += 997) {
        uint64_t offset = times_offset(times, second * 1000, 600003, 0);
        assert_true(offset <= (uint64_t)second * 3);
        assert_true(offset + 3 * 4000 >= (uint64_t)second * 3);
    }
    times_free(times);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_offsets), cmocka_unit_test(test_long_life)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
