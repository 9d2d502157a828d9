/* The two streams of a one-shot command: their shares, and what is left of each. */
#include "base/mem.h"
#include "cmd/oneshot.h"
#include "tests/lib/test.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_shares(uint64_t out, uint64_t err, uint64_t cap, uint64_t out_want, uint64_t err_want)
{
    uint64_t out_share, err_share;
    oneshot_shares(out, err, cap, &out_share, &err_share);
    assert_int_equal(out_share, out_want);
    assert_int_equal(err_share, err_want);
}

TEST(test_shares)
{
    expect_shares(0, 0, 9, 0, 0);
    expect_shares(4, 5, 9, 4, 5);
    expect_shares(100, 100, 9, 3, 6);
    expect_shares(100, 1, 9, 8, 1);
    expect_shares(1, 100, 9, 1, 8);
    expect_shares(100, 0, 9, 9, 0);
    expect_shares(0, 100, 9, 0, 9);
    expect_shares(100, 5, 9, 4, 5);
}

static struct journal *journal_sized(size_t ring, size_t kept)
{
    struct journal *journal;
    struct err err;
    struct journal_make make = {.number = 1000, .name = "t", .ring_bytes = ring, .head_bytes = 512u << 10, .kept_bytes = kept, .cmd = "t", .cwd = "/"};
    assert_int_equal(journal_new(&journal, &make, &err), 0);
    return journal;
}

static struct journal *journal_of(void)
{
    return journal_sized(4u << 20, ONESHOT_KEPT);
}

/* What another worker makes of it. */
static struct journal *succeed(struct journal *journal)
{
    struct journal *next = NULL;
    int fd = fcntl(journal->fd, F_DUPFD_CLOEXEC, 0);
    journal_free(journal);
    assert_int_equal(journal_adopt(&next, fd, NULL), 0);
    return next;
}

static void put(struct journal *journal, const char *data, size_t size, bool from_stderr)
{
    while (size > 0) {
        size_t room;
        char *at = journal_space(journal, size, &room);
        room = room < size ? room : size;
        memcpy(at, data, room);
        journal_commit(journal, room, from_stderr);
        data += room;
        size -= room;
    }
}

TEST(test_streams_apart)
{
    struct journal *journal = journal_of();
    struct buf text = BUF_INIT;
    put(journal, "a\n", 2, false);
    put(journal, "E\xff\n", 3, true);
    put(journal, "b\n", 2, false);
    assert_int_equal(oneshot_collect(journal, journal_head(journal), &text), 0);
    assert_string_equal(text.data, "a\nb\nE\xC3\xBF\n"); /* nothing in it is UTF-8: windows-1252 */
    buf_clear(&text);
    assert_int_equal(oneshot_collect(journal, 0, &text), 0);
    assert_int_equal(text.len, 0);
    buf_fini(&text);
    journal_free(journal);
}

/* Both ends of each stream stay, and all that does not is counted. */
TEST(test_too_much)
{
    struct journal *journal = journal_of();
    struct buf text = BUF_INIT;
    size_t size = 1u << 20;
    char *block = xmalloc(size);
    memset(block, 'o', size);
    memcpy(block, "first", 5);
    memcpy(block + size - 4, "last", 4);
    put(journal, block, size, false);
    memset(block, 'e', size);
    put(journal, block, size, true);
    assert_int_equal(oneshot_collect(journal, journal_head(journal), &text), size);
    assert_memory_equal(text.data, "first", 5);
    assert_non_null(strstr(text.data, "olaste"));
    assert_non_null(strstr(text.data, "\n... 699051 bytes omitted ...\n"));
    assert_non_null(strstr(text.data, "\n... 349525 bytes omitted ...\n"));
    free(block);
    buf_fini(&text);
    journal_free(journal);
}

/* What oneshot_collect must give of a stream: the model beside the journal. */
struct stream {
    char *bytes;
    size_t size;
};

static void expect_stream(const char **at, const char *end, const struct stream *stream, uint64_t share)
{
    char line[64] = "";
    if (stream->size == 0)
        return;
    size_t head = stream->size <= share ? stream->size : share / 2, tail = stream->size <= share ? 0 : share - share / 2;
    if (tail)
        snprintf(line, sizeof line, "\n... %zu bytes omitted ...\n", stream->size - head - tail);
    assert_true((size_t)(end - *at) >= head + strlen(line) + tail);
    assert_memory_equal(*at, stream->bytes, head);
    assert_memory_equal(*at + head, line, strlen(line));
    assert_memory_equal(*at + head + strlen(line), stream->bytes + stream->size - tail, tail);
    *at += head + strlen(line) + tail;
}

static void expect_both(const struct journal *journal, const struct stream streams[2])
{
    struct buf text = BUF_INIT;
    uint64_t shares[2];
    oneshot_shares(streams[0].size, streams[1].size, ONESHOT_CAP, &shares[0], &shares[1]);
    uint64_t missing = oneshot_collect(journal, journal_head(journal), &text);
    assert_int_equal(missing, streams[0].size + streams[1].size - shares[0] - shares[1]);
    const char *at = text.data, *end = text.data + text.len;
    expect_stream(&at, end, &streams[0], shares[0]);
    expect_stream(&at, end, &streams[1], shares[1]);
    assert_ptr_equal(at, end);
    buf_fini(&text);
}

static void put_pattern(struct journal *journal, struct stream streams[2], size_t size, bool from_stderr)
{
    struct stream *stream = &streams[from_stderr];
    stream->bytes = xrealloc(stream->bytes, stream->size + size);
    for (size_t i = stream->size; i < stream->size + size; i++)
        stream->bytes[i] = (char)(33 + (i * 131 + i / 251 + (from_stderr ? 7 : 0)) % 90);
    put(journal, stream->bytes + stream->size, size, from_stderr);
    stream->size += size;
}

/* Sizes of runs that follow each other, standard output first; 0 ends a row. */
static const size_t orders[][8] = {
    {9u << 20, 2, 9u << 20}, {2, 9u << 20}, {9u << 20, 9u << 20}, {1, 9u << 20, 1}, {5, 5, 9u << 20, 5, 9u << 20, 9u << 20},
    {600u << 10, 600u << 10, 600u << 10, 600u << 10, 600u << 10, 600u << 10}, {3u << 20, 1u << 20, 3u << 20, 1u << 20},
    {512u << 10, 512u << 10, 4u << 20}, {1u << 20, 7, 4u << 20, (1u << 20) - 7}, {(1u << 20) + 1, 8192, 8192},
};

/* Each stream keeps its beginning and its end whatever the sizes and the order, with a small ring and with a large one, and across
 * workers. */
TEST(test_both_ends_of_both_streams)
{
    for (size_t row = 0; row < 2 * sizeof orders / sizeof *orders; row++) {
        const size_t *order = orders[row / 2];
        struct stream streams[2] = {{0}, {0}};
        struct journal *journal = journal_sized(row % 2 ? 64u << 10 : 2u << 20, ONESHOT_KEPT);
        for (size_t i = 0; i < 8 && order[i] > 0; i++) {
            put_pattern(journal, streams, order[i], i % 2);
            expect_both(journal, streams);
            journal = succeed(journal);
            expect_both(journal, streams);
        }
        free(streams[0].bytes);
        free(streams[1].bytes);
        journal_free(journal);
    }
}

/* So many changes of the stream that the index forgets the first of them: they still count for the right stream. */
TEST(test_short_runs)
{
    struct stream streams[2] = {{0}, {0}};
    struct journal *journal = journal_sized(64u << 10, ONESHOT_KEPT);
    for (size_t i = 0; i < 9000; i++)
        put_pattern(journal, streams, i % 700 == 3 ? 3000 : 1, i % 2);
    expect_both(journal, streams);
    journal = succeed(journal);
    put_pattern(journal, streams, 1, true);
    expect_both(journal, streams);
    free(streams[0].bytes);
    free(streams[1].bytes);
    journal_free(journal);
}

/* A worker that dies in the middle of a copy has overwritten bytes beyond those that are read; its successor copies again. */
TEST(test_cut_off_copy)
{
    struct stream streams[2] = {{0}, {0}};
    struct journal *journal = journal_sized(64u << 10, ONESHOT_KEPT);
    put_pattern(journal, streams, 3, true);
    put_pattern(journal, streams, 5u << 20, false);
    uint64_t kept = journal_kept_count(journal, false), ring = ONESHOT_KEPT + (64u << 10);
    assert_true(kept > 4u << 20);
    for (uint64_t i = 0; i < 64u << 10; i++)
        journal->kept[ONESHOT_KEPT + (kept + i) % ring] = '?';
    expect_both(journal, streams);
    journal = succeed(journal);
    expect_both(journal, streams);
    put_pattern(journal, streams, 200u << 10, false);
    put_pattern(journal, streams, 200u << 10, true);
    expect_both(journal, streams);
    free(streams[0].bytes);
    free(streams[1].bytes);
    journal_free(journal);
}

/* A worker of an older release has let the ring go in between: what is left of the streams is had as before. */
TEST(test_an_older_worker_between)
{
    struct journal *journal = journal_sized(64u << 10, ONESHOT_KEPT);
    struct buf text = BUF_INIT;
    char *block = xcalloc(1, 100u << 10);
    put(journal, memset(block, 'o', 100u << 10), 100u << 10, false);
    journal->header->out_head += 100u << 10;
    journal->header->out_tail += 100u << 10;
    journal = succeed(journal);
    assert_int_equal(journal->header->kept_size, 0);
    put(journal, block, 100u << 10, true);
    assert_true(oneshot_collect(journal, journal_head(journal), &text) > 0);
    assert_int_equal(journal_input_free(journal), journal->header->input_size);
    buf_fini(&text);
    free(block);
    journal_free(journal);
}

/* Little output costs no page of the areas, much a bounded number. */
TEST(test_memory_of_the_ends)
{
    struct stream streams[2] = {{0}, {0}};
    struct journal *journal = journal_of();
    put_pattern(journal, streams, 3u << 20, false);
    put_pattern(journal, streams, 1u << 20, true);
    assert_int_equal(journal_kept_end(journal), 0);
    assert_null(journal->kept);
    assert_int_equal(journal_input_free(journal), 0);
    put_pattern(journal, streams, 30u << 20, false);
    assert_true(journal_memory(journal) < (4u << 20) + (512u << 10) + (2304u << 10));
    free(streams[0].bytes);
    free(streams[1].bytes);
    journal_free(journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_streams_apart),
        cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_both_ends_of_both_streams),
        cmocka_unit_test(test_short_runs),
        cmocka_unit_test(test_cut_off_copy),
        cmocka_unit_test(test_an_older_worker_between),
        cmocka_unit_test(test_memory_of_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
