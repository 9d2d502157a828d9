/* Transfers between descriptors and journals, and what a successor makes of each moment at which one can be cut off. */
#include "journal/journal.h"
#include "journal/transfer.h"
#include "journal/transfer_state.h"
#include "tests/lib/test.h"
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

static struct transfer *transfer;
static struct journal *journal;

static struct journal *make(uint64_t number, bool tty) {
    struct journal *made;
    struct journal_make plan = {.number = number, .name = "s", .tty = tty, .ring_bytes = 1 << 20, .head_bytes = 4096,
                                .input_bytes = 1 << 20, .cmd = "", .cwd = ""};
    assert_int_equal(journal_new(&made, &plan, NULL), 0);
    return made;
}

static int set_up(void **state) {
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(transfer_new(&transfer, NULL), 0);
    journal = make(1000, false);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    transfer_free(transfer);
    journal_free(journal);
    return 0;
}

static void open_pipe(int ends[2]) {
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
}

static void close_both(const int ends[2]) {
    close(ends[0]);
    close(ends[1]);
}

static void open_raw_pty(int ends[2]) {
    struct termios raw;
    assert_int_equal(openpty(&ends[0], &ends[1], NULL, NULL, NULL), 0);
    assert_int_equal(tcgetattr(ends[1], &raw), 0);
    cfmakeraw(&raw);
    assert_int_equal(tcsetattr(ends[1], TCSANOW, &raw), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(fcntl(ends[i], F_SETFL, O_NONBLOCK), 0);
    journal->header->tty = 1;
}

static void output_is(const char *text) {
    uint64_t from = 0;
    size_t size;
    const char *view = journal_view(journal, &from, &size);
    assert_int_equal(size, strlen(text));
    if (size)
        assert_memory_equal(view, text, size);
}

static struct journal *find(void *arg, uint64_t number) {
    (void)arg;
    return number == journal->header->number ? journal : NULL;
}

/* The worker dies; its successor has the descriptors and the journals. */
static void succeed(void) {
    int fds[TRANSFER_FDS], copies[TRANSFER_FDS];
    transfer_fds(transfer, fds);
    for (int i = 0; i < TRANSFER_FDS; i++)
        copies[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);
    transfer_free(transfer);
    assert_int_equal(transfer_adopt(&transfer, copies, NULL), 0);
    transfer_repair(transfer, find, NULL);
    assert_int_equal(transfer->state->out_session, 0);
    assert_int_equal(transfer->state->in_phase, TRANSFER_IDLE);
    char byte;
    assert_int_equal(read(transfer->fds[TRANSFER_OUT_R], &byte, 1), -1);
    assert_int_equal(read(transfer->fds[TRANSFER_IN_R], &byte, 1), -1);
}

TEST(in_from_a_pipe) {
    int ends[2];
    open_pipe(ends);
    assert_int_equal(transfer_in(transfer, journal, ends[0], 65536, false), -EAGAIN);
    assert_int_equal(write(ends[1], "hello", 5), 5);
    assert_int_equal(transfer_in(transfer, journal, ends[0], 3, false), 3);
    assert_int_equal(transfer_in(transfer, journal, ends[0], 65536, true), 2);
    output_is("hello");
    char block[60000];
    memset(block, 'x', sizeof block);
    assert_int_equal(write(ends[1], block, sizeof block), sizeof block);
    assert_int_equal(transfer_in(transfer, journal, ends[0], 1 << 20, false), sizeof block);
    close(ends[1]);
    assert_int_equal(transfer_in(transfer, journal, ends[0], 65536, false), 0);
    assert_int_equal(journal_head(journal), 60005);
    close(ends[0]);
    assert_int_equal(transfer_in(transfer, journal, ends[0], 65536, false), -EBADF);
}

TEST(in_from_a_pty) {
    int ends[2];
    open_raw_pty(ends);
    assert_int_equal(transfer_in(transfer, journal, ends[0], 65536, false), -EAGAIN);
    assert_int_equal(write(ends[1], "$ ", 2), 2);
    assert_int_equal(transfer_in(transfer, journal, ends[0], 65536, false), 2);
    char block[10000];
    memset(block, 'y', sizeof block);
    assert_int_equal(write(ends[1], block, sizeof block), sizeof block);
    close(ends[1]);
    for (size_t got = 0; got < sizeof block;) {
        ssize_t n = transfer_in(transfer, journal, ends[0], 3000, false);
        assert_in_range(n, 1, 3000);
        got += (size_t)n;
    }
    assert_int_equal(transfer_in(transfer, journal, ends[0], 65536, false), 0); /* EIO */
    assert_int_equal(journal_head(journal), 10002);
    close(ends[0]);
}

TEST(in_with_a_small_ring) {
    int ends[2];
    struct journal_make plan = {.number = 1, .name = "s", .ring_bytes = 8192, .head_bytes = 4096, .cmd = "", .cwd = ""};
    struct journal *small;
    assert_int_equal(journal_new(&small, &plan, NULL), 0);
    open_pipe(ends);
    char block[60000];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (char)(i % 101);
    assert_int_equal(write(ends[1], block, sizeof block), sizeof block);
    assert_int_equal(transfer_in(transfer, small, ends[0], 1 << 20, false), sizeof block);
    uint64_t from = 60000 - 8192;
    size_t size;
    const char *view = journal_view(small, &from, &size);
    assert_int_equal(size, 8192);
    assert_memory_equal(view, block + from, size);
    from = 0;
    assert_memory_equal(journal_view(small, &from, &size), block, 4096);
    journal_free(small);
    close_both(ends);
}

TEST(out_to_a_pipe) {
    int ends[2];
    char block[300000], back[300000];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (char)(i % 127);
    open_pipe(ends);
    assert_int_equal(transfer_out(transfer, journal, ends[1], false), 0);
    assert_true(journal_input_append(journal, block, sizeof block));
    for (size_t got = 0; got < sizeof block;) {
        ssize_t n = transfer_out(transfer, journal, ends[1], false);
        assert_true(n > 0 || n == -EAGAIN || (n == 0 && journal->header->in_tail == sizeof block));
        n = read(ends[0], back + got, sizeof back - got);
        assert_true(n > 0);
        got += (size_t)n;
    }
    assert_memory_equal(block, back, sizeof block);
    assert_int_equal(journal->header->in_tail, sizeof block);
    assert_true(journal_input_append(journal, block, 100));
    close(ends[0]);
    assert_int_equal(transfer_out(transfer, journal, ends[1], false), -EPIPE);
    assert_int_equal(journal->header->in_tail, sizeof block);
    close(ends[1]);
}

TEST(out_to_a_full_pty) {
    int ends[2];
    char block[200000], back[200000];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (char)(i % 127);
    open_raw_pty(ends);
    assert_true(journal_input_append(journal, block, sizeof block));
    ssize_t n, taken = 0;
    while ((n = transfer_out(transfer, journal, ends[0], true)) > 0) /* the kernel moves bytes to the other end meanwhile */
        taken += n;
    assert_int_equal(n, -EAGAIN);
    assert_in_range(taken, 1000, 100000);
    assert_int_equal(journal->header->in_tail, taken);
    for (size_t got = 0; got < sizeof block;) {
        n = read(ends[1], back + got, sizeof back - got);
        if (n > 0)
            got += (size_t)n;
        n = transfer_out(transfer, journal, ends[0], true);
        assert_true(n >= 0 || n == -EAGAIN);
    }
    assert_memory_equal(block, back, sizeof block);
    close_both(ends);
}

/* What splice(2) refuses with EINVAL: a target in append mode, and a source that has no splice_read, as an eventfd. */
TEST(refused_splices_fall_back) {
    char name[] = "/tmp/muxd-transfer-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    unlink(name);
    assert_int_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
    assert_true(journal_input_append(journal, "typed", 5));
    assert_int_equal(transfer_out(transfer, journal, fd, false), 5);
    char back[6] = "";
    assert_int_equal(pread(fd, back, 5, 0), 5);
    assert_string_equal(back, "typed");
    assert_int_equal(journal->header->in_tail, 5);
    close(fd);
    int counter = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_true(counter >= 0);
    assert_int_equal(transfer_in(transfer, journal, counter, 100, false), 8);
    assert_int_equal(transfer_in(transfer, journal, counter, 100, false), -EAGAIN);
    assert_int_equal(journal_head(journal), 8);
    close(counter);
    assert_int_equal(transfer->state->out_session, 0);
}

static void begin_in(uint64_t session, uint64_t want, const char *in_pipe) {
    struct transfer_state *page = transfer->state;
    page->out_want = want;
    page->out_session = session;
    page->out_from_stderr = 1;
    assert_int_equal(write(transfer->fds[TRANSFER_OUT_W], in_pipe, strlen(in_pipe)), (ssize_t)strlen(in_pipe));
}

TEST(in_cut_off) {
    size_t size;
    begin_in(1000, 0, "");
    succeed();
    output_is("");
    begin_in(1000, 0, "abc"); /* behind the splice, before its note */
    succeed();
    output_is("abc");
    begin_in(1000, 5, "defg"); /* behind the second splice */
    succeed();
    output_is("abcdefg");
    begin_in(1000, 9, "hi"); /* noted, nothing read */
    succeed();
    output_is("abcdefghi");
    memcpy(journal_space(journal, 5, &size), "jkl", 3);
    begin_in(1000, 14, "mn"); /* three read, not committed */
    succeed();
    output_is("abcdefghijklmn");
    memcpy(journal_space(journal, 2, &size), "op", 2);
    begin_in(1000, 16, ""); /* all read, nothing committed */
    succeed();
    output_is("abcdefghijklmnop");
    begin_in(1000, 16, ""); /* committed, not taken back */
    succeed();
    begin_in(77, 20, "lost"); /* a session that is no more */
    succeed();
    begin_in(1000, UINT64_MAX, ""); /* scribbled over */
    succeed();
    output_is("abcdefghijklmnop");
    begin_in(1000, 16 + 3000, ""); /* more than the early area could hold */
    succeed();
    output_is("abcdefghijklmnop");
    char expected[16 + 3000 + 1] = "abcdefghijklmnop";
    memset(expected + 16, 'q', 3000);
    memset(journal_space(journal, 3000, &size), 'q', 3000);
    begin_in(1000, 16 + 3000, ""); /* so many that the ring is used from now on: all read, nothing committed */
    succeed();
    output_is(expected);
}

static void begin_out(enum transfer_phase phase, size_t size, const char *in_pipe) {
    struct transfer_state *page = transfer->state;
    page->in_session = 1000;
    page->in_tail = journal->header->in_tail;
    page->in_size = size;
    page->in_wipe = 0;
    page->in_phase = phase;
    assert_int_equal(write(transfer->fds[TRANSFER_IN_W], in_pipe, strlen(in_pipe)), (ssize_t)strlen(in_pipe));
}

TEST(out_cut_off) {
    assert_true(journal_input_append(journal, "0123456789", 10));
    begin_out(TRANSFER_WRITING, 0, "0123");
    succeed();
    assert_int_equal(journal->header->in_tail, 0);
    begin_out(TRANSFER_FILLED, 4, "0123"); /* nothing typed yet */
    succeed();
    assert_int_equal(journal->header->in_tail, 0);
    begin_out(TRANSFER_FILLED, 4, "23"); /* two typed, not counted */
    succeed();
    assert_int_equal(journal->header->in_tail, 2);
    begin_out(TRANSFER_FILLED, 4, "45"); /* two typed and counted */
    journal_input_typed(journal, 2, false);
    succeed();
    assert_int_equal(journal->header->in_tail, 4);
    begin_out(TRANSFER_IDLE, 4, "67"); /* leftovers, not thrown away yet */
    succeed();
    assert_int_equal(journal->header->in_tail, 4);
    begin_out(TRANSFER_FILLED, 1000, ""); /* scribbled over: more than there is */
    succeed();
    assert_int_equal(journal->header->in_tail, 4);
    begin_out(TRANSFER_FILLED, 6, ""); /* all typed */
    succeed();
    assert_int_equal(journal->header->in_tail, 10);
}

TEST(wrong_descriptors_are_refused) {
    struct transfer *other;
    struct err err;
    int fds[TRANSFER_FDS], wrong[TRANSFER_FDS];
    transfer_fds(transfer, fds);
    for (int i = 0; i < TRANSFER_FDS; i++) {
        memcpy(wrong, fds, sizeof fds);
        wrong[i] = -1;
        assert_int_equal(transfer_adopt(&other, wrong, &err), ERR_SYSTEM);
    }
    memcpy(wrong, fds, sizeof fds);
    wrong[0] = journal->fd;
    assert_int_equal(transfer_adopt(&other, wrong, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, "wrong size"));
    transfer->state->version = 99;
    assert_int_equal(transfer_adopt(&other, fds, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, "version"));
}

int main(void) {
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(in_from_a_pipe), CASE(in_from_a_pty), CASE(in_with_a_small_ring), CASE(out_to_a_pipe), CASE(out_to_a_full_pty),
        CASE(refused_splices_fall_back), CASE(in_cut_off), CASE(out_cut_off), CASE(wrong_descriptors_are_refused),
    };
    return cmocka_run_group_tests_name("transfer", tests, NULL, NULL);
}
