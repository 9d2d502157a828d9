/* How much room there is, what an equal share is, and who is the worst. */
#include "peer/burden.h"
#include "tests/lib/test.h"

enum { MIB = 1 << 20, STALLED = BURDEN_STALLED_MS };

TEST(free_is_what_is_not_held)
{
    assert_int_equal(burden_free(0, 8 * MIB), 8 * MIB);
    assert_int_equal(burden_free(8 * MIB - 1, 8 * MIB), 1);
    assert_int_equal(burden_free(8 * MIB, 8 * MIB), 0);
    assert_int_equal(burden_free(9 * MIB, 8 * MIB), 0);
}

TEST(share_is_an_equal_part_of_half)
{
    assert_int_equal(burden_share(8 * MIB, 1), 4 * MIB);
    assert_int_equal(burden_share(8 * MIB, 4), MIB);
}

TEST(half_is_never_more_than_those_with_a_share_leave)
{
    for (size_t clients = 1; clients < 100; clients++) {
        size_t held = clients * burden_share(8 * MIB, clients);
        assert_true(burden_fits(4 * MIB, held, 8 * MIB));
        assert_true(burden_fits(100 * MIB, held, 8 * MIB)); /* one over the cap counts as half */
    }
    assert_false(burden_fits(MIB, 7 * MIB + 1, 8 * MIB));
    assert_false(burden_fits(100 * MIB, 4 * MIB + 1, 8 * MIB));
}

TEST(who_takes_is_not_stalled)
{
    assert_false(burden_is_stalled(0, STALLED - 1));
    assert_true(burden_is_stalled(0, STALLED));
    assert_false(burden_is_stalled(burden_taken(0, 100000, STALLED), STALLED));
    assert_int_equal(burden_taken(0, 1 << 30, STALLED), STALLED); /* it has no credit for later */
    /* a few bytes now and then excuse nobody */
    assert_true(burden_is_stalled(burden_taken(0, 100, STALLED + 1), STALLED + 1));
}

TEST(the_worst_holds_much_for_long)
{
    assert_true(burden_weight(2 * MIB, 0, 100) > burden_weight(MIB, 0, 100));
    assert_true(burden_weight(MIB, 0, 100) > burden_weight(MIB, 50, 100));
    assert_true(burden_weight(MIB, 0, 5000) > burden_weight(8 * MIB, 5000, 5000)); /* who reads */
    assert_true(burden_weight(0, 0, 100) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_is_what_is_not_held),
        cmocka_unit_test(share_is_an_equal_part_of_half),
        cmocka_unit_test(half_is_never_more_than_those_with_a_share_leave),
        cmocka_unit_test(who_takes_is_not_stalled),
        cmocka_unit_test(the_worst_holds_much_for_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
