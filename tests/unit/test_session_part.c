/* test_session_part.c: the table of parts, with two made-up ones: who is called, in which order, and what their
 * answers do. Sessions are nothing but a header here. */
#include "tests/lib/test.h"

#include "base/mem.h"
#include "session/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct registry registry;
static struct session *session;
static char told[512];
static bool first_says, second_says;

static void tell(const char *who, const char *what)
{
    size_t used = strlen(told);
    snprintf(told + used, sizeof told - used, "%s%s:%s", used ? " " : "", who, what);
}

static void assert_told(const char *want)
{
    assert_string_equal(told, want);
    *told = 0;
}

/* The first has all events; the second lacks some. */
#define OF_ALL(who, event) static void who##_##event(struct registry *r) { assert_ptr_equal(r, &registry); tell(#who, #event); }
#define OF_ONE(who, event) static void who##_##event(struct session *s) { assert_ptr_equal(s, session); tell(#who, #event); }
#define ASKED(who, event, type, answer) \
    static bool who##_##event(type of) { (void)of; tell(#who, #event); return answer; }
OF_ALL(a, init) OF_ALL(a, close) OF_ALL(a, reload) OF_ALL(a, turn_end) OF_ALL(a, hold)
OF_ALL(b, init) OF_ALL(b, reload)
OF_ONE(a, began) OF_ONE(a, adopt) OF_ONE(a, late_look) OF_ONE(a, ended) OF_ONE(a, answer)
OF_ONE(b, began) OF_ONE(b, ended)
ASKED(a, is_idle, const struct registry *, first_says) ASKED(b, is_idle, const struct registry *, second_says)
ASKED(a, prompt, struct session *, first_says) ASKED(b, prompt, struct session *, second_says)
ASKED(a, answer_late, struct session *, first_says) ASKED(b, holds_leader, const struct session *, second_says)

static void a_fini(struct registry *r)
{
    tell("a", "fini");
    free(r->part[PART_VIEW]);
    r->part[PART_VIEW] = NULL;
}

static void b_fini(struct registry *r)
{
    (void)r;
    tell("b", "fini");
}

static void a_free(struct session *s)
{
    tell("a", "free");
    free(s->part[PART_VIEW]);
    s->part[PART_VIEW] = NULL;
}

static void b_free(struct session *s)
{
    assert_non_null(s->part[PART_VIEW]); /* the other way round */
    tell("b", "free");
}

static void a_look(struct session *s, uint64_t seen_head)
{
    s->part[PART_VIEW] = s->part[PART_VIEW] ? s->part[PART_VIEW] : xcalloc(1, 1); /* its own place */
    assert_int_equal(seen_head, 7);
    tell("a", "look");
}

static void a_forget(struct session *s, bool known)
{
    (void)s;
    tell("a", known ? "forget" : "drop");
}

static int b_check_input(struct session *s, const struct input *input, struct err *err)
{
    (void)s;
    tell("b", "check_input");
    return input->steal ? 0 : err_set(err, ERR_KEYBOARD_HELD, "not now");
}

static void a_input(struct session *s, const struct input *input)
{
    (void)s;
    tell("a", input->data);
}

static void a_take_slot(struct registry *r, int fds[])
{
    (void)r;
    assert_int_equal(fds[0], 12);
    tell("a", "take_slot");
}

static void a_renamed(struct session *s, const char *old_name)
{
    (void)s;
    tell("a", old_name);
}

static void b_resized(struct session *s, const struct part_resize *resize)
{
    (void)s;
    tell("b", resize->rows == 5 && resize->cols == 40 && resize->old_rows == 24 && !resize->same ? "5x40" : "?");
}

static const struct part a = {.init = a_init, .close = a_close, .fini = a_fini, .reload = a_reload, .is_idle = a_is_idle,
    .turn_end = a_turn_end, .slot = 3, .take_slot = a_take_slot, .hold = a_hold, .began = a_began, .adopt = a_adopt, .prompt = a_prompt,
    .look = a_look, .late_look = a_late_look, .ended = a_ended, .forget = a_forget, .free = a_free, .answer = a_answer,
    .answer_late = a_answer_late, .input = a_input, .renamed = a_renamed};
static const struct part b = {.init = b_init, .fini = b_fini, .reload = b_reload, .is_idle = b_is_idle, .began = b_began,
    .prompt = b_prompt, .ended = b_ended, .holds_leader = b_holds_leader, .free = b_free, .check_input = b_check_input,
    .resized = b_resized};
static const struct part *const rows[] = {&a, &b, NULL};

static int begin(void **state)
{
    (void)state;
    memset(&registry, 0, sizeof registry);
    registry.above.parts = rows;
    session = xcalloc(1, sizeof *session);
    session->registry = &registry;
    first_says = second_says = false;
    *told = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(session);
    return 0;
}

TEST(test_life_of_the_registry)
{
    part_init(&registry);
    assert_told("a:init b:init");
    registry.part[PART_VIEW] = xcalloc(1, 1);
    part_reload(&registry);
    part_turn_end(&registry);
    part_hold(&registry);
    part_boot(&registry); /* nobody's */
    assert_told("a:reload b:reload a:turn_end a:hold");
    part_close(&registry);
    part_fini(&registry);
    assert_told("a:close b:fini a:fini");
}

TEST(test_life_of_a_session)
{
    part_began(session);
    part_adopt(session);
    part_answer(session);
    part_look(session, 7);
    part_late_look(session);
    part_ended(session);
    assert_told("a:began b:began a:adopt a:answer a:look a:late_look a:ended b:ended");
    part_forget(session, false);
    part_forget(session, true);
    part_free(session);
    assert_told("a:drop a:forget b:free a:free");
}

TEST(test_answers)
{
    assert_false(part_is_idle(&registry));
    assert_told("a:is_idle");
    first_says = true;
    assert_false(part_is_idle(&registry));
    assert_told("a:is_idle b:is_idle");
    second_says = true;
    assert_true(part_is_idle(&registry));
    assert_true(part_holds_leader(session));
    assert_true(part_answer_late(session));
    *told = 0;
    assert_true(part_prompt(session)); /* the first has dealt with it */
    assert_told("a:prompt");
    first_says = second_says = false;
    assert_false(part_prompt(session));
    assert_told("a:prompt b:prompt");
}

TEST(test_slots)
{
    int fds[] = {12};
    assert_true(part_has_slot(&registry, 3));
    assert_false(part_has_slot(&registry, 2));
    assert_false(part_take_slot(&registry, 2, fds));
    assert_false(part_take_slot(&registry, 0, fds));
    assert_told("");
    assert_true(part_take_slot(&registry, 3, fds));
    assert_told("a:take_slot");
}

TEST(test_what_happens_to_one)
{
    struct err err;
    struct input input = {.data = "ls", .size = 2};
    assert_int_equal(part_check_input(session, &input, &err), ERR_KEYBOARD_HELD);
    input.steal = true;
    assert_int_equal(part_check_input(session, &input, &err), 0);
    *told = 0;
    part_input(session, &input);
    part_typed(session, "ls", 2, NULL); /* nobody's */
    part_renamed(session, "old");
    part_resized(session, &(struct part_resize){.rows = 5, .cols = 40, .old_rows = 24, .old_cols = 80});
    part_end_read(session);
    part_killed(session, "request", 9);
    assert_told("a:ls a:old b:5x40");
}

TEST(test_no_table)
{
    registry.above.parts = NULL;
    part_init(&registry);
    part_look(session, 7);
    assert_true(part_is_idle(&registry));
    assert_false(part_prompt(session));
    part_free(session);
    part_fini(&registry);
    assert_told("");
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_##name, begin, end)
int main(void)
{
    const struct CMUnitTest tests[] = {CASE(life_of_the_registry), CASE(life_of_a_session), CASE(answers), CASE(slots),
                                       CASE(what_happens_to_one), CASE(no_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
