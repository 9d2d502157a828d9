/* A slot of a hand-over in one piece, in several, and without room for its descriptors; what is kept back for clients meanwhile. */
#include "keep/arrival.h"
#include "keep/spare.h"
#include "tests/lib/test.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static struct keep_msg message(uint64_t session, int64_t mask, bool more)
{
    return (struct keep_msg){.type = KEEP_SLOT, .session = session, .pid = 7, .arg = {mask, more}};
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

TEST(test_pieces)
{
    struct arrival arrival = {0};
    int first = dup(0), second = dup(0), fds[1] = {first}, more[1] = {second};
    struct keep_msg msg = message(1000, 1 << KEEP_FD_JOURNAL, true);
    assert_false(arrival_add(&arrival, &msg, fds, 1));
    msg = message(1000, 1 << KEEP_FD_MASTER, false);
    assert_true(arrival_add(&arrival, &msg, more, 1));
    assert_int_equal(arrival.fds[KEEP_FD_JOURNAL], first);
    assert_int_equal(arrival.fds[KEEP_FD_MASTER], second);
    assert_int_equal(arrival.fds[KEEP_FD_OUT], -1);
    assert_int_equal(arrival.pid, 7);
    close(first);
    close(second);
}

TEST(test_cut)
{
    struct arrival arrival = {0};
    int journal, first = dup(0), second = dup(0), fds[2] = {first, second};
    struct keep_msg msg = message(1000, 1 << KEEP_FD_JOURNAL | 1 << KEEP_FD_MASTER | 1 << KEEP_FD_OUT, false);
    assert_true(arrival_cut(&arrival, &msg, fds, 2, &journal));
    assert_int_equal(journal, first);
    assert_true(is_open(first) && !is_open(second));
    close(first);
}

TEST(test_cut_between_pieces)
{
    struct arrival arrival = {0};
    int journal, first = dup(0), fds[1] = {first};
    struct keep_msg msg = message(1000, 1 << KEEP_FD_JOURNAL, true);
    assert_false(arrival_add(&arrival, &msg, fds, 1));
    assert_false(arrival_cut(&arrival, &msg, NULL, 0, &journal)); /* more of it follows, which is of no use alone */
    assert_true(arrival.cut && journal == -1 && !is_open(first));
    msg = message(1000, 1 << KEEP_FD_IN, false);
    assert_true(arrival_cut(&arrival, &msg, NULL, 0, &journal));
    assert_false(arrival.cut);
}

TEST(test_spare)
{
    struct spare spare = {.count = 0};
    struct rlimit before, low;
    assert_true(spare_hold(&spare) && spare_hold(&spare));
    assert_int_equal(spare.count, SPARE_MAX);
    spare_release_one(&spare);
    int freed = dup(0);
    assert_true(freed >= 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = (struct rlimit){.rlim_cur = (rlim_t)freed + 1, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    assert_false(spare_hold(&spare)); /* as many as there are */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(spare.count, SPARE_MAX - 1);
    spare_release(&spare);
    assert_int_equal(spare.count, 0);
    close(freed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces), cmocka_unit_test(test_cut), cmocka_unit_test(test_cut_between_pieces),
                                       cmocka_unit_test(test_spare)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
