/* test_session_archive.c: the status of an ended session on disk: written, read back, and refused where it is not exactly right; and
 * output put back into a journal. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "parts/archive/archive_status.h"
#include "session/session.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char cmd[] = "printf 'a\n\\x41' # \x01\x7f\xff = ;", cwd[] = "/tmp/two words", none[] = "";
static const struct archive_status model = {
    .number = 1234, .state = SESSION_KILLED, .exit_code = 137, .signal = 9, .killed_by = KILLER_LIMIT + SESSION_MEMORY, .created_ms = 1700000000000,
    .ended_ms = 1700000001000, .read_ms = 0, .tty = 1, .rows = 24, .cols = 80, .output_from = 5000, .output_to = 9000, .saved_from = 100,
    .saved_size = 200, .read_to = 150, .name = "web", .described = none, .cwd = cwd, .cmd = cmd};

static char *text_of(const struct archive_status *status)
{
    struct buf out;
    buf_init(&out, ARCHIVE_STATUS_MAX);
    archive_status_print(status, &out);
    return buf_take(&out);
}

static void test_there_and_back(void **state)
{
    (void)state;
    struct archive_status read;
    char *text = text_of(&model);
    assert_non_null(strstr(text, "\nkilled_by = memory\n"));
    assert_null(archive_status_parse(&read, text));
    assert_memory_equal(&read, &model, offsetof(struct archive_status, name));
    assert_string_equal(read.name, "web");
    assert_string_equal(read.cmd, cmd);
    assert_string_equal(read.cwd, cwd);
    assert_string_equal(read.described, "");
    archive_status_fini(&read);
    free(text);
}

static void test_nobody_killed_and_unknown_codes(void **state)
{
    (void)state;
    struct archive_status read, lost = model;
    lost.state = SESSION_LOST;
    lost.exit_code = lost.signal = -1;
    lost.killed_by = 0;
    char *text = text_of(&lost);
    assert_null(archive_status_parse(&read, text));
    assert_int_equal(read.exit_code, -1);
    assert_int_equal(read.signal, -1);
    assert_int_equal(read.killed_by, 0);
    archive_status_fini(&read);
    free(text);
}

/* Nothing that was cut is taken, wherever the cut is. */
static void test_every_cut_is_refused(void **state)
{
    (void)state;
    char *whole = text_of(&model);
    size_t size = strlen(whole);
    for (size_t cut = 0; cut < size; cut++) {
        struct archive_status read;
        char *text = strndup(whole, cut);
        assert_non_null(archive_status_parse(&read, text));
        assert_null(read.cmd);
        free(text);
    }
    free(whole);
}

/* Any one byte changed to any of these: refused, or read as something that is within all bounds. */
static void test_every_changed_byte_keeps_the_bounds(void **state)
{
    (void)state;
    static const char others[] = {'9', '-', ' ', '=', '\n', '\\', 'x', '\xff', '.', '/'};
    char *whole = text_of(&model);
    for (size_t at = 0; whole[at]; at++)
        for (size_t i = 0; i < sizeof others; i++) {
            struct archive_status read;
            char *text = strdup(whole);
            text[at] = others[i];
            if (!archive_status_parse(&read, text)) {
                assert_in_range(read.number, 1000, INT64_MAX / 4);
                assert_in_range(read.state, SESSION_EXITED, SESSION_LOST);
                assert_true(read.saved_from + read.saved_size <= read.output_from && read.output_from <= read.output_to);
                assert_true(read.read_to <= read.output_to && read.saved_size >= 0 && read.saved_from >= 0);
                assert_null(strchr(read.name, '/'));
                archive_status_fini(&read);
            }
            free(text);
        }
    free(whole);
}

static int output_file(const char *data, size_t size)
{
    int fd = memfd_create("output", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    return fd;
}

static struct journal *long_ago(uint64_t saved_from, uint64_t saved_size, uint64_t from, uint64_t to)
{
    struct journal *journal;
    struct err err;
    struct journal_make make = {.number = 1234, .name = "web", .ring_bytes = (size_t)(to - from), .head_bytes = (size_t)saved_size, .cmd = cmd, .cwd = cwd};
    assert_int_equal(journal_new(&journal, &make, &err), 0);
    journal_restore(journal, saved_from, saved_size, from, to);
    return journal;
}

/* Offsets at which both regions wrap. */
static void test_output_comes_back_under_its_offsets(void **state)
{
    (void)state;
    enum { SAVED = 9000, RING = 50000 };
    const uint64_t saved_from = 4000, from = 100003, to = from + RING;
    char data[SAVED + RING];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7 % 251);
    int fd = output_file(data, sizeof data);
    struct journal *journal = long_ago(saved_from, SAVED, from, to);
    assert_int_equal(journal_put_back(journal, fd, 0, saved_from, SAVED, true), 0);
    assert_int_equal(journal_put_back(journal, fd, SAVED, from, RING, false), 0);
    struct buf out = BUF_INIT;
    uint64_t omitted;
    size_t gap_at;
    journal_collect(journal, saved_from, to, SAVED + RING, &out, &omitted, &gap_at);
    assert_int_equal(omitted, from - saved_from - SAVED);
    assert_int_equal(gap_at, SAVED);
    assert_int_equal(out.len, sizeof data);
    assert_memory_equal(out.data, data, sizeof data);
    buf_fini(&out);
    journal_free(journal);
    close(fd);
}

static unsigned fetches;
static struct journal *fetched;

static void fetch(struct journal_source *source)
{
    source->pending = false;
    fetches++;
    int fd = output_file("fine\n", 5);
    assert_int_equal(journal_put_back(fetched, fd, 0, 10, 5, false), 0);
    close(fd);
}

static void test_output_is_fetched_when_it_is_looked_at(void **state)
{
    (void)state;
    struct journal_source source = {.pending = true, .fetch = fetch};
    uint64_t from = 0;
    size_t size;
    fetched = long_ago(0, 0, 10, 15);
    fetched->source = &source;
    for (int i = 0; i < 2; i++) {
        const char *data = journal_view(fetched, &from, &size);
        assert_int_equal(from, 10);
        assert_int_equal(size, 5);
        assert_memory_equal(data, "fine\n", 5);
    }
    assert_int_equal(fetches, 1);
    journal_free(fetched);
}

static void test_too_short_file_and_lost_output(void **state)
{
    (void)state;
    int fd = output_file("fi", 2);
    struct journal *journal = long_ago(0, 0, 10, 15);
    assert_true(journal_put_back(journal, fd, 0, 10, 5, false) < 0);
    journal_lose(journal);
    uint64_t from = 10;
    size_t size;
    assert_null(journal_view(journal, &from, &size));
    assert_int_equal(from, 15);
    journal_free(journal);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_nobody_killed_and_unknown_codes),
        cmocka_unit_test(test_every_cut_is_refused),
        cmocka_unit_test(test_every_changed_byte_keeps_the_bounds),
        cmocka_unit_test(test_output_comes_back_under_its_offsets),
        cmocka_unit_test(test_output_is_fetched_when_it_is_looked_at),
        cmocka_unit_test(test_too_short_file_and_lost_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
