/* The ring of events: numbers, room, what a successor finds. */
#include "journal/events_ring.h"
#include "tests/lib/test.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct events_ring *make(size_t bytes)
{
    struct events_ring *ring = NULL;
    struct err err;
    assert_int_equal(events_ring_new(&ring, bytes, &err), 0);
    return ring;
}

static uint64_t add(struct events_ring *ring, const char *text)
{
    struct event_record record = {.type = 3, .session = 1000, .text_size = (uint32_t)strlen(text), .name = "sh"};
    return events_ring_add(ring, &record, text);
}

TEST(test_numbers_and_texts)
{
    struct events_ring *ring = make(0);
    struct events_cursor cursor = {.seq = 2};
    const char *text;
    uint64_t missed;
    assert_int_equal(events_ring_next(ring), 1);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(add(ring, "{\"a\":1}"), i);
    for (uint64_t seq = 2; seq <= 3; seq++) {
        const struct event_record *record = events_ring_read(ring, &cursor, &text, &missed);
        assert_non_null(record);
        assert_int_equal(record->seq, seq);
        assert_int_equal(missed, 0);
        assert_memory_equal(text, "{\"a\":1}", record->text_size);
        assert_string_equal(record->name, "sh");
    }
    assert_null(events_ring_read(ring, &cursor, &text, &missed));
    assert_int_equal(cursor.seq, 4);
    add(ring, "later");
    assert_int_equal(events_ring_read(ring, &cursor, &text, &missed)->seq, 4);
    events_ring_free(ring);
}

TEST(test_the_oldest_go_and_the_gap_is_told)
{
    struct events_ring *ring = make(16384);
    struct events_cursor slow = {.seq = 1}, whole = {0};
    const char *text;
    uint64_t missed, seq = 0;
    char line[333];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    for (int i = 0; i < 1000; i++) {
        line[i % 300 + 1] = '\0'; /* all lengths, so that the end of the ring is met in every way */
        add(ring, line);
        line[i % 300 + 1] = 'x';
    }
    const struct event_record *record = events_ring_read(ring, &slow, &text, &missed);
    assert_non_null(record);
    assert_int_equal(missed, record->seq - 1);
    assert_true(missed > 900);
    while ((record = events_ring_read(ring, &whole, &text, &missed))) {
        assert_int_equal(missed, 0);
        assert_true(seq == 0 || record->seq == seq + 1);
        seq = record->seq;
        assert_int_equal(record->text_size, (seq - 1) % 300 + 1);
    }
    assert_int_equal(seq, 1000);
    struct events_cursor beyond = {.seq = 5000};
    assert_non_null(events_ring_read(ring, &beyond, &text, &missed));
    assert_true(missed == EVENTS_MISSED_UNKNOWN);
    events_ring_free(ring);
}

TEST(test_a_text_that_is_too_large_is_left_out)
{
    static char large[8000];
    struct events_ring *ring = make(16384);
    struct events_cursor cursor = {0};
    const char *text;
    uint64_t missed;
    memset(large, 'x', sizeof large - 1);
    assert_int_equal(add(ring, large), 1);
    assert_int_equal(events_ring_read(ring, &cursor, &text, &missed)->text_size, 0);
    events_ring_free(ring);
}

static struct events_ring *succeed(struct events_ring *ring)
{
    struct events_ring *next = NULL;
    struct err err;
    int fd = fcntl(events_ring_fd(ring), F_DUPFD_CLOEXEC, 3);
    events_ring_free(ring);
    assert_int_equal(events_ring_adopt(&next, fd, &err), 0);
    return next;
}

TEST(test_a_successor_goes_on)
{
    struct events_ring *ring = make(16384);
    for (int i = 0; i < 500; i++)
        add(ring, "{\"some\":\"event\"}");
    events_ring_set_word(ring, EVENTS_HANDED, 77);
    ring = succeed(ring);
    assert_int_equal(events_ring_next(ring), 501);
    assert_int_equal(events_ring_word(ring, EVENTS_HANDED), 77);
    struct events_cursor cursor = {.seq = 500};
    const char *text;
    uint64_t missed;
    assert_int_equal(events_ring_read(ring, &cursor, &text, &missed)->seq, 500);
    assert_int_equal(missed, 0);
    assert_int_equal(add(ring, "x"), 501);
    events_ring_free(ring);
}

/* What stands at these offsets of the header: next after head and tail. */
enum { AT_SIZE = 8, AT_HEAD = 16, AT_TAIL = 24, AT_NEXT = 32, DATA = 4096 };

TEST(test_a_worker_that_died_before_the_next_number_was_written)
{
    struct events_ring *ring = make(16384);
    add(ring, "a");
    add(ring, "b");
    uint64_t before = 2;
    assert_int_equal(pwrite(events_ring_fd(ring), &before, sizeof before, AT_NEXT), sizeof before);
    ring = succeed(ring);
    assert_int_equal(add(ring, "c"), 3);
    events_ring_free(ring);
}

TEST(test_broken_ones_give_numbers_that_never_go_back)
{
    static const struct { off_t at; uint64_t value; } breaks[] = {
        {AT_HEAD, 7}, {AT_HEAD, 1}, {AT_HEAD, UINT64_MAX}, {AT_TAIL, UINT64_MAX}, {AT_TAIL, 4}, {DATA, 0}, {DATA, UINT64_MAX}, {DATA, 8}};
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        struct events_ring *ring = make(16384);
        for (int n = 0; n < 5; n++)
            add(ring, "event");
        assert_int_equal(pwrite(events_ring_fd(ring), &breaks[i].value, 8, breaks[i].at), 8);
        ring = succeed(ring);
        struct events_cursor cursor = {.seq = 6};
        const char *text;
        uint64_t missed;
        assert_true(add(ring, "after") > 5);
        assert_non_null(events_ring_read(ring, &cursor, &text, &missed));
        assert_true(missed > 0);
        events_ring_free(ring);
    }
}

TEST(test_what_is_none_is_refused)
{
    struct events_ring *ring = NULL;
    struct err err;
    char path[] = "/tmp/news-XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    assert_int_equal(events_ring_adopt(&ring, fd, &err), ERR_SYSTEM);
    assert_null(ring);
    close(fd);
    ring = make(16384);
    uint64_t zero = 0;
    assert_int_equal(pwrite(events_ring_fd(ring), &zero, 8, 0), 8);
    fd = fcntl(events_ring_fd(ring), F_DUPFD_CLOEXEC, 3);
    events_ring_free(ring);
    assert_int_equal(events_ring_adopt(&ring, fd, &err), ERR_SYSTEM);
    close(fd);
}

/* Maps pages that nobody may touch, until the next mapping of that size comes to lie right below one of them. */
static void put_guards(size_t size)
{
    char *last = NULL;
    for (int in_a_row = 0; in_a_row < 8;) {
        char *guard = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(guard != MAP_FAILED);
        in_a_row = last && guard == last - size ? in_a_row + 1 : 0;
        last = guard;
    }
}

TEST(test_a_filler_that_is_shorter_than_a_record)
{
    struct events_ring *ring = make(16384), *next = NULL;
    struct events_cursor cursor = {0};
    struct err err;
    const char *text;
    uint64_t missed;
    char line[65];
    memset(line, 'x', 64);
    line[64] = '\0';
    for (int i = 0; i < 89 + 1; i++) /* 89 of 184 bytes leave 8 at the end */
        add(ring, line);
    int fd = dup(events_ring_fd(ring));
    events_ring_free(ring);
    put_guards(4096 + 16384);
    assert_int_equal(events_ring_adopt(&next, fd, &err), 0);
    assert_int_equal(events_ring_next(next), 91);
    uint64_t last = 0;
    for (const struct event_record *record; (record = events_ring_read(next, &cursor, &text, &missed));)
        last = record->seq;
    assert_int_equal(last, 90);
    events_ring_free(next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_and_texts),
        cmocka_unit_test(test_the_oldest_go_and_the_gap_is_told),
        cmocka_unit_test(test_a_text_that_is_too_large_is_left_out),
        cmocka_unit_test(test_a_successor_goes_on),
        cmocka_unit_test(test_a_worker_that_died_before_the_next_number_was_written),
        cmocka_unit_test(test_a_filler_that_is_shorter_than_a_record),
        cmocka_unit_test(test_broken_ones_give_numbers_that_never_go_back),
        cmocka_unit_test(test_what_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
