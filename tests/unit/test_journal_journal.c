/* Journals: making, taking over (also of damaged ones), readers, requests, input queue, and what they cost. */
#include "base/buf.h"
#include "journal/journal.h"
#include "tests/lib/test.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

static struct journal *make(size_t ring, size_t head, size_t input, bool tty) {
    struct journal *journal;
    struct err err;
    struct journal_make plan = {.number = 1000, .name = "py", .tty = tty, .rows = 24, .cols = 80, .ring_bytes = ring,
                                .head_bytes = head, .input_bytes = input, .cmd = "python3 -q", .cwd = "/srv", .declared = "python"};
    assert_int_equal(journal_new(&journal, &plan, &err), 0);
    return journal;
}

/* As after the death of a worker: the memfd is all that is left. */
static int die(struct journal *journal) {
    int fd = fcntl(journal->fd, F_DUPFD_CLOEXEC, 0);
    assert_true(fd >= 0);
    journal_free(journal);
    return fd;
}

static struct journal *succeed(struct journal *journal) {
    struct journal *next = NULL;
    struct err err;
    int fd = die(journal);
    assert_int_equal(journal_adopt(&next, fd, &err), 0);
    assert_int_equal(next->fd, fd);
    return next;
}

static long pages_of(int fd) {
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return (long)st.st_blocks * 512 / PAGE;
}

static void put(struct journal *journal, const char *text, bool from_stderr) {
    size_t size, left = strlen(text);
    while (left > 0) {
        char *space = journal_space(journal, left, &size);
        memcpy(space, text, size);
        journal_commit(journal, size, from_stderr);
        text += size;
        left -= size;
    }
}

TEST(new_is_sealed_and_small) {
    struct journal *journal = make(2 << 20, 512 << 10, 1 << 20, true);
    int seals = fcntl(journal->fd, F_GET_SEALS);
    assert_int_equal(seals & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    assert_int_equal(seals & F_SEAL_WRITE, 0);
    assert_int_equal(ftruncate(journal->fd, 0), -1);
    assert_true(fcntl(journal->fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(pages_of(journal->fd), 1);
    assert_true(journal_memory(journal) < 6000);
    assert_string_equal(journal_cmd(journal), "python3 -q");
    assert_string_equal(journal_cwd(journal), "/srv");
    assert_string_equal(journal_declared(journal), "python");
    assert_string_equal(journal->header->name, "py");
    assert_int_equal(journal->header->exit_code, -1);
    assert_true(journal->header->created_real_ms > 0);
    /* Looking at an unused journal touches nothing. */
    size_t size;
    uint64_t from = 0;
    assert_null(journal_view(journal, &from, &size));
    assert_null(journal_input_view(journal, &size));
    assert_int_equal(journal_input_free(journal), 1 << 20);
    journal = succeed(journal);
    assert_int_equal(pages_of(journal->fd), 1);
    journal_free(journal);
    journal_free(NULL);
}

static unsigned mappings(void) {
    unsigned lines = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    char line[4096];
    while (fgets(line, sizeof line, maps))
        lines += strstr(line, "muxd-journal") != NULL;
    fclose(maps);
    return lines;
}

TEST(many_are_cheap) {
    enum { COUNT = 100 };
    struct journal *all[COUNT];
    for (int i = 0; i < COUNT; i++)
        all[i] = make(2 << 20, 512 << 10, 1 << 20, false);
    assert_true(mappings() <= 2 * COUNT);
    for (int i = 0; i < COUNT; i++)
        journal_free(all[i]);
    assert_int_equal(mappings(), 0);
}

TEST(long_texts_are_cut) {
    char *cmd = malloc(100001);
    assert_non_null(cmd);
    for (int i = 0; i < 100000; i += 2)
        memcpy(cmd + i, "\xc3\xa9", 2);
    cmd[100000] = '\0';
    struct journal *journal;
    struct journal_make plan = {.number = 7, .name = "x", .tty = true, .ring_bytes = 1, .cmd = cmd, .cwd = "/tmp"};
    assert_int_equal(journal_new(&journal, &plan, NULL), 0);
    journal = succeed(journal);
    size_t size = strlen(journal_cmd(journal));
    assert_in_range(size, 65000, 65536);
    assert_int_equal((size - 3) % 2, 0);
    assert_string_equal(journal_cmd(journal) + size - 3, "...");
    assert_string_equal(journal_cwd(journal), "/tmp");
    assert_null(journal_declared(journal));
    journal_free(journal);
    free(cmd);
}

TEST(everything_survives) {
    struct journal *journal = make(64 << 10, 16 << 10, 16 << 10, false);
    put(journal, "hello ", false);
    put(journal, "oops", true);
    struct journal_reader *reader = journal_reader(journal, "bot", 16);
    journal_reader_move(journal, reader, 6);
    assert_true(journal_input_append(journal, "1+1\n", 4));
    journal_request_note(journal, journal_hash("r1"), 4);
    journal->header->pid = 4711;
    journal->header->state = SESSION_RUNNING;
    journal = succeed(journal);
    size_t size;
    uint64_t from = 0, end;
    const char *view = journal_view(journal, &from, &size);
    assert_int_equal(size, 10);
    assert_memory_equal(view, "hello oops", 10);
    assert_int_equal(journal_reader(journal, "bot", 16)->cursor, 6);
    assert_int_equal(journal_reader(journal, NULL, 16)->cursor, 0);
    view = journal_input_view(journal, &size);
    assert_int_equal(size, 4);
    assert_memory_equal(view, "1+1\n", 4);
    assert_true(journal_request_done(journal, journal_hash("r1"), &end));
    assert_int_equal(end, 4);
    assert_false(journal_request_done(journal, journal_hash("r2"), &end));
    assert_int_equal(journal->header->pid, 4711);
    assert_int_equal(journal->header->state, SESSION_RUNNING);
    journal_free(journal);
}

/* Writes a field into the memfd of a dead journal and tries to adopt it. */
static int adopt_damaged(struct journal **out, size_t at, const void *value, size_t size) {
    struct journal *journal = make(64 << 10, 16 << 10, 16 << 10, false);
    put(journal, "hello", false);
    int fd = die(journal);
    struct err err = {0};
    assert_int_equal(pwrite(fd, value, size, (off_t)at), (ssize_t)size);
    int rc = journal_adopt(out, fd, &err);
    if (rc != 0) {
        assert_int_equal(rc, ERR_SYSTEM);
        assert_non_null(strstr(err.text, "'journal' can't be taken over: "));
        assert_int_equal(close(fd), 0); /* still the caller's */
    }
    return rc;
}

#define FIELD(name) offsetof(struct journal_header, name)

TEST(damaged_ones_are_refused) {
    static const struct { size_t at; uint64_t value; size_t size; } broken[] = {
        {FIELD(magic), 1, 4}, {FIELD(major), 0, 2}, {FIELD(major), JOURNAL_MAJOR + 1, 2}, {FIELD(header_size), 4096, 8},
        {FIELD(ring_size), 128 << 10, 8}, {FIELD(ring_size), 0, 8}, {FIELD(ring_size), UINT64_MAX - 4095, 8}, {FIELD(ring_size), 65537, 8},
        {FIELD(head_size), 1 << 30, 8}, {FIELD(input_size), UINT64_C(1) << 63, 8}, {FIELD(index_size), 12345, 8},
        {FIELD(log_size), 4096, 8}, {FIELD(log_size), 1, 8}, {FIELD(log_at), 0, 8}, {FIELD(kept_size), 4096, 8},
        {FIELD(kept_size), UINT64_MAX - 4095, 8},
        {FIELD(ring_at), 0, 8}, {FIELD(head_at), 4096, 8}, {FIELD(input_at), UINT64_MAX, 8}, {FIELD(index_at), 0, 8},
        {FIELD(strings_at), 0, 8}, {FIELD(strings_size), 1, 8}, {FIELD(strings_size), UINT64_MAX, 8}, {FIELD(total_size), 4096, 8},
        {FIELD(number), 0, 8}, {FIELD(out_head), UINT64_MAX, 8}, {FIELD(out_tail), 6, 8},
        /* output that lies in the early area */
        {FIELD(out_head), 4096, 8}, {FIELD(strings_size), 1700, 8},
    };
    struct journal *journal;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        assert_true(adopt_damaged(&journal, broken[i].at, &broken[i].value, broken[i].size) != 0);
}

TEST(what_only_describes_is_salvaged) {
    struct journal *journal;
    char junk[4096];
    memset(junk, 'x', sizeof junk);
    assert_int_equal(adopt_damaged(&journal, FIELD(name), junk, JOURNAL_NAME_MAX + 1), 0);
    assert_string_equal(journal->header->name, "salvaged-1000");
    journal_free(journal);
    assert_int_equal(adopt_damaged(&journal, FIELD(name), "../x", 5), 0);
    assert_string_equal(journal->header->name, "salvaged-1000");
    journal_free(journal);
    assert_int_equal(adopt_damaged(&journal, sizeof(struct journal_header), junk, 20), 0);
    assert_string_equal(journal_cmd(journal), "");
    assert_string_equal(journal_cwd(journal), "");
    journal_free(journal);
    uint64_t huge = UINT64_MAX - 5;
    assert_int_equal(adopt_damaged(&journal, FIELD(readers[0].cursor), &huge, 8), 0);
    assert_int_equal(journal->header->readers[0].cursor, 5);
    journal_free(journal);
    assert_int_equal(adopt_damaged(&journal, FIELD(readers[3].name), junk, 32), 0);
    assert_int_equal(journal->header->readers[3].name[0], 0);
    journal_free(journal);
    assert_int_equal(adopt_damaged(&journal, FIELD(in_head), &huge, 8), 0);
    assert_int_equal(journal_input_free(journal), 16 << 10);
    journal_free(journal);
    assert_int_equal(adopt_damaged(&journal, FIELD(saved_len), &huge, 8), 0);
    assert_int_equal(journal->header->saved_len, 0);
    journal_free(journal);
    uint32_t state_word = 77;
    assert_int_equal(adopt_damaged(&journal, FIELD(state), &state_word, 4), 0);
    assert_int_equal(journal->header->state, SESSION_LOST);
    journal_free(journal);
}

TEST(strange_descriptors_are_refused) {
    struct journal *journal;
    struct err err;
    int ends[2], plain = memfd_create("plain", MFD_CLOEXEC), bare = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(journal_adopt(&journal, -1, &err), ERR_SYSTEM);
    assert_int_equal(journal_adopt(&journal, ends[0], &err), ERR_SYSTEM);
    assert_int_equal(journal_adopt(&journal, plain, &err), ERR_SYSTEM);
    assert_int_equal(ftruncate(bare, 100), 0);
    assert_int_equal(journal_adopt(&journal, bare, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, "not sealed"));
    assert_int_equal(fcntl(bare, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    assert_int_equal(journal_adopt(&journal, bare, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, "too short"));
    close(ends[0]);
    close(ends[1]);
    close(plain);
    close(bare);
}

TEST(readers_are_limited) {
    struct journal *journal = make(64 << 10, 0, 0, true);
    put(journal, "0123456789", false);
    assert_ptr_equal(journal_reader(journal, NULL, 3), journal_reader(journal, "", 3));
    struct journal_reader *a = journal_reader(journal, "a", 3);
    journal_reader_move(journal, a, 4);
    journal_reader_move(journal, journal_reader(journal, "b", 3), 99);
    assert_int_equal(journal_reader(journal, "b", 3)->cursor, 10); /* never beyond the end */
    assert_int_equal(journal_reader(journal, "a", 3)->cursor, 4);
    assert_int_equal(journal_reader(journal, "c", 3)->cursor, 0); /* takes the place of b, the least recently used */
    assert_int_equal(journal_reader(journal, "a", 3)->cursor, 4);
    assert_int_equal(journal_reader(journal, "b", 3)->cursor, 0);
    char name[300];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "reader-%d", i);
        journal_reader_move(journal, journal_reader(journal, name, 1000), 3);
    }
    assert_int_equal(journal_reader(journal, "reader-99", 1000)->cursor, 3);
    assert_int_equal(journal_reader(journal, NULL, 1000)->cursor, 0); /* the default one never goes */
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    journal_reader_move(journal, journal_reader(journal, name, 16), 5);
    name[200] = 'm';
    assert_int_equal(journal_reader(journal, name, 16)->cursor, 0);
    name[200] = 'n';
    assert_int_equal(journal_reader(journal, name, 16)->cursor, 5);
    journal_free(journal);
}

TEST(requests_are_remembered_when_done) {
    struct journal *journal = make(64 << 10, 0, 4096, true);
    uint64_t end = 0, hash = journal_hash("first");
    assert_true(hash != 0 && journal_hash("") != 0 && hash != journal_hash("second"));
    journal_request_note(journal, hash, 3);
    assert_false(journal_request_done(journal, hash, &end)); /* its bytes are not in yet */
    assert_true(journal_input_append(journal, "abc", 3));
    assert_true(journal_request_done(journal, hash, &end));
    assert_int_equal(end, 3);
    journal_request_note(journal, journal_hash("never came in"), 10);
    journal = succeed(journal);
    assert_true(journal_input_append(journal, "more than ten", 13));
    assert_false(journal_request_done(journal, journal_hash("never came in"), &end));
    for (int i = 0; i < JOURNAL_REQUESTS; i++)
        journal_request_note(journal, (uint64_t)i + 1, 16);
    assert_false(journal_request_done(journal, hash, &end)); /* forgotten at last */
    assert_true(journal_request_done(journal, JOURNAL_REQUESTS, NULL));
    journal_free(journal);
}

TEST(input_is_whole_or_not) {
    struct journal *journal = make(64 << 10, 0, 8192, true);
    char data[8192], expect = 'a';
    size_t size;
    memset(data, 'x', sizeof data);
    assert_false(journal_input_append(journal, data, 8193));
    assert_true(journal_input_append(journal, data, 8192));
    assert_false(journal_input_append(journal, data, 1));
    assert_int_equal(journal_input_free(journal), 0);
    journal_input_typed(journal, 5000, false);
    assert_true(journal_input_append(journal, "secret", 6));
    assert_non_null(journal_input_view(journal, &size)); /* contiguous over the end of the region */
    assert_int_equal(size, 8192 - 5000 + 6);
    journal_input_typed(journal, 8192 - 5000, false);
    const char *view = journal_input_view(journal, &size);
    assert_memory_equal(view, "secret", 6);
    journal_input_typed(journal, 3, true);
    assert_memory_equal(view, "\0\0\0ret", 6);
    assert_true(pages_of(journal->fd) > 1);
    journal_input_drop(journal);
    assert_int_equal(pages_of(journal->fd), 1); /* empty: the pages went back */
    assert_memory_equal(view, "\0\0\0\0\0\0", 6);
    assert_true(journal_input_append(journal, data, 5000));
    assert_true(pages_of(journal->fd) > 1);
    journal_input_typed(journal, 4000, false);
    journal_input_typed(journal, 1000, false);
    assert_int_equal(pages_of(journal->fd), 1);
    assert_true(journal_input_append(journal, data, 1)); /* a key keeps its page until all is quiet */
    journal_input_typed(journal, 1, false);
    assert_int_equal(pages_of(journal->fd), 2);
    journal_trim(journal);
    assert_int_equal(pages_of(journal->fd), 1);
    journal_trim(journal);
    for (int i = 0; i < 5000; i++) { /* around the region several times */
        memset(data, expect, 7);
        assert_true(journal_input_append(journal, data, 7));
        view = journal_input_view(journal, &size);
        assert_int_equal(size, 7);
        assert_memory_equal(view, data, 7);
        journal_input_typed(journal, 7, i % 2 == 0);
        assert_true(pages_of(journal->fd) <= 2);
        expect = expect == 'z' ? 'a' : (char)(expect + 1);
    }
    assert_int_equal(journal->header->in_head, 8198 + 5001 + 35000);
    journal_free(journal);
}

TEST(no_input_region) {
    struct journal *journal = make(64 << 10, 0, 0, false);
    assert_false(journal_input_append(journal, "x", 1));
    assert_true(journal_input_append(journal, "", 0));
    journal_input_drop(journal);
    journal_free(journal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_is_sealed_and_small),        cmocka_unit_test(many_are_cheap),
        cmocka_unit_test(long_texts_are_cut),             cmocka_unit_test(everything_survives),
        cmocka_unit_test(damaged_ones_are_refused),       cmocka_unit_test(what_only_describes_is_salvaged),
        cmocka_unit_test(strange_descriptors_are_refused), cmocka_unit_test(readers_are_limited),
        cmocka_unit_test(requests_are_remembered_when_done), cmocka_unit_test(input_is_whole_or_not),
        cmocka_unit_test(no_input_region),
    };
    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
