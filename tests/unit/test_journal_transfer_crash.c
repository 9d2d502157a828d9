/* The kill drill: workers that move bytes of a PTY and of a pipe are killed with SIGKILL at random moments, 200 times each way,
 * and each successor goes on with the memfds and pipes alone. Not a byte may be lost or doubled. */
#include "journal/journal.h"
#include "journal/transfer.h"
#include "journal/transfer_state.h"
#include "tests/lib/test.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define KILLS 200
#define SESSIONS 2 /* 0: PTY, 1: pipe */
#define LINE 11
#define BLOCK (LINE * 300)
#define RING_BYTES (32 << 20) /* far more than what comes between two looks */
#define DRILL_SECONDS 60

struct shared {
    _Atomic int stop;                    /* writers stop, or nothing more is queued */
    _Atomic uint64_t rounds;             /* of the workers' loops, all together */
    _Atomic uint64_t written[SESSIONS];
};

static struct shared *shared;
static struct transfer *transfer;
static struct journal *journals[SESSIONS];
static int ours[SESSIONS], theirs[SESSIONS]; /* ends of the worker and of the program */

/* The stream is numbered lines: what stands at an offset follows from it. */
static void fill_lines(char *data, uint64_t from, size_t size) {
    char line[32];
    for (size_t done = 0; done < size;) {
        uint64_t at = from + done;
        snprintf(line, sizeof line, "%010llu\n", (unsigned long long)(at / LINE % 10000000000ULL));
        size_t skip = at % LINE, piece = LINE - skip < size - done ? LINE - skip : size - done;
        memcpy(data + done, line + skip, piece);
        done += piece;
    }
}

static bool lines_are(const char *data, uint64_t from, size_t size) {
    char expected[BLOCK];
    for (size_t done = 0; done < size;) {
        size_t piece = size - done < sizeof expected ? size - done : sizeof expected;
        fill_lines(expected, from + done, piece);
        if (memcmp(data + done, expected, piece) != 0)
            return false;
        done += piece;
    }
    return true;
}

static void open_both(bool output) {
    struct termios raw;
    int ends[2];
    assert_int_equal(openpty(&ours[0], &theirs[0], NULL, NULL, NULL), 0);
    assert_int_equal(tcgetattr(theirs[0], &raw), 0);
    cfmakeraw(&raw);
    assert_int_equal(tcsetattr(theirs[0], TCSANOW, &raw), 0);
    assert_int_equal(pipe(ends), 0);
    ours[1] = ends[output ? 0 : 1];
    theirs[1] = ends[output ? 1 : 0];
    for (int i = 0; i < SESSIONS; i++)
        assert_int_equal(fcntl(ours[i], F_SETFL, O_NONBLOCK), 0);
}

static void set_up_drill(bool output) {
    signal(SIGPIPE, SIG_IGN);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    assert_int_equal(transfer_new(&transfer, NULL), 0);
    for (int i = 0; i < SESSIONS; i++) {
        struct journal_make plan = {.number = 1000 + (uint64_t)i, .name = "s", .tty = i == 0, .ring_bytes = RING_BYTES,
                                    .input_bytes = 64 << 10, .cmd = "", .cwd = ""};
        assert_int_equal(journal_new(&journals[i], &plan, NULL), 0);
    }
    open_both(output);
}

static void tear_down_drill(void) {
    for (int i = 0; i < SESSIONS; i++) {
        journal_free(journals[i]);
        close(ours[i]);
    }
    transfer_free(transfer);
    munmap(shared, sizeof *shared);
}

static struct journal *find(void *arg, uint64_t number) {
    struct journal **all = arg;
    return number >= 1000 && number < 1000 + SESSIONS ? all[number - 1000] : NULL;
}

/* In a fresh child: everything anew from the descriptors. */
static void take_over(struct transfer **mover, struct journal *mine[SESSIONS]) {
    int fds[TRANSFER_FDS];
    alarm(DRILL_SECONDS);
    transfer_fds(transfer, fds);
    for (int i = 0; i < SESSIONS; i++)
        if (journal_adopt(&mine[i], fcntl(journals[i]->fd, F_DUPFD_CLOEXEC, 0), NULL) != 0)
            _exit(2);
    if (transfer_adopt(mover, fds, NULL) != 0)
        _exit(2);
    transfer_repair(*mover, find, mine);
}

static void worker_in(void) {
    struct transfer *mover;
    struct journal *mine[SESSIONS];
    struct pollfd ready[SESSIONS];
    int open = SESSIONS;
    take_over(&mover, mine);
    for (int i = 0; i < SESSIONS; i++)
        ready[i] = (struct pollfd){.fd = ours[i], .events = POLLIN};
    while (open > 0 && poll(ready, SESSIONS, -1) > 0)
        for (int i = 0; i < SESSIONS; i++) {
            if (ready[i].fd < 0 || !ready[i].revents)
                continue;
            ssize_t n = transfer_in(mover, mine[i], ours[i], 64 << 10, i == 1);
            shared->rounds++;
            if (n < 0 && n != -EAGAIN)
                _exit(3);
            if (n == 0) {
                ready[i].fd = -1;
                open--;
            }
        }
    _exit(0);
}

/* What is queued follows from in_head, so a successor queues neither less nor more. The end is one mark. */
static void queue_lines(struct journal *journal) {
    char block[BLOCK];
    while (!shared->stop && journal_input_free(journal) >= sizeof block) {
        fill_lines(block, journal->header->in_head, sizeof block);
        journal_input_append(journal, block, sizeof block);
    }
}

static void worker_out(void) {
    struct transfer *mover;
    struct journal *mine[SESSIONS];
    struct pollfd ready[SESSIONS];
    take_over(&mover, mine);
    for (bool left = true; left;) {
        left = !shared->stop;
        for (int i = 0; i < SESSIONS; i++) {
            queue_lines(mine[i]);
            ssize_t n = transfer_out(mover, mine[i], ours[i], i == 0);
            shared->rounds++;
            if (n < 0 && n != -EAGAIN)
                _exit(3);
            bool queued = mine[i]->header->in_tail < mine[i]->header->in_head;
            left = left || queued;
            ready[i] = (struct pollfd){.fd = queued ? ours[i] : -1, .events = POLLOUT};
        }
        if (left && poll(ready, SESSIONS, 100) < 0)
            _exit(3);
    }
    _exit(0);
}

static pid_t start(void (*run)(void)) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        run();
    return pid;
}

static void nap(unsigned *seed) {
    struct timespec time = {.tv_nsec = rand_r(seed) % 4000000};
    nanosleep(&time, NULL); /* the random moment of the kill */
}

/* Every other worker is at work before its moment comes: on a busy machine all of them would be killed while they take over. */
static void wait_for_work(pid_t pid, uint64_t rounds) {
    const struct timespec moment = {.tv_nsec = 50000};
    while (shared->rounds == rounds && waitpid(pid, NULL, WNOHANG) == 0)
        nanosleep(&moment, NULL);
}

static void kill_within(pid_t pid, unsigned *seed, int kills, uint64_t rounds) {
    int status;
    if (kills % 2)
        wait_for_work(pid, rounds);
    nap(seed);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL); /* it had not given up before */
}

static void ends_well(pid_t pid) {
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void write_lines(int i) {
    char block[BLOCK];
    alarm(DRILL_SECONDS);
    close(ours[i]);
    close(theirs[!i]);
    for (uint64_t at = 0; !shared->stop; at = shared->written[i]) {
        fill_lines(block, at, sizeof block);
        ssize_t n = write(theirs[i], block, 1 + (at * 7919) % sizeof block);
        if (n <= 0)
            _exit(4);
        shared->written[i] = at + (uint64_t)n;
    }
    _exit(0);
}

static void write_pty(void) { write_lines(0); }
static void write_pipe(void) { write_lines(1); }

static void check_output(uint64_t seen[SESSIONS]) {
    for (int i = 0; i < SESSIONS; i++) {
        uint64_t from = seen[i];
        size_t size;
        struct journal *journal; /* where its bytes are is the business of one worker at a time */
        assert_int_equal(journal_adopt(&journal, fcntl(journals[i]->fd, F_DUPFD_CLOEXEC, 0), NULL), 0);
        const char *view = journal_view(journal, &from, &size);
        assert_int_equal(from, seen[i]);
        if (size)
            assert_true(lines_are(view, from, size));
        seen[i] += size;
        journal_free(journal);
    }
}

TEST(no_output_is_lost) {
    unsigned seed = (unsigned)time(NULL), hits = 0;
    uint64_t seen[SESSIONS] = {0};
    set_up_drill(true);
    pid_t writers[SESSIONS] = {start(write_pty), start(write_pipe)};
    for (int i = 0; i < SESSIONS; i++)
        close(theirs[i]);
    for (int kills = 0; kills < KILLS; kills++) {
        uint64_t rounds = shared->rounds;
        kill_within(start(worker_in), &seed, kills, rounds);
        hits += transfer->state->out_session != 0;
        check_output(seen);
    }
    shared->stop = 1;
    pid_t last = start(worker_in);
    for (int i = 0; i < SESSIONS; i++)
        ends_well(writers[i]);
    ends_well(last);
    check_output(seen);
    print_message("%d kills, %u in the middle of a transfer; %llu and %llu bytes\n", KILLS, hits, (unsigned long long)seen[0],
                  (unsigned long long)seen[1]);
    for (int i = 0; i < SESSIONS; i++) {
        assert_true(seen[i] > 0);
        assert_int_equal(seen[i], shared->written[i]);
    }
    assert_true(hits > 0);
    tear_down_drill();
}

static void read_lines(int i) {
    char block[16384];
    uint64_t at = 0;
    alarm(DRILL_SECONDS);
    close(ours[0]);
    close(ours[1]);
    for (;;) {
        ssize_t n = read(theirs[i], block, sizeof block);
        if (n <= 0)
            _exit(5);
        bool end = block[n - 1] == 'E';
        if (!lines_are(block, at, (size_t)n - end))
            _exit(6);
        at += (uint64_t)n - end;
        shared->written[i] = at;
        if (end)
            _exit(0);
    }
}

static void read_pty(void) { read_lines(0); }
static void read_pipe(void) { read_lines(1); }

TEST(no_input_is_lost) {
    unsigned seed = (unsigned)time(NULL), hits = 0;
    set_up_drill(false);
    pid_t readers[SESSIONS] = {start(read_pty), start(read_pipe)};
    for (int i = 0; i < SESSIONS; i++)
        close(theirs[i]); /* a reader that has seen a wrong byte ends, and the workers with it */
    for (int kills = 0; kills < KILLS; kills++) {
        uint64_t rounds = shared->rounds;
        kill_within(start(worker_out), &seed, kills, rounds);
        hits += transfer->state->in_phase != TRANSFER_IDLE;
    }
    shared->stop = 1;
    ends_well(start(worker_out));
    for (int i = 0; i < SESSIONS; i++)
        assert_true(journal_input_append(journals[i], "E", 1));
    ends_well(start(worker_out));
    for (int i = 0; i < SESSIONS; i++) {
        ends_well(readers[i]);
        assert_int_equal(shared->written[i] + 1, journals[i]->header->in_head);
        assert_true(shared->written[i] > 0);
    }
    print_message("%d kills, %u in the middle of a transfer; %llu and %llu bytes\n", KILLS, hits, (unsigned long long)shared->written[0],
                  (unsigned long long)shared->written[1]);
    assert_true(hits > 0);
    tear_down_drill();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_output_is_lost), cmocka_unit_test(no_input_is_lost)};
    alarm(2 * DRILL_SECONDS);
    return cmocka_run_group_tests_name("transfer under kill -9", tests, NULL, NULL);
}
