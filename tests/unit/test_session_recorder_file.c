/* The disk's side of a recording: parts, the note, and what a worker leaves to the next. */
#include "parts/record/recorder_file.h"
#include "parts/record/recorder_tidy.h"
#include "tests/lib/test.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char state_dir[] = "/tmp/muxd-recorder-XXXXXX";

static int make_state_dir(void **state)
{
    char dir[128];
    (void)state;
    if (!mkdtemp(state_dir))
        return -1;
    snprintf(dir, sizeof dir, "%s/%s", state_dir, RECORDER_DIR);
    return mkdir(dir, 0700);
}

static int remove_state_dir(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", state_dir);
    return system(command);
}

static void run(struct recorder_file *file, const char *data, bool begin, bool end, struct err *err)
{
    struct recorder_job job = {.file = file, .data = (char *)(uintptr_t)data, .size = strlen(data), .begin = begin, .end = end,
                               .name = "sh", .parts_kept = 8, .total_max = UINT64_MAX, .place = {.offset = 7, .rows = 24, .cols = 80}};
    recorder_job_run(&job);
    *err = job.err;
}

static void assert_holds(const char *path, const char *data)
{
    char text[256];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    assert_true(n >= 0);
    text[n] = '\0';
    assert_string_equal(text, data);
}

TEST(test_a_successor_goes_on_where_the_note_says)
{
    struct err err;
    struct recorder_file *file = recorder_file_new(state_dir, 1000, NULL, 3, false);
    run(file, "one\n", true, false, &err);
    assert_int_equal(err.code, 0);
    char path[RECORDER_PATH_MAX];
    recorder_file_part(&file->note, 1, path);
    assert_holds(path, "one\n");
    assert_int_equal(pwrite(file->fd, "half a li", 9, 4), 9); /* died before it was noted */
    recorder_file_free(file);

    file = recorder_file_find(state_dir, 1000);
    assert_non_null(file);
    assert_int_equal(file->note.place.offset, 7);
    assert_int_equal(file->note.place.size, 4);
    run(file, "two\n", false, true, &err);
    assert_int_equal(err.code, 0);
    assert_holds(path, "one\ntwo\n");
    recorder_file_free(file);
    assert_null(recorder_file_find(state_dir, 1000)); /* ended: its note is gone */
}

TEST(test_a_name_that_is_taken_is_not_written_to)
{
    struct err err;
    char path[128];
    snprintf(path, sizeof path, "%s/given.cast", state_dir);
    struct recorder_file *file = recorder_file_new(state_dir, 1001, path, 3, false);
    run(file, "mine\n", true, true, &err);
    assert_int_equal(err.code, 0);
    recorder_file_free(file);
    file = recorder_file_new(state_dir, 1002, path, 3, false);
    run(file, "other\n", true, false, &err);
    assert_int_equal(err.code, ERR_SYSTEM);
    assert_non_null(strstr(err.text, "exists already"));
    assert_holds(path, "mine\n");
    recorder_file_free(file);
}

TEST(test_a_note_that_another_worker_holds_stays_whole)
{
    struct err err;
    char path[128];
    snprintf(path, sizeof path, "%s/%s/.1003%s", state_dir, RECORDER_DIR, RECORDER_NOTE_EXTENSION);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "another worker's", 16), 16);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    struct recorder_file *file = recorder_file_new(state_dir, 1003, NULL, 3, false);
    run(file, "one\n", true, false, &err);
    assert_int_equal(err.code, ERR_SYSTEM);
    assert_holds(path, "another worker's");
    recorder_file_free(file);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_successor_goes_on_where_the_note_says),
        cmocka_unit_test(test_a_name_that_is_taken_is_not_written_to),
        cmocka_unit_test(test_a_note_that_another_worker_holds_stays_whole),
    };
    return cmocka_run_group_tests(tests, make_state_dir, remove_state_dir);
}
