/* Readiness on real programs: told when they wait for input, never before the answer to what was typed is out. */
#include "tests/lib/test.h"

#include "base/clock.h"
#include "base/fdio.h"
#include "session/readiness.h"
#include "sys/pty.h"
#include "sys/tty_state.h"
#include "term/modes.h"
#include "term/scan.h"
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 60000, RAW_QUIET_MS = 150 };

struct rig {
    struct loop *loop;
    struct loop_io *io;
    struct readiness *readiness;
    struct loop_timer deadline;
    int master;
    pid_t pid;
    char text[262144];
    size_t len, scanned;
    bool fired, late, ended;
    enum evidence evidence;
    enum waiting_for waiting_for;
};

static char home[] = "/tmp/muxd-home-XXXXXX"; /* ipython and irb leave their histories there */

static void on_ready(void *arg, enum evidence evidence, enum waiting_for waiting_for)
{
    struct rig *rig = arg;
    readiness_believe(rig->readiness);
    rig->fired = true;
    rig->evidence = evidence;
    rig->waiting_for = waiting_for;
}

static void on_output(void *arg, unsigned events)
{
    struct rig *rig = arg;
    for (;;) {
        ssize_t got = read(rig->master, rig->text + rig->len, sizeof rig->text - 1 - rig->len);
        if (got <= 0) {
            if (events & LOOP_HANGUP && got < 0 && errno == EIO) {
                loop_io_set(rig->io, 0);
                rig->ended = true;
            }
            return;
        }
        char *asked = memmem(rig->text + rig->len, (size_t)got, "\033[6n", 4);
        rig->len += (size_t)got;
        rig->text[rig->len] = '\0';
        for (struct scan_seq seq; scan_next(rig->text, rig->len, &rig->scanned, &seq);)
            if (modes_editor(&seq) != MODES_EDITOR_SAME)
                readiness_editor(rig->readiness, modes_editor(&seq) == MODES_EDITOR_READS);
        readiness_output(rig->readiness);
        if (asked) { /* irb asks where the cursor is and waits for the answer, as every terminal gives it */
            bool began = readiness_editor_began(rig->readiness);
            readiness_mark(rig->readiness);
            assert_int_equal(write(rig->master, "\033[1;1R", 6), 6);
            if (began)
                readiness_editor(rig->readiness, true);
        }
    }
}

static void on_deadline(void *arg)
{
    ((struct rig *)arg)->late = true;
}

static void rig_start(struct rig *rig, const char *const *argv)
{
    int slave;
    memset(rig, 0, sizeof *rig);
    rig->loop = loop_new(NULL);
    assert_int_equal(pty_open(24, 80, &rig->master, &slave, NULL), 0);
    rig->pid = fork();
    assert_true(rig->pid >= 0);
    if (rig->pid == 0) {
        setsid();
        ioctl(slave, TIOCSCTTY, 0);
        dup2(slave, 0);
        dup2(slave, 1);
        dup2(slave, 2);
        setenv("TERM", "xterm", 1);
        setenv("PS1", "$ ", 1);
        setenv("HOME", home, 1);
        setenv("INPUTRC", "/dev/null", 1);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(slave);
    rig->readiness =
        readiness_new(rig->loop, rig->master, rig->pid, &(struct readiness_config){.raw_quiet_ms = RAW_QUIET_MS}, on_ready, rig);
    rig->io = loop_io_new(rig->loop, rig->master, LOOP_READ | LOOP_EDGE, on_output, rig);
    loop_timer_init(&rig->deadline, rig->loop, on_deadline, rig);
}

static void rig_stop(struct rig *rig)
{
    kill(rig->pid, SIGKILL);
    waitpid(rig->pid, NULL, 0);
    loop_timer_stop(&rig->deadline);
    readiness_free(rig->readiness);
    loop_io_free(rig->io);
    close(rig->master);
    loop_free(rig->loop);
}

static bool rig_await(struct rig *rig, int ms)
{
    rig->fired = rig->late = false;
    loop_timer_set_ms(&rig->deadline, ms);
    while (!rig->fired && !rig->late)
        loop_turn(rig->loop, -1);
    loop_timer_stop(&rig->deadline);
    return rig->fired;
}

static bool rig_first(struct rig *rig)
{
    readiness_arm(rig->readiness);
    return rig_await(rig, WAIT_MS);
}

/* Types and waits; the answer begins at rig->text. */
static bool rig_ask_within(struct rig *rig, const char *typed, int ms)
{
    rig->len = rig->scanned = 0;
    rig->text[0] = '\0';
    readiness_arm(rig->readiness);
    readiness_mark(rig->readiness);
    assert_int_equal(write(rig->master, typed, strlen(typed)), (ssize_t)strlen(typed));
    return rig_await(rig, ms);
}

static void rig_ask(struct rig *rig, const char *typed)
{
    if (!rig_ask_within(rig, typed, WAIT_MS))
        fail_msg("no answer to '%s' but '%s'", typed, rig->text);
}

/* Without what only draws: control sequences. Editors that draw each key anew bring one between any two words. */
static void leave_text(struct rig *rig)
{
    size_t kept = 0;
    for (size_t i = 0; i < rig->len; i++) {
        if (rig->text[i] != '\033') {
            rig->text[kept++] = rig->text[i];
            continue;
        }
        i++;
        if (rig->text[i] == '[')
            do
                i++;
            while (i < rig->len && (rig->text[i] < '@' || rig->text[i] > '~'));
    }
    rig->len = kept;
    rig->text[kept] = '\0';
}

static bool have(const char *program)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0; // NOLINT(cert-env33-c): a fixed word
}

struct talk {
    const char *const argv[6];
    const char *question, *answer, *done; /* done: what is left on the last line when it waits again */
    enum evidence evidence; /* NONE: by either way, it polls with a time limit */
    int fast;               /* rounds */
};

static void talk_to(const struct talk *talk)
{
    struct rig *rig = malloc(sizeof *rig);
    int quiet = 0;
    int64_t longest = 0, sum = 0;
    const char *factor = getenv("MUXD_TEST_ROUNDS"); /* so many times the usual rounds */
    int rounds = talk->fast * (factor ? atoi(factor) : 1);

    if (!have(talk->argv[0])) {
        free(rig);
        skip();
    }
    rig_start(rig, talk->argv);
    assert_true(rig_first(rig));
    for (int i = 0; i < rounds; i++) {
        int64_t begin = clock_mono_ns(), took;
        rig_ask(rig, talk->question);
        took = clock_mono_ns() - begin;
        sum += took;
        longest = took > longest ? took : longest;
        quiet += rig->evidence == EVIDENCE_QUIET;
        size_t done = strlen(talk->done);
        leave_text(rig);
        if (!strstr(rig->text, talk->answer) || rig->len < done || strncmp(rig->text + rig->len - done, talk->done, done) != 0)
            fail_msg("%s round %d: early (evidence %d, after %lld us) with '%s'", talk->argv[0], i, (int)rig->evidence,
                     (long long)took / 1000, rig->text);
        if (talk->evidence != EVIDENCE_NONE)
            assert_int_equal(rig->evidence, talk->evidence);
    }
    print_message("%-8s mean %lld us, longest %lld us, %d of %d by silence\n", talk->argv[0], (long long)(sum / rounds / 1000),
                  (long long)longest / 1000, quiet, rounds);
    rig_stop(rig);
    free(rig);
}

static const struct talk talks[] = {
    {{"bash", "--norc", "--noprofile", "-i", NULL}, "echo $((6*7))\n", "42\r\n", "$ ", EVIDENCE_LINE_EDITOR, 60},
    {{"bash", "--norc", "--noprofile", "-i", NULL}, "/bin/echo done-$((6*7))\n", "done-42\r\n", "$ ", EVIDENCE_LINE_EDITOR, 20},
    {{"dash", NULL}, "echo $((6*7))\n", "\r\n42\r\n$ ", "$ ", EVIDENCE_LINE_READ, 60},
    {{"cat", NULL}, "hello\n", "hello\r\nhello\r\n", "hello\r\n", EVIDENCE_LINE_READ, 60},
    {{"sh", "-c", "cat | sed -u s/hello/there/", NULL}, "hello\n", "hello\r\nthere\r\n", "there\r\n", EVIDENCE_LINE_READ, 30},
    {{"zsh", "-f", NULL}, "echo $((6*7))\n", "42\r\n", "", EVIDENCE_LINE_EDITOR, 30},
    {{"python3", "-q", NULL}, "6*7\n", "42\r\n", ">>> ", EVIDENCE_LINE_EDITOR, 60},
    {{"python3", "-q", NULL}, "import time; time.sleep(0.03); print(6*7)\n", "42\r\n", ">>> ", EVIDENCE_LINE_EDITOR, 10},
    {{"sh", "-c", "python3 -q; echo done", NULL}, "6*7\n", "42\r\n", ">>> ", EVIDENCE_LINE_EDITOR, 30},
    {{"sqlite3", NULL}, "select 6*7;\n", "42\r\n", "sqlite> ", EVIDENCE_LINE_EDITOR, 30},
    {{"gdb", "-q", "-nx", NULL}, "print 6*7\n", "= 42\r\n", "(gdb) ", EVIDENCE_LINE_EDITOR, 30},
    {{"dc", NULL}, "6 7*p\n", "\r\n42\r\n", "42\r\n", EVIDENCE_LINE_READ, 60},
    {{"irb", "-f", NULL}, "6*7\n", "42", "", EVIDENCE_NONE, 5},
    {{"fish", "--no-config", NULL}, "math '6*7'\n", "42\r\n", "", EVIDENCE_LINE_EDITOR, 20},
    {{"ipython3", "--no-banner", NULL}, "6*7\r", "42", "", EVIDENCE_NONE, 5},
    {{"node", NULL}, "6*7\n", "42", "", EVIDENCE_NONE, 3},
};

TEST(test_talks)
{
    talk_to(*state);
}

TEST(test_secret)
{
    struct rig *rig = malloc(sizeof *rig);
    rig_start(rig, (const char *const[]){"bash", "-c", "read -s -p 'pass: ' x; echo; read -p 'name: ' y; echo $x $y; sleep 60", NULL});
    assert_true(rig_first(rig));
    assert_string_equal(rig->text, "pass: ");
    assert_int_equal(rig->evidence, EVIDENCE_SECRET);
    assert_int_equal(readiness_state(rig->readiness), WAITING_SECRET);
    rig_ask(rig, "hidden\n");
    assert_string_equal(rig->text, "\r\nname: ");
    assert_int_equal(rig->evidence, EVIDENCE_LINE_READ);
    assert_int_equal(readiness_state(rig->readiness), WAITING_LINE);
    assert_false(rig_ask_within(rig, "me\n", 1500));
    assert_non_null(strstr(rig->text, "hidden me"));
    assert_int_equal(readiness_state(rig->readiness), WAITING_NONE);
    rig_stop(rig);
    free(rig);
}

TEST(test_busy_is_never_ready)
{
    static const char *const busy[][5] = {
        {"sh", "-c", "echo one; sleep 0.4; echo two; read x", NULL},
        {"python3", "-c", "import time,sys\nprint('one')\ntime.sleep(.4)\nprint('two')\nsys.stdin.readline()", NULL},
        {"python3", "-c",
         "import socket\na,b=socket.socketpair()\na.settimeout(.4)\nprint('one')\n"
         "try: a.recv(1)\nexcept Exception: print('two')\ninput()",
         NULL},
        {"bash", "-c", "echo one; for i in {1..90000}; do :; done; sleep 0.2; echo two; read x", NULL},
    };
    struct rig *rig = malloc(sizeof *rig);
    for (size_t i = 0; i < sizeof busy / sizeof *busy; i++) {
        if (!have(busy[i][0]))
            continue;
        rig_start(rig, busy[i]);
        assert_true(rig_first(rig));
        if (!strstr(rig->text, "two"))
            fail_msg("program %zu: early with '%s'", i, rig->text);
        assert_int_equal(rig->evidence, EVIDENCE_LINE_READ);
        rig_stop(rig);
    }
    free(rig);
}

/* In raw mode, asleep for its terminal and for a time: may be computing, so silence tells, or the place where it
 * slept when it was last seen to wait; but never before its answer. */
TEST(test_raw_with_a_time_goes_by_silence_or_place)
{
    struct rig *rig = malloc(sizeof *rig);
    rig_start(rig, (const char *const[]){"python3", "-c",
                                         "import tty,select,os,time\ntty.setraw(0)\nos.write(1,b'up')\n"
                                         "while 1:\n select.select([0],[],[],60)\n x=os.read(0,99)\n time.sleep(.05)\n"
                                         " os.write(1,b'got')",
                                         NULL});
    assert_true(rig_first(rig));
    assert_string_equal(rig->text, "up");
    for (int i = 0; i < 5; i++) {
        int64_t begin = clock_mono_ms();
        rig_ask(rig, "k");
        assert_string_equal(rig->text, "got");
        assert_int_equal(rig->waiting_for, WAITING_KEY);
        if (rig->evidence == EVIDENCE_QUIET)
            assert_true(clock_mono_ms() - begin >= RAW_QUIET_MS);
        else
            assert_int_equal(rig->evidence, EVIDENCE_LINE_EDITOR);
    }
    rig_stop(rig);
    free(rig);
}

/* Computes in raw mode and asleep for its terminal too: nobody can tell, and the answer must say so. */
TEST(test_await_is_told_as_silence)
{
    struct rig *rig = malloc(sizeof *rig);
    if (!have("node")) {
        free(rig);
        skip();
    }
    rig_start(rig, (const char *const[]){"node", NULL});
    assert_true(rig_first(rig));
    for (int i = 0; i < 3; i++) {
        rig_ask(rig, "await new Promise(r => setTimeout(() => r(6*7), 600))\n");
        if (!strstr(rig->text, "42"))
            assert_int_equal(rig->evidence, EVIDENCE_QUIET);
        while (!strstr(rig->text, "42"))
            loop_turn(rig->loop, -1);
    }
    rig_stop(rig);
    free(rig);
}

/* Raw, and asleep for its terminal, for a socket and for a time: only silence can tell, and it has to outlast an alarm
 * that was set since the program was last ready; not one from before, and not one that goes off all the time. */
static const char alarms[] =
    "import tty, select, socket, os, sys, time\n"
    "tty.setraw(0)\nr, w = os.pipe() if sys.argv[1:] else socket.socketpair()\nos.write(1, b'up')\nbell = None\n"
    "while True:\n"
    " left = None if bell is None else max(bell - time.monotonic(), 0)\n"
    " if not select.select([0, r], [], [], left)[0]:\n"
    "  os.write(1, b'rung') if key != b't' else None\n"
    "  bell = time.monotonic() + 0.1 if key == b't' else None\n"
    "  continue\n"
    " key = os.read(0, 1)\n"
    " bell = {b'k': bell, b'b': time.monotonic() + 0.6, b'o': time.monotonic() + 2.3, b't': time.monotonic() + 0.1}[key]\n"
    " os.write(1, b'got')\n";

TEST(test_silence_outlasts_an_alarm)
{
    struct rig *rig = malloc(sizeof *rig);
    bool before_the_old_one = false;
    rig_start(rig, (const char *const[]){"python3", "-c", alarms, NULL});
    assert_true(rig_first(rig));
    int64_t begin = clock_mono_ms();
    rig_ask(rig, "b");
    assert_int_equal(rig->evidence, EVIDENCE_QUIET);
    assert_true(clock_mono_ms() - begin >= 600 + RAW_QUIET_MS);
    for (int i = 0; i < 10 && !before_the_old_one; i++) {
        rig_ask(rig, "o"); /* too far away to be waited for */
        assert_null(strstr(rig->text, "rung"));
        assert_false(rig_await(rig, 500)); /* near enough now, but known */
        rig_ask(rig, "k");
        before_the_old_one = !strstr(rig->text, "rung");
    }
    assert_true(before_the_old_one);
    rig_ask(rig, "t");
    assert_int_equal(rig->evidence, EVIDENCE_QUIET);
    rig_stop(rig);

    /* It sleeps where it was known to wait, but for an alarm. A pipe that it has itself can't wake it. */
    rig_start(rig, (const char *const[]){"python3", "-c", alarms, "pipe", NULL});
    assert_true(rig_first(rig));
    for (int i = 0; i < 2; i++) {
        rig_ask(rig, "k");
        assert_int_equal(rig->evidence, EVIDENCE_LINE_EDITOR);
    }
    begin = clock_mono_ms();
    rig_ask(rig, "b");
    assert_true(clock_mono_ms() - begin >= 600);
    rig_stop(rig);
    free(rig);
}

TEST(test_partial_line_is_ready)
{
    struct rig *rig = malloc(sizeof *rig);
    rig_start(rig, (const char *const[]){"cat", NULL});
    assert_true(rig_first(rig));
    rig_ask(rig, "half a ");
    assert_string_equal(rig->text, "half a ");
    rig_ask(rig, "line\n");
    assert_string_equal(rig->text, "line\r\nhalf a line\r\n");
    rig_stop(rig);
    free(rig);
}

TEST(test_nobody_waits_no_timer)
{
    struct rig *rig = malloc(sizeof *rig);
    rig_start(rig, (const char *const[]){"cat", NULL});
    assert_true(rig_first(rig));
    assert_false(loop_turn(rig->loop, 60));
    readiness_arm(rig->readiness);
    readiness_hold(rig->readiness, true);
    assert_false(rig_await(rig, 60));
    readiness_hold(rig->readiness, false);
    assert_true(rig_await(rig, WAIT_MS));
    readiness_arm(rig->readiness);
    readiness_leader_gone(rig->readiness);
    assert_false(loop_turn(rig->loop, 60));
    assert_int_equal(readiness_state(rig->readiness), WAITING_NONE);
    rig_stop(rig);
    free(rig);
}

TEST(test_words)
{
    assert_string_equal(waiting_for_word(WAITING_LINE), "line");
    assert_string_equal(waiting_for_word(WAITING_KEY), "key");
    assert_string_equal(waiting_for_word(WAITING_SECRET), "secret");
    assert_null(waiting_for_word(WAITING_NONE));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

int main(void)
{
    struct CMUnitTest tests[32] = {
        cmocka_unit_test(test_secret),
        cmocka_unit_test(test_busy_is_never_ready),
        cmocka_unit_test(test_raw_with_a_time_goes_by_silence_or_place),
        cmocka_unit_test(test_await_is_told_as_silence),
        cmocka_unit_test(test_silence_outlasts_an_alarm),
        cmocka_unit_test(test_partial_line_is_ready),
        cmocka_unit_test(test_nobody_waits_no_timer),
        cmocka_unit_test(test_words),
    };
    size_t count = 8;

    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof talks / sizeof *talks; i++)
        tests[count++] = (struct CMUnitTest){talks[i].argv[0], test_talks, NULL, NULL, (void *)(uintptr_t)&talks[i]};
    print_message("readiness: %s\n", tty_state_selftest(NULL));
    if (!mkdtemp(home))
        return 1;
    int failed = _cmocka_run_group_tests("readiness", tests, count, NULL, NULL);
    nftw(home, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return failed;
}
