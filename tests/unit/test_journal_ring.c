/* Journals: the ring and its wrap-around, the head area, what a reader gets, and which stream bytes came from. */
#include "base/buf.h"
#include "journal/journal.h"
#include "tests/lib/test.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RING 8192

static struct journal *make(size_t ring, size_t head, bool tty) {
    struct journal *journal;
    struct journal_make plan = {.number = 1, .name = "s", .tty = tty, .ring_bytes = ring, .head_bytes = head, .input_bytes = 4096,
                                .cmd = "", .cwd = ""};
    assert_int_equal(journal_new(&journal, &plan, NULL), 0);
    return journal;
}

static struct journal *succeed(struct journal *journal) {
    struct journal *next = NULL;
    int fd = fcntl(journal->fd, F_DUPFD_CLOEXEC, 0);
    journal_free(journal);
    assert_int_equal(journal_adopt(&next, fd, NULL), 0);
    return next;
}

static char byte_at(uint64_t offset) {
    return (char)(offset * 131 + offset / 251);
}

/* Writes size bytes of the pattern in pieces of at most `piece`. */
static void flood(struct journal *journal, size_t size, size_t piece) {
    while (size > 0) {
        size_t room;
        char *space = journal_space(journal, size < piece ? size : piece, &room);
        assert_true(room > 0);
        for (size_t i = 0; i < room; i++)
            space[i] = byte_at(journal_head(journal) + i);
        journal_commit(journal, room, false);
        size -= room;
    }
}

static void put(struct journal *journal, const char *text, bool from_stderr) {
    size_t size;
    char *space = journal_space(journal, strlen(text), &size);
    assert_int_equal(size, strlen(text));
    memcpy(space, text, size);
    journal_commit(journal, size, from_stderr);
}

/* Every byte that the journal shows from `from` on is right; returns how many there were. */
static uint64_t check_views(const struct journal *journal, uint64_t from) {
    uint64_t total = 0;
    size_t size;
    for (const char *view; (view = journal_view(journal, &from, &size)) != NULL; from += size, total += size)
        for (size_t i = 0; i < size; i++)
            assert_int_equal(view[i], byte_at(from + i));
    assert_int_equal(from, journal_head(journal));
    return total;
}

TEST(ring_wraps) {
    struct journal *journal = make(RING, 0, true);
    flood(journal, 100, 7);
    assert_int_equal(check_views(journal, 0), 100);
    flood(journal, RING * 5 + 123, 1000);
    assert_int_equal(journal_head(journal) - journal_tail(journal), RING);
    assert_int_equal(check_views(journal, 0), RING);
    size_t size;
    uint64_t from = 0;
    assert_non_null(journal_view(journal, &from, &size));
    assert_int_equal(from, journal_tail(journal)); /* skipped what is gone */
    assert_int_equal(size, RING);                  /* in one piece */
    journal_space(journal, RING * 10, &size);
    assert_int_equal(size, RING / 2);
    from = journal_head(journal) + 5;
    assert_null(journal_view(journal, &from, &size));
    assert_int_equal(size, 0);
    journal_free(journal);
}

static long pages_of(const struct journal *journal) {
    struct stat st;
    assert_int_equal(fstat(journal->fd, &st), 0);
    return (long)st.st_blocks * 512 / 4096;
}

TEST(little_output_costs_no_page) {
    size_t size;
    struct journal *journal = make(RING, 4096, true);
    flood(journal, 500, 77);
    assert_int_equal(check_views(journal, 0), 500);
    assert_int_equal(pages_of(journal), 1);
    journal = succeed(journal);
    flood(journal, 500, 500);
    assert_int_equal(check_views(journal, 3), 997);
    assert_int_equal(pages_of(journal), 1);
    /* The move to the ring was cut off before the flag: whatever is there already is written again. */
    journal_space(journal, 2000, &size);
    assert_false(journal->header->early);
    memset(journal->ring, '?', 1000);
    journal->header->early = 1;
    journal = succeed(journal);
    assert_int_equal(check_views(journal, 0), 1000);
    flood(journal, 2000, 2000);
    assert_false(journal->header->early);
    assert_int_equal(check_views(journal, 0), 3000);
    journal = succeed(journal);
    assert_int_equal(check_views(journal, 0), 3000);
    flood(journal, RING, 1000);
    assert_int_equal(check_views(journal, 0), 3000 + RING);
    journal_free(journal);
}

TEST(a_full_page_has_no_room_for_output) {
    char cmd[2000];
    struct journal *journal;
    struct journal_make plan = {.number = 1, .name = "s", .tty = true, .ring_bytes = RING, .cmd = cmd, .cwd = "/"};
    for (size_t size = 1500; size < sizeof cmd; size += 33) {
        memset(cmd, 'x', size);
        cmd[size] = '\0';
        assert_int_equal(journal_new(&journal, &plan, NULL), 0);
        flood(journal, 400, 50);
        journal = succeed(journal);
        flood(journal, 400, 50);
        assert_int_equal(check_views(journal, 0), 800);
        assert_int_equal(strlen(journal_cmd(journal)), size);
        journal_free(journal);
    }
}

TEST(the_beginning_is_saved) {
    struct journal *journal = make(RING, 4096, true);
    flood(journal, RING * 6, 777);
    assert_int_equal(journal->header->saved_from, 0);
    assert_int_equal(journal->header->saved_len, 4096);
    assert_int_equal(check_views(journal, 0), 4096 + RING);
    journal = succeed(journal);
    assert_int_equal(check_views(journal, 0), 4096 + RING);
    /* The reader has seen half of it: the rest stays, nothing can be added behind a gap. */
    journal_reader_move(journal, journal_reader(journal, NULL, 16), 2000);
    flood(journal, RING, 777);
    assert_int_equal(check_views(journal, 2000), 4096 - 2000 + RING);
    /* The reader has seen all: the next loss begins a new area where the reader stands. */
    uint64_t seen = journal_head(journal);
    journal_reader_move(journal, journal_reader(journal, NULL, 16), seen);
    flood(journal, RING, 777);
    assert_int_equal(check_views(journal, 0), 4096 + RING);
    flood(journal, RING * 3, 777);
    assert_int_equal(journal->header->saved_from, seen);
    assert_int_equal(check_views(journal, seen), 4096 + RING);
    journal_free(journal);
}

TEST(the_window_moves_with_the_reader) {
    struct journal *journal = make(RING, 4096, true);
    struct journal_reader *reader = journal_reader(journal, NULL, 16);
    flood(journal, RING + 3000, 500); /* 3,000 bytes are saved so far */
    assert_int_equal(check_views(journal, 0), RING + 3000);
    journal_reader_move(journal, reader, 2500);
    flood(journal, 3000, 500); /* 6,000 are gone from the ring: all since 2,500 fits */
    assert_int_equal(check_views(journal, 2500), RING + 6000 - 2500);
    journal = succeed(journal);
    assert_int_equal(check_views(journal, 2500), RING + 6000 - 2500);
    flood(journal, RING, 500);
    assert_int_equal(check_views(journal, 2500), RING + 4096);
    journal_free(journal);
}

/* A reader that keeps up costs nothing. */
TEST(nothing_is_saved_for_who_keeps_up) {
    struct journal *journal = make(RING, 4096, true);
    for (int i = 0; i < 50; i++) {
        flood(journal, 1000, 300);
        journal_reader_move(journal, journal_reader(journal, NULL, 16), journal_head(journal));
    }
    assert_int_equal(journal->header->saved_len, 0);
    assert_null(journal->head_area);
    journal_free(journal);
}

/* Killed between the two stores of a trim: the length covers bytes that were never saved. */
TEST(half_done_trim_is_understood) {
    struct journal *journal = make(RING, 4096, true);
    flood(journal, RING + 3000, 500);
    assert_int_equal(journal->header->saved_len, 3000);
    journal->header->saved_from = 1000;
    journal = succeed(journal);
    assert_int_equal(journal->header->saved_len, 2000);
    assert_int_equal(check_views(journal, 1000), RING + 2000);
    journal_free(journal);
}

TEST(random_readers) {
    unsigned seed = 42;
    struct journal *journal = make(RING, 4096, true);
    struct journal_reader *reader = journal_reader(journal, NULL, 16);
    for (int i = 0; i < 3000; i++) {
        flood(journal, (size_t)(rand_r(&seed) % 3000), (size_t)(1 + rand_r(&seed) % 900));
        uint64_t unread = journal_head(journal) - reader->cursor, got = check_views(journal, reader->cursor);
        assert_true(got == unread || (got >= RING && got < unread));
        if (rand_r(&seed) % 3 == 0)
            journal_reader_move(journal, reader, reader->cursor + (unsigned)rand_r(&seed) % (unread + 1));
        if (rand_r(&seed) % 50 == 0) {
            journal = succeed(journal);
            reader = journal_reader(journal, NULL, 16);
        }
    }
    journal_free(journal);
}

static void collect_is(const struct journal *journal, uint64_t from, uint64_t to, size_t cap, const char *text, uint64_t omitted,
                       size_t gap) {
    struct buf out = BUF_INIT;
    uint64_t missing = 99;
    size_t gap_at = 99;
    journal_collect(journal, from, to, cap, &out, &missing, &gap_at);
    assert_string_equal(out.data ? out.data : "", text);
    assert_int_equal(missing, omitted);
    assert_true(gap_at == gap);
    buf_fini(&out);
}

TEST(collect_as_codex) {
    struct journal *journal = make(RING, 4096, true);
    put(journal, "0123456789", false);
    collect_is(journal, 0, 10, 10, "0123456789", 0, SIZE_MAX);
    put(journal, "ab", false);
    collect_is(journal, 0, 12, 10, "01234789ab", 2, 5);
    journal_free(journal);

    journal = make(RING, 4096, true);
    put(journal, "01", false);
    put(journal, "234", false);
    put(journal, "567", false);
    put(journal, "89", false);
    collect_is(journal, 0, 10, 10, "0123456789", 0, SIZE_MAX);
    put(journal, "a", false);
    collect_is(journal, 0, 11, 10, "012346789a", 1, 5);
    journal_free(journal);

    journal = make(RING, 4096, true);
    put(journal, "0123456789", false);
    put(journal, "ABCDEFGHIJK", false);
    collect_is(journal, 0, 21, 10, "01234GHIJK", 11, 5);
    collect_is(journal, 0, 21, 0, "", 21, 0);
    collect_is(journal, 0, 3, 1, "2", 2, 0);
    collect_is(journal, 5, 5, 10, "", 0, SIZE_MAX);
    collect_is(journal, 20, 500, 10, "K", 0, SIZE_MAX);
    collect_is(journal, 500, 600, 10, "", 0, SIZE_MAX);
    journal_free(journal);
}

static void collect_checks(const struct journal *journal, uint64_t from, size_t cap, size_t head, size_t tail) {
    struct buf out = BUF_INIT;
    uint64_t missing, to = journal_head(journal);
    size_t gap;
    journal_collect(journal, from, to, cap, &out, &missing, &gap);
    assert_int_equal(out.len, head + tail);
    assert_int_equal(missing, to - from - out.len);
    assert_true(gap == (missing ? head : SIZE_MAX));
    for (size_t i = 0; i < head; i++)
        assert_int_equal(out.data[i], byte_at(from + i));
    for (size_t i = 0; i < tail; i++)
        assert_int_equal(out.data[head + i], byte_at(to - tail + i));
    buf_fini(&out);
}

TEST(collect_over_gaps) {
    struct journal *journal = make(RING, 4096, true);
    flood(journal, 20000, 700); /* saved: [0, 4096), ring: [11808, 20000) */
    collect_checks(journal, 0, 1 << 20, 4096, RING);       /* all that is there */
    collect_checks(journal, 0, 8192, 4096, 4096);          /* half and half */
    collect_checks(journal, 0, 10000, 4096, 5904);         /* what the head can't fill is the tail's */
    collect_checks(journal, 3096, 4000, 1000, 3000);
    collect_checks(journal, 5000, 1 << 20, 0, RING);       /* begins in the gap */
    collect_checks(journal, 5000, 1000, 0, 1000);
    collect_checks(journal, 12000, 8000, 8000, 0);         /* whole, from the ring only */
    struct buf out = BUF_INIT;
    uint64_t missing;
    size_t gap;
    journal_collect(journal, 1000, 6000, 1 << 20, &out, &missing, &gap); /* ends in the gap */
    assert_int_equal(out.len, 3096);
    assert_int_equal(missing, 1904);
    assert_int_equal(gap, 3096);
    buf_fini(&out);
    journal_free(journal);
}

static void append_run(void *arg, uint64_t from, uint64_t to, bool is_stderr) {
    buf_printf(arg, "%llu-%llu%c ", (unsigned long long)from, (unsigned long long)to, is_stderr ? 'e' : 'o');
}

static void streams_are(const struct journal *journal, uint64_t from, uint64_t to, const char *text) {
    struct buf out = BUF_INIT;
    journal_streams(journal, from, to, append_run, &out);
    assert_string_equal(out.data ? out.data : "", text);
    buf_fini(&out);
}

TEST(streams_are_told_apart) {
    struct journal *journal = make(RING, 0, false);
    put(journal, "out", false);
    streams_are(journal, 0, 3, "0-3o ");
    assert_null(journal->index); /* no page for who never writes to stderr */
    put(journal, "err", true);
    put(journal, "or", true);
    put(journal, "out", false);
    journal = succeed(journal);
    streams_are(journal, 0, 11, "0-3o 3-8e 8-11o ");
    streams_are(journal, 4, 9, "4-8e 8-9o ");
    streams_are(journal, 3, 8, "3-8e ");
    streams_are(journal, 8, 8, "");
    streams_are(journal, 9, 11, "9-11o ");
    /* A predecessor noted a run and died before its bytes came in: the next bytes decide. */
    journal->header->out_head = 8;
    put(journal, "ERR", true);
    streams_are(journal, 0, 11, "0-3o 3-11e ");
    journal_free(journal);
}

TEST(old_streams_are_forgotten) {
    struct journal *journal = make(RING, 0, false); /* the index has 512 places */
    for (int i = 0; i < 2000; i++)
        put(journal, "x", i % 2 == 0);
    streams_are(journal, 0, 10, "0-10o ");
    streams_are(journal, 1995, 2000, "1995-1996o 1996-1997e 1997-1998o 1998-1999e 1999-2000o ");
    streams_are(journal, 1486, 1492, "1486-1490o 1490-1491e 1491-1492o ");
    journal_free(journal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_wraps),
        cmocka_unit_test(little_output_costs_no_page),
        cmocka_unit_test(a_full_page_has_no_room_for_output),
        cmocka_unit_test(the_beginning_is_saved),
        cmocka_unit_test(the_window_moves_with_the_reader),
        cmocka_unit_test(nothing_is_saved_for_who_keeps_up),
        cmocka_unit_test(half_done_trim_is_understood),
        cmocka_unit_test(random_readers),
        cmocka_unit_test(collect_as_codex),
        cmocka_unit_test(collect_over_gaps),
        cmocka_unit_test(streams_are_told_apart),
        cmocka_unit_test(old_streams_are_forgotten),
    };
    return cmocka_run_group_tests_name("journal ring", tests, NULL, NULL);
}
