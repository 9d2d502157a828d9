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

static void note_open(void *arg, enum audit_open_kind kind, const char *id, const char *line)
{
    static const char *const words[] = {"begun", "asked", "yes"};
    char *text = arg;
    assert_true(line[0] == '{' && strstr(line, id) != NULL);
    snprintf(text + strlen(text), 64, "%s %s, ", words[kind], id);
}

#define OURS "\"daemon\":\"ab\""
#define ABOUT(id) ",\"approval\":\"" id "\"}\n"
#define LINE(id, record) "{\"id\":\"" id "\",\"time\":\"2026-01-01T00:00:00.000Z\",\"record\":\"" record "\","

static const struct audit_file_caps roomy = {.bytes = 1 << 20, .files = 2};

static void append_roomy(const char *line)
{
    assert_int_equal(audit_file_append(&file, line, strlen(line), &roomy), 0);
}

static void check_open(const char *wanted)
{
    char found[512] = "";
    audit_open_each(&file, OURS, note_open, found);
    assert_string_equal(found, wanted);
}

/* Each kind of a begin, each record that ends it, and what is open between any two of them. */
static void test_what_is_open_at_each_moment(void **state)
{
    static const struct {
        const char *line, *open;
    } table[] = {
        {LINE("7.begin", "allowed") OURS "}\n", "begun 7, "},
        {LINE("7.end", "ended") OURS "}\n", ""},
        {LINE("5e.1.0.begin", "allowed") OURS "}\n", "begun 5e.1.0, "}, /* a patch's */
        {LINE("5e.1.1", "refused") OURS "}\n", "begun 5e.1.0, "},
        {LINE("5e.1.0.end", "ended") OURS "}\n", ""},
        {LINE("1", "asked") OURS ABOUT("aaaaa"), "asked aaaaa, "},
        {LINE("2", "withdrawn") OURS ABOUT("aaaaa"), ""},
        {LINE("3", "asked") OURS ABOUT("bbbbb"), "asked bbbbb, "},
        {LINE("4", "denied") OURS ABOUT("bbbbb"), ""},
        {LINE("5", "asked") OURS ABOUT("ccccc"), "asked ccccc, "},
        {LINE("6", "asked") OURS ABOUT("ddddd"), "asked ccccc, asked ddddd, "},
        {LINE("7", "answered") OURS ABOUT("ccccc"), "asked ddddd, yes ccccc, "},
        {LINE("8.begin", "allowed") OURS ABOUT("ccccc"), "asked ddddd, begun 8, "},
        {LINE("8", "answered") OURS ABOUT("ddddd"), "begun 8, yes ddddd, "},
        {LINE("9", "failed") OURS ABOUT("ddddd"), "begun 8, "},
        {LINE("8.end", "ended") OURS "}\n", ""},
        {LINE("9", "asked") OURS ABOUT("eeeee"), "asked eeeee, "},
        {LINE("a", "answered") OURS ABOUT("eeeee"), "yes eeeee, "},
        {LINE("b", "refused") OURS ABOUT("eeeee"), ""},
        {LINE("9.begin", "allowed") "\"daemon\":\"cd\"}\n", ""}, /* another daemon's */
        {LINE("9.begin", "allowed") "\"command\":[\"\\\"daemon\\\":\\\"ab\\\"\"]}\n", ""},
        {LINE("9", "asked") OURS ",\"command\":[\",\\\"approval\\\":\\\"fffff\\\"\"]}\n", ""},
        {"torn\n", ""},
    };
    (void)state;
    check_open(""); /* there is no file */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        append_roomy(table[i].line);
        check_open(table[i].open);
    }
}

/* What was put aside and what is there now are read as one, as long as nothing lies between what is
 * read of the two. */
static void test_what_has_ended_in_a_gap_is_not_open(void **state)
{
    const size_t many = 300000;
    char *path = xasprintf("%s.1", file.path), *filler = xcalloc(1, many + 2);
    (void)state;
    append_roomy(LINE("7.begin", "allowed") OURS "}\n");
    append_roomy(LINE("8.begin", "allowed") OURS "}\n");
    assert_int_equal(rename(file.path, path), 0);
    append_roomy(LINE("7.end", "ended") OURS "}\n");
    check_open("begun 8, ");
    memset(filler, 'x', many);
    strcpy(filler + many, "\n");
    append_roomy(filler);
    append_roomy(LINE("9.begin", "allowed") OURS "}\n");
    check_open("begun 9, ");
    free(filler);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lines_and_mode, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_what_is_no_file, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_rotation, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_no_room_for_all_of_a_line, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_what_is_open_at_each_moment, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_what_has_ended_in_a_gap_is_not_open, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(test_found_across_blocks, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
