/* test_session_names.c: who holds a name, and which name a new session gets, on sessions that are nothing but a header. */
#include "tests/lib/test.h"

#include "base/mem.h"
#include "session/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 500

static struct registry registry;
static struct config *cfg;
static struct session *made[MANY + 8];
static size_t count;

static struct session *make(uint64_t number, const char *name, bool live)
{
    struct session *session = xcalloc(1, sizeof *session);
    session->registry = &registry;
    session->journal = xcalloc(1, sizeof *session->journal);
    session->journal->header = xcalloc(1, sizeof *session->journal->header);
    session->journal->header->number = number;
    snprintf(session->journal->header->name, sizeof session->journal->header->name, "%s", name);
    session->finished = !live;
    index_add(&registry, session);
    made[count++] = session;
    return session;
}

static int begin(void **state)
{
    (void)state;
    memset(&registry, 0, sizeof registry);
    list_init(&registry.order);
    defer_init(&registry.deferred);
    registry.cfg = cfg = config_default();
    index_init(&registry);
    count = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    while (count > 0) {
        struct session *session = made[--count];
        index_remove(&registry, session);
        free(session->journal->header);
        free(session->journal);
        free(session);
    }
    index_fini(&registry);
    config_free(cfg);
    return registry.count == 0 && registry.reserved_bytes == 0 ? 0 : -1;
}

static void assert_picks(const char *base, const char *want)
{
    char name[JOURNAL_NAME_MAX + 1];
    index_pick_name(&registry, base, name);
    assert_string_equal(name, want);
}

TEST(test_suffixes)
{
    assert_picks("py", "py");
    make(1000, "py", true);
    assert_picks("py", "py-2");
    make(1001, "py-2", true);
    assert_picks("py", "py-3");
    struct session *third = make(1002, "py-3", true);
    make(1003, "py-4", true);
    assert_picks("py", "py-5");
    third->finished = true; /* an ended one gives its name up */
    char name[JOURNAL_NAME_MAX + 1];
    index_pick_name(&registry, "py", name);
    assert_true(strcmp(name, "py-3") == 0 || strcmp(name, "py-5") == 0);
}

TEST(test_many_suffixes)
{
    char name[JOURNAL_NAME_MAX + 1], want[32];
    for (unsigned i = 0; i < MANY; i++) {
        index_pick_name(&registry, "cat", name);
        snprintf(want, sizeof want, i ? "cat-%u" : "cat", i + 1);
        assert_string_equal(name, want);
        make(1000 + i, name, true);
    }
}

TEST(test_long_names_keep_their_suffix)
{
    char base[JOURNAL_NAME_MAX + 1], name[JOURNAL_NAME_MAX + 1];
    memset(base, 'n', JOURNAL_NAME_MAX);
    base[JOURNAL_NAME_MAX] = 0;
    make(1000, base, true);
    index_pick_name(&registry, base, name);
    assert_int_equal(strlen(name), JOURNAL_NAME_MAX);
    assert_string_equal(name + JOURNAL_NAME_MAX - 2, "-2");
}

TEST(test_ended_one_loses_its_name)
{
    struct session *old = make(1000, "sh", false);
    assert_ptr_equal(index_by_name(&registry, "sh"), old);
    assert_picks("sh", "sh");
    struct session *young = make(1001, "sh", true);
    assert_ptr_equal(index_by_name(&registry, "sh"), young);
    struct err err;
    assert_ptr_equal(registry_find(&registry, "1000", &err), old); /* the number keeps status and output */
    assert_ptr_equal(registry_find(&registry, "sh", &err), young);
}

/* A hand-over brings them in any order. */
TEST(test_live_before_ended_after_a_hand_over)
{
    struct session *live = make(1000, "sh", true);
    make(1007, "sh", false);
    assert_ptr_equal(index_by_name(&registry, "sh"), live);
    make(1002, "x", false);
    struct session *youngest = make(1005, "x", false);
    make(1003, "x", false);
    assert_ptr_equal(index_by_name(&registry, "x"), youngest);
}

static bool note_number(void *arg, struct session *session)
{
    uint64_t *last = arg;
    assert_true(session_number(session) > *last);
    *last = session_number(session);
    return true;
}

TEST(test_each_goes_by_number)
{
    static const uint64_t numbers[] = {1005, 1001, 1009, 1000, 1007};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        make(numbers[i], "n", i % 2);
    uint64_t last = 0;
    registry_each(&registry, false, note_number, &last);
    assert_int_equal(last, 1009);
    last = 0;
    registry_each(&registry, true, note_number, &last);
    assert_int_equal(last, 1001);
}

TEST(test_not_found)
{
    struct err err;
    make(1000, "python3", true);
    assert_null(registry_find(&registry, "pyhton3", &err));
    assert_int_equal(err.code, ERR_NO_SUCH_SESSION);
    assert_non_null(strstr(err.text, "'pyhton3'"));
    assert_non_null(strstr(err.text, "'python3'"));
    assert_null(registry_find(&registry, "4711", &err));
    assert_int_equal(err.code, ERR_NO_SUCH_SESSION);
}

TEST(test_rename)
{
    struct err err;
    struct session *a = make(1000, "a", true), *b = make(1001, "b", true);
    assert_int_equal(session_rename(a, "b", &err), ERR_NAME_TAKEN);
    assert_int_equal(session_rename(a, "12", &err), ERR_BAD_NAME);
    assert_int_equal(session_rename(a, "", &err), ERR_BAD_NAME);
    assert_int_equal(session_rename(a, "c", &err), 0);
    assert_string_equal(session_name(a), "c");
    assert_null(index_by_name(&registry, "a"));
    assert_ptr_equal(index_by_name(&registry, "c"), a);
    assert_int_equal(session_rename(a, "c", &err), 0);
    b->finished = true;
    assert_int_equal(session_rename(a, "b", &err), 0);
    assert_ptr_equal(index_by_name(&registry, "b"), a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_suffixes, begin, end),
        cmocka_unit_test_setup_teardown(test_many_suffixes, begin, end),
        cmocka_unit_test_setup_teardown(test_long_names_keep_their_suffix, begin, end),
        cmocka_unit_test_setup_teardown(test_ended_one_loses_its_name, begin, end),
        cmocka_unit_test_setup_teardown(test_live_before_ended_after_a_hand_over, begin, end),
        cmocka_unit_test_setup_teardown(test_each_goes_by_number, begin, end),
        cmocka_unit_test_setup_teardown(test_not_found, begin, end),
        cmocka_unit_test_setup_teardown(test_rename, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
