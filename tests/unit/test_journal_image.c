/* A journal as a file: what comes back, what does not, and what is no image. */
#include "base/buf.h"
#include "base/fdio.h"
#include "journal/inputlog.h"
#include "journal/journal_image.h"
#include "tests/lib/test.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define RING 65536

static struct journal *make(bool tty)
{
    struct journal *journal;
    struct journal_make plan = {.number = 1234, .name = "web", .tty = tty, .rows = 24, .cols = 80, .ring_bytes = RING,
                                .head_bytes = 16384, .input_bytes = 4096, .log_bytes = 4096, .cmd = "make all",
                                .cwd = "/srv/web", .declared = "web"};
    assert_int_equal(journal_new(&journal, &plan, NULL), 0);
    return journal;
}

static char byte_at(uint64_t offset)
{
    return (char)(offset * 131 + offset / 251);
}

static void flood(struct journal *journal, size_t size)
{
    while (size > 0) {
        size_t room;
        char *space = journal_space(journal, size < 1000 ? size : 1000, &room);
        for (size_t i = 0; i < room; i++)
            space[i] = byte_at(journal_head(journal) + i);
        journal_commit(journal, room, journal_head(journal) / 1000 % 2 == 1);
        size -= room;
    }
}

static int image_of(const struct journal *journal)
{
    struct journal_image image;
    int fd = memfd_create("image", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(journal_image_take(&image, journal), 0);
    assert_int_equal(journal_image_write(&image, fd), 0);
    journal_image_drop(&image);
    journal_image_drop(&image);
    return fd;
}

static struct journal *back(int fd)
{
    struct journal *journal;
    struct err err;
    assert_int_equal(journal_image_adopt(&journal, fd, &err), 0);
    return journal;
}

/* What a reader gets of both from the beginning is the same. */
static void assert_same_output(const struct journal *a, const struct journal *b)
{
    struct buf one = BUF_INIT, other = BUF_INIT;
    uint64_t omitted[2];
    size_t gap_at[2];
    journal_collect(a, 0, journal_head(a), RING * 2, &one, &omitted[0], &gap_at[0]);
    journal_collect(b, 0, journal_head(b), RING * 2, &other, &omitted[1], &gap_at[1]);
    assert_int_equal(one.len, other.len);
    assert_memory_equal(one.data, other.data, one.len);
    assert_int_equal(omitted[0], omitted[1]);
    assert_int_equal(gap_at[0], gap_at[1]);
    buf_fini(&one);
    buf_fini(&other);
}

static void count_errors(void *arg, uint64_t from, uint64_t to, bool is_stderr)
{
    *(uint64_t *)arg += is_stderr ? to - from : 0;
}

/* Few bytes, which lie beside the header; some; and so many that ring and head area have wrapped. */
TEST(output_comes_back)
{
    static const size_t sizes[] = {0, 100, 5000, RING * 3 + 777};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct journal *journal = make(false);
        flood(journal, sizes[i]);
        int fd = image_of(journal);
        struct journal *again = back(fd);
        assert_int_equal(journal_image_fetch(again, fd), 0);
        assert_int_equal(journal_head(again), sizes[i]);
        assert_same_output(journal, again);
        uint64_t errors[2] = {0, 0};
        journal_streams(journal, journal_tail(journal), sizes[i], count_errors, &errors[0]);
        journal_streams(again, journal_tail(again), sizes[i], count_errors, &errors[1]);
        assert_int_equal(errors[0], errors[1]);
        assert_string_equal(journal_cmd(again), "make all");
        assert_string_equal(journal_declared(again), "web");
        assert_string_equal(again->header->name, "web");
        journal_free(journal);
        journal_free(again);
        close(fd);
    }
}

static bool holds(int fd, const char *text)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    char *all = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(all, MAP_FAILED);
    bool found = memmem(all, (size_t)st.st_size, text, strlen(text)) != NULL;
    munmap(all, (size_t)st.st_size);
    return found;
}

TEST(what_was_typed_stays_away)
{
    struct journal *journal = make(true);
    const struct author author = {.who = INPUT_BY_PERSON, .client = "ue"};
    const struct input input = {.data = "hunter2", .size = 7, .author = &author};
    inputlog_note(journal, &input, 0);
    assert_true(journal_input_append(journal, "hunter2", 7));
    flood(journal, 5000);
    assert_true(holds(journal->fd, "hunter2"));
    int fd = image_of(journal);
    assert_false(holds(fd, "hunter2"));
    struct journal *again = back(fd);
    size_t size;
    assert_null(journal_input_view(again, &size));
    assert_int_equal(inputlog_last(again), 0);
    journal_free(journal);
    journal_free(again);
    close(fd);
}

TEST(holes_stay_holes)
{
    struct journal *journal = make(true);
    flood(journal, 5000);
    int fd = image_of(journal);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_true(st.st_size > RING && st.st_blocks * 512 <= 5 * 4096);
    journal_free(journal);
    close(fd);
}

TEST(overwritten_meanwhile)
{
    struct journal *journal = make(true);
    struct journal_image image;
    flood(journal, RING);
    assert_int_equal(journal_image_take(&image, journal), 0);
    flood(journal, 1000);
    int fd = memfd_create("image", MFD_CLOEXEC);
    assert_int_equal(journal_image_write(&image, fd), -EAGAIN);
    journal_image_drop(&image);
    journal_free(journal);
    close(fd);
}

TEST(end_is_noted)
{
    struct journal *journal = make(true);
    flood(journal, 5000);
    int fd = image_of(journal);
    journal_reader_move(journal, journal_reader(journal, "bot", 16), 4000);
    atomic_store(&journal->header->end_read_real_ms, 1234567);
    flood(journal, 10); /* not in the image, and stays out of it */
    assert_int_equal(journal_image_note(journal->header, fd), 0);
    struct journal *again = back(fd);
    assert_int_equal(journal_head(again), 5000);
    assert_int_equal(again->header->end_read_real_ms, 1234567);
    assert_int_equal(journal_reader(again, "bot", 16)->cursor, 4000);
    journal_free(journal);
    journal_free(again);
    close(fd);
}

TEST(another_file_is_refused)
{
    struct journal *journal = make(true), *other;
    struct err err;
    flood(journal, 5000);
    int fd = image_of(journal);
    struct journal *again = back(fd);
    flood(journal, 5000);
    int longer = image_of(journal);
    assert_int_equal(journal_image_fetch(again, longer), -ESTALE);
    assert_int_equal(ftruncate(longer, RING), 0);
    assert_int_equal(journal_image_fetch(again, longer), -ESTALE);
    assert_int_equal(journal_image_adopt(&other, longer, &err), ERR_SYSTEM);
    static const struct { size_t at; uint64_t value; size_t size; } broken[] = {
        {offsetof(struct journal_header, magic), 1, 4},
        {offsetof(struct journal_header, major), JOURNAL_MAJOR + 1, 2},
        {offsetof(struct journal_header, ring_at), UINT64_C(1) << 40, 8},
        {offsetof(struct journal_header, ring_at), 0, 8},
        {offsetof(struct journal_header, ring_size), UINT64_MAX - 4095, 8},
        {offsetof(struct journal_header, total_size), 4096, 8},
        {offsetof(struct journal_header, out_head), UINT64_MAX, 8},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        int bad = image_of(journal);
        assert_int_equal(pwrite(bad, &broken[i].value, broken[i].size, (off_t)broken[i].at), broken[i].size);
        assert_int_equal(journal_image_adopt(&other, bad, &err), ERR_SYSTEM);
        close(bad);
    }
    journal_free(journal);
    journal_free(again);
    close(fd);
    close(longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_comes_back),     cmocka_unit_test(what_was_typed_stays_away),
        cmocka_unit_test(holes_stay_holes),      cmocka_unit_test(overwritten_meanwhile),
        cmocka_unit_test(end_is_noted),          cmocka_unit_test(another_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
