/* the file of the audit: whole lines, the mode, rotation, a disk without room; and a session's records */
#include "parts/audit/audit_open.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "tests/lib/test.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static struct audit_file file;
static const struct audit_file_caps caps = {.bytes = 100, .files = 2};

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/muxd-audit-XXXXXX");
    assert_non_null(mkdtemp(dir));
    audit_file_init(&file, dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    for (int i = 0; i < 9; i++) {
        char *path = i ? xasprintf("%s.%d", file.path, i) : xstrdup(file.path);
        unlink(path);
        rmdir(path);
        free(path);
    }
    audit_file_fini(&file);
    return rmdir(dir);
}

static int append(const char *line)
{
    return audit_file_append(&file, line, strlen(line), &caps);
}

/* The file with that number (0: the current one) has this text; NULL: there is none. */
static void check_text(int number, const char *want)
{
    char *path = number ? xasprintf("%s.%d", file.path, number) : xstrdup(file.path), text[4096] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (want) {
        assert_true(fd >= 0);
        assert_true(fd_read_all(fd, text, sizeof text - 1) >= 0);
        assert_string_equal(text, want);
    } else {
        assert_int_equal(fd, -1);
    }
    fd_close(&fd);
    free(path);
}

static void test_lines_and_mode(void **state)
{
    struct stat st;
    (void)state;
    assert_int_equal(append("{\"id\":\"1\"}\n"), 0);
    assert_int_equal(stat(file.path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(append("{\"id\":\"2\"}\n"), 0);
    check_text(0, "{\"id\":\"1\"}\n{\"id\":\"2\"}\n");
    assert_true(audit_file_has(&file, "{\"id\":\"2\""));
    assert_false(audit_file_has(&file, "\"id\":\"2\"")); /* it doesn't begin so */
    assert_false(audit_file_has(&file, "{\"id\":\"3\""));
    /* open to others: put right before anything is written */
    audit_file_fini(&file);
    audit_file_init(&file, dir);
    assert_int_equal(chmod(file.path, 0644), 0);
    assert_int_equal(append("{}\n"), 0);
    assert_int_equal(stat(file.path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void test_what_is_no_file(void **state)
{
    (void)state;
    assert_int_equal(mkdir(file.path, 0700), 0);
    assert_true(append("{}\n") < 0);
    assert_int_equal(rmdir(file.path), 0);
    assert_int_equal(symlink("/dev/null", file.path), 0);
    assert_int_equal(append("{}\n"), -ELOOP);
    assert_int_equal(unlink(file.path), 0);
    assert_int_equal(mkfifo(file.path, 0600), 0);
    assert_true(append("{}\n") < 0);
    assert_int_equal(unlink(file.path), 0);
    assert_int_equal(append("{}\n"), 0);
    assert_int_equal(unlink(file.path), 0); /* somebody removes it: a new one begins */
    assert_int_equal(append("{}\n"), 0);
    check_text(0, "{}\n");
}

static void test_rotation(void **state)
{
    char line[61];
    (void)state;
    memset(line, 'x', sizeof line - 2);
    strcpy(line + sizeof line - 2, "\n");
    for (char c = 'a'; c < 'e'; c++) {
        line[0] = c;
        assert_int_equal(append(line), 0);
    }
    char *path = xasprintf("%s.1", file.path);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    free(path);
    check_text(3, NULL); /* the oldest is gone */
    check_text(0, line);
    line[0] = 'c';
    check_text(1, line);
    assert_true(audit_file_has(&file, "cxxx")); /* also in the one that was put aside last */
    assert_true(file.aside_fd >= 0);
    line[0] = 'b';
    check_text(2, line);
    assert_false(audit_file_has(&file, "bxxx"));
    /* another daemon is in the middle of it: the line goes where there is a file */
    int other = open(file.path, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(other, LOCK_EX), 0);
    assert_int_equal(append("y\n"), 0);
    assert_int_equal(append(line), 0);
    assert_true(audit_file_has(&file, "dxxx") && audit_file_has(&file, "bxxx"));
    fd_close(&other);
    /* another daemon has put it aside */
    path = xasprintf("%s.1", file.path);
    assert_int_equal(rename(file.path, path), 0);
    free(path);
    assert_int_equal(append("z\n"), 0);
    check_text(0, "z\n");
    /* fewer are kept */
    const struct audit_file_caps fewer = {.bytes = 1, .files = 1};
    assert_int_equal(audit_file_append(&file, "w\n", 2, &fewer), 0);
    check_text(0, "w\n");
    check_text(1, "z\n");
    check_text(2, NULL);
}

static void test_no_room_for_all_of_a_line(void **state)
{
    struct rlimit old, small = {.rlim_cur = 15, .rlim_max = 0};
    (void)state;
    assert_int_equal(append("0123456789\n"), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int error = append("abcdefghij\n");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(error, -ENOSPC);
    check_text(0, "0123456789\n"); /* nothing of it is there */
    int fd = open(file.path, O_WRONLY | O_APPEND | O_CLOEXEC); /* somebody died in the middle */
    assert_int_equal(write(fd, "torn", 4), 4);
    fd_close(&fd);
    assert_int_equal(append("abc\n"), 0);
    check_text(0, "0123456789\ntorn\nabc\n");
}

static void test_found_across_blocks(void **state)
{
    (void)state;
    const struct audit_file_caps large = {.bytes = 1 << 20, .files = 1};
    char *line = xcalloc(1, 65600);
    for (size_t size = 65500; size < 65560; size += 7) { /* the wanted one lies on the border */
        memset(line, 'x', size);
        strcpy(line + size, "\n");
        assert_int_equal(audit_file_append(&file, line, size + 1, &large), 0);
        assert_int_equal(audit_file_append(&file, "{\"id\":\"77.end\"}\n", 16, &large), 0);
        assert_true(audit_file_has(&file, "{\"id\":\"77.end\""));
        assert_int_equal(truncate(file.path, 0), 0);
    }
    free(line);
}

static void note_open(void *arg, uint64_t session)
{
    char *text = arg;
    snprintf(text + strlen(text), 32, "%llu ", (unsigned long long)session);
}

static void test_begun_and_not_ended(void **state)
{
    static const char *const lines[] = {
        "{\"id\":\"7.begin\",\"daemon\":\"ab\"}\n", "{\"id\":\"8.begin\",\"daemon\":\"ab\"}\n",
        "{\"id\":\"9.begin\",\"daemon\":\"cd\"}\n", /* another daemon's */
        "{\"id\":\"7.end\",\"session\":7}\n", "{\"id\":\"5e.1.begin\",\"daemon\":\"ab\"}\n", /* a patch's */
        "{\"id\":\"10.begin\",\"command\":[\"\\\"daemon\\\":\\\"ab\\\"\"]}\n", "torn\n",
        "{\"id\":\"11.begin\",\"daemon\":\"ab\"}\n"};
    char found[256] = "";
    (void)state;
    audit_open_each(&file, "\"daemon\":\"ab\"", note_open, found);
    assert_string_equal(found, ""); /* there is no file */
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(append(lines[i]), 0); /* into several files */
    audit_open_each(&file, "\"daemon\":\"ab\"", note_open, found);
    assert_string_equal(found, "11 "); /* the older ones are in a file before the last two */
    *found = '\0';
    const struct audit_file_caps large = {.bytes = 1 << 20, .files = 1};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(audit_file_append(&file, lines[i], strlen(lines[i]), &large), 0);
    audit_open_each(&file, "\"daemon\":\"ab\"", note_open, found);
    assert_string_equal(found, "11 8 11 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lines_and_mode, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_what_is_no_file, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_rotation, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_no_room_for_all_of_a_line, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_begun_and_not_ended, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_found_across_blocks, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
