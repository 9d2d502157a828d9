/* Deferred calls: their order, and what may happen to them while they run. */
#include "base/defer.h"
#include "base/mem.h"
#include "tests/lib/test.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct defer_queue queue;
static char told[16];

static void tell(void *arg)
{
    const char *word = arg;
    told[strlen(told)] = *word;
}

static char words[] = "abcfx";
static struct deferred a = {.fn = tell, .arg = &words[0]}, b = {.fn = tell, .arg = &words[1]}, c = {.fn = tell, .arg = &words[2]};

static int begin(void **state)
{
    (void)state;
    defer_init(&queue);
    memset(told, 0, sizeof told);
    return 0;
}

TEST(test_in_order_and_once)
{
    defer_call(&queue, &b);
    defer_call(&queue, &a);
    defer_call(&queue, &b); /* keeps its place */
    assert_false(defer_is_idle(&queue));
    defer_run(&queue);
    assert_string_equal(told, "ba");
    assert_true(defer_is_idle(&queue));
    defer_run(&queue);
    assert_string_equal(told, "ba");
}

TEST(test_cancelled)
{
    defer_cancel(&a);
    defer_call(&queue, &a);
    defer_call(&queue, &b);
    defer_cancel(&a);
    assert_false(deferred_waits(&a));
    assert_true(deferred_waits(&b));
    defer_run(&queue);
    assert_string_equal(told, "b");
}

static void again(void *arg)
{
    struct deferred *self = arg;
    tell(&words[4]);
    defer_call(&queue, self); /* in the next run */
    defer_cancel(&b);         /* which has not had its turn */
    defer_call(&queue, &c);   /* keeps its place in this run */
}

TEST(test_what_a_call_may_do)
{
    struct deferred self = {.fn = again, .arg = &self};
    defer_call(&queue, &self);
    defer_call(&queue, &b);
    defer_call(&queue, &c);
    defer_run(&queue);
    assert_string_equal(told, "xc");
    assert_true(deferred_waits(&self));
    defer_run(&queue);
    assert_string_equal(told, "xcx");
    defer_cancel(&self);
    defer_run(&queue);
    assert_string_equal(told, "xcxc");
    assert_true(defer_is_idle(&queue));
}

static void free_it(void *arg)
{
    free(arg);
    tell(&words[3]);
}

TEST(test_freed_by_its_call)
{
    struct deferred *one = xcalloc(1, sizeof *one);
    *one = (struct deferred){.fn = free_it, .arg = one};
    defer_call(&queue, one);
    defer_call(&queue, &a);
    defer_run(&queue);
    assert_string_equal(told, "fa");
}

/* Whether fn, in a child, ends with a bug. */
static bool is_bug(void (*fn)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        signal(SIGABRT, SIG_DFL); /* cmocka's handler would fail the test */
        fn();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void run_all(void *arg)
{
    defer_run(arg);
}

static void run_in_a_run(void)
{
    struct deferred nested = {.fn = run_all, .arg = &queue};
    defer_call(&queue, &nested);
    defer_run(&queue);
}

static void call_of_nothing(void)
{
    struct deferred none = {.fn = NULL};
    defer_call(&queue, &none);
}

static void add_twice(void)
{
    struct list head, node = {NULL, NULL};
    list_init(&head);
    list_append(&head, &node);
    list_append(&head, &node);
}

static void remove_what_was_overwritten(void)
{
    struct list head, node = {NULL, NULL};
    list_init(&head);
    list_append(&head, &node);
    list_init(&head); /* the node still points to it */
    list_remove(&node);
}

TEST(test_bugs_are_caught)
{
    assert_true(is_bug(run_in_a_run));
    assert_true(is_bug(call_of_nothing));
    assert_true(is_bug(add_twice));
    assert_true(is_bug(remove_what_was_overwritten));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_in_order_and_once, begin), cmocka_unit_test_setup(test_cancelled, begin),
        cmocka_unit_test_setup(test_what_a_call_may_do, begin), cmocka_unit_test_setup(test_freed_by_its_call, begin),
        cmocka_unit_test_setup(test_bugs_are_caught, begin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
