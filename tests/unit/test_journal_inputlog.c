/* The input log: what is kept, what is not, what a successor makes of it. */
#include "tests/lib/test.h"

#include "journal/inputlog.h"
#include "journal/journal.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct journal *make(size_t log_bytes)
{
    struct journal_make plan = {.number = 1000, .name = "sh", .tty = true, .rows = 24, .cols = 80, .ring_bytes = 64 << 10, .head_bytes = 4096,
                                .input_bytes = 4096, .log_bytes = log_bytes, .cmd = "sh", .cwd = "/"};
    struct journal *journal;
    struct err err;
    assert_int_equal(journal_new(&journal, &plan, &err), 0);
    return journal;
}

static void type(struct journal *journal, enum input_who who, enum input_kind kind, const char *text)
{
    const struct author author = {.who = who, .uid = 7, .pid = 4711, .peer = 1, .client = "ue/0.1.0", .call_id = "call_1"};
    const struct input input = {.data = text, .size = strlen(text), .kind = kind, .author = &author};
    inputlog_note(journal, &input, journal->header->in_head);
    assert_true(journal_input_append(journal, text, strlen(text)));
}

struct seen { struct input_event events[300]; size_t count; };

static void collect(void *arg, const struct input_event *event)
{
    struct seen *seen = arg;
    memcpy(&seen->events[seen->count++], event, sizeof *event);
}

static struct seen *read_all(const struct journal *journal, uint64_t since, uint64_t *lost)
{
    static struct seen seen;
    memset(&seen, 0, sizeof seen);
    *lost = inputlog_read(journal, since, 300, collect, &seen);
    return &seen;
}

TEST(who_typed_what)
{
    struct journal *journal = make(64 << 10);
    uint64_t lost;
    type(journal, INPUT_BY_AGENT, INPUT_TEXT, "make\r");
    type(journal, INPUT_BY_PERSON, INPUT_KEYS, "l");
    type(journal, INPUT_BY_PERSON, INPUT_KEYS, "s");
    type(journal, INPUT_BY_PERSON, INPUT_SECRET, "hunter2\r");
    type(journal, INPUT_BY_AGENT, INPUT_SECRET, "other\r");
    const struct seen *seen = read_all(journal, 0, &lost);
    assert_int_equal(lost, 0);
    assert_int_equal(seen->count, 4);
    assert_memory_equal(seen->events[0].text, "make\r", 5);
    assert_string_equal(seen->events[0].client, "ue/0.1.0");
    assert_string_equal(seen->events[0].call_id, "call_1");
    assert_int_equal(seen->events[0].pid, 4711);
    assert_int_equal(seen->events[0].from, 0);
    assert_int_equal(seen->events[0].to, 5);
    assert_int_equal(seen->events[1].count, 2); /* a person's keys in a row; and nothing of what they were */
    assert_int_equal(seen->events[1].bytes, 2);
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(seen->events[i].text_size, 0);
    assert_int_equal(seen->events[2].bytes, 8);
    assert_int_equal(inputlog_last(journal), 4);
    assert_int_equal(read_all(journal, 3, &lost)->count, 1);
    journal_free(journal);
}

TEST(the_oldest_goes_first)
{
    struct journal *journal = make(4096); /* 15 events */
    char text[16];
    uint64_t lost;
    for (int i = 1; i <= 100; i++) {
        snprintf(text, sizeof text, "%d", i);
        type(journal, INPUT_BY_AGENT, INPUT_TEXT, text);
    }
    const struct seen *seen = read_all(journal, 0, &lost);
    assert_int_equal(seen->count, 15);
    assert_int_equal(lost, 85);
    assert_int_equal(seen->events[0].serial, 86);
    assert_memory_equal(seen->events[14].text, "100", 3);
    journal_free(journal);
}

TEST(long_texts_are_cut_at_a_character)
{
    struct journal *journal = make(64 << 10);
    char text[201];
    uint64_t lost;
    for (size_t i = 0; i < 200; i += 2)
        memcpy(text + i, "\303\251", 2);
    text[200] = '\0';
    memmove(text + 1, text, 199);
    text[0] = 'x';
    type(journal, INPUT_BY_AGENT, INPUT_PASTE, text);
    const struct seen *seen = read_all(journal, 0, &lost);
    assert_int_equal(seen->events[0].bytes, 200);
    assert_int_equal(seen->events[0].text_size, 87);
    journal_free(journal);
}

TEST(a_successor_forgets_what_never_came_in)
{
    struct journal *journal = make(64 << 10), *heir;
    struct err err;
    uint64_t lost;
    type(journal, INPUT_BY_AGENT, INPUT_TEXT, "one");
    const struct author author = {.who = INPUT_BY_AGENT};
    const struct input input = {.data = "two", .size = 3, .kind = INPUT_TEXT, .author = &author};
    inputlog_note(journal, &input, 3); /* and then the worker was killed */
    struct input_holder *holder = inputlog_holder(journal, true);
    holder->kind = 2;
    int fd = fcntl(journal->fd, F_DUPFD_CLOEXEC, 3);
    journal_free(journal);
    assert_int_equal(journal_adopt(&heir, fd, &err), 0);
    const struct seen *seen = read_all(heir, 0, &lost);
    assert_int_equal(seen->count, 1);
    assert_memory_equal(seen->events[0].text, "one", 3);
    assert_int_equal(inputlog_holder(heir, false)->kind, 2);
    type(heir, INPUT_BY_AGENT, INPUT_TEXT, "three");
    assert_int_equal(read_all(heir, 0, &lost)->count, 2);
    journal_free(heir);
}

/* Nothing had been typed before: another one types before the person whose keys never came in sends them again. */
TEST(first_keys_that_never_came_in_are_not_done)
{
    uint64_t lost;
    struct journal *journal = make(64 << 10);
    const struct author author = {.who = INPUT_BY_PERSON};
    const struct input input = {.data = "xy", .size = 2, .kind = INPUT_KEYS, .author = &author};
    inputlog_note(journal, &input, 0);
    inputlog_keys_note(journal, 7, 1);
    inputlog_mend(journal); /* the worker died here */
    type(journal, INPUT_BY_AGENT, INPUT_TEXT, "a");
    assert_false(inputlog_keys_done(journal, 7));
    const struct seen *seen = read_all(journal, 0, &lost);
    assert_int_equal(seen->count, 1);
    assert_int_equal(seen->events[0].who, INPUT_BY_AGENT);
    journal_free(journal);
}

TEST(keys_are_known_until_others_take_their_place)
{
    struct journal *journal = make(64 << 10);
    assert_false(inputlog_keys_done(journal, 7));
    inputlog_keys_note(journal, 7, 1);
    assert_true(journal_input_append(journal, "x", 1));
    assert_true(inputlog_keys_done(journal, 7));
    assert_false(inputlog_keys_done(journal, 8));
    inputlog_keys_note(journal, 8, 2); /* the worker dies before the byte is in */
    inputlog_mend(journal);
    assert_true(inputlog_keys_done(journal, 7));
    assert_false(inputlog_keys_done(journal, 8));
    assert_true(journal_input_append(journal, "y", 1)); /* somebody else's */
    assert_false(inputlog_keys_done(journal, 8));
    for (uint64_t id = 100; id < 120; id++)
        inputlog_keys_note(journal, id, 2);
    assert_false(inputlog_keys_done(journal, 7));
    assert_true(inputlog_keys_done(journal, 119) && inputlog_keys_done(journal, 110));
    journal_free(journal);
}

TEST(without_a_log_nothing_is_kept)
{
    struct journal *journal = make(0);
    uint64_t lost;
    type(journal, INPUT_BY_AGENT, INPUT_TEXT, "one");
    assert_int_equal(read_all(journal, 0, &lost)->count, 0);
    assert_null(inputlog_holder(journal, true));
    inputlog_keys_note(journal, 7, 1);
    assert_false(inputlog_keys_done(journal, 7));
    journal_free(journal);
}

TEST(a_silent_session_takes_no_memory_for_it)
{
    struct stat before, after;
    struct journal *without = make(0), *with = make(64 << 10);
    assert_int_equal(fstat(without->fd, &before), 0);
    assert_int_equal(fstat(with->fd, &after), 0);
    assert_int_equal(before.st_blocks, after.st_blocks);
    journal_free(without);
    journal_free(with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_typed_what), cmocka_unit_test(the_oldest_goes_first),
                                       cmocka_unit_test(long_texts_are_cut_at_a_character), cmocka_unit_test(a_successor_forgets_what_never_came_in),
                                       cmocka_unit_test(first_keys_that_never_came_in_are_not_done),
        cmocka_unit_test(keys_are_known_until_others_take_their_place),
                                       cmocka_unit_test(without_a_log_nothing_is_kept), cmocka_unit_test(a_silent_session_takes_no_memory_for_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
