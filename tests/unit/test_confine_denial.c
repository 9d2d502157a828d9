/* Whether a sandbox is why a command failed: by its end, by the files that the output names, by its words. The file system is a table. */
#include "confine/denial.h"
#include "base/mem.h"
#include "tests/lib/test.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READABLE 1
#define WRITABLE 2
#define RUNS 4
#define DIRECTORY 8
#define MISSING 16
#define READ_ONLY 32

static const struct row { const char *path; int may; } files[] = {
    {"/w", READABLE | WRITABLE | DIRECTORY}, {"/w/x", MISSING | WRITABLE}, {"/w/./script", READABLE | WRITABLE},
    {"/w/.git/config", READABLE | WRITABLE}, {"/w/two words", READABLE | WRITABLE}, {"/home/u/x", MISSING | WRITABLE}, {"/home/u/own", READABLE | WRITABLE},
    {"/home/u/unreadable", WRITABLE}, {"/home/u/.ssh/id", READABLE | WRITABLE}, {"/home/u/.ssh/root", 0}, {"/etc/passwd", READABLE}, {"/etc/x", MISSING},
    {"/home/u/script", READABLE | WRITABLE}, {"/cd/x", MISSING | READ_ONLY}, {"/usr/bin/touch", READABLE | WRITABLE | RUNS},
    {"/w/19029) -", MISSING | WRITABLE}, {"/w/failed to open a terminal", MISSING | WRITABLE}, {"/proc/1/mem", READABLE | WRITABLE}, {"/home/u/sandbox/x", READABLE}, {NULL, 0}};
static unsigned probed;

static bool probe(void *arg, const char *path, struct denial_file *file)
{
    (void)arg;
    probed++;
    *file = (struct denial_file){.exists = false};
    for (const struct row *row = files; row->path; row++)
        if (strcmp(row->path, path) == 0) {
            snprintf(file->real, sizeof file->real, "%s", path);
            file->exists = !(row->may & MISSING);
            file->is_dir = row->may & DIRECTORY;
            file->readable = row->may & READABLE;
            file->writable = row->may & WRITABLE;
            file->executable = row->may & RUNS;
            file->on_read_only = row->may & READ_ONLY;
            return true;
        }
    return false;
}

static struct confine_plan plan_of(enum confine_mode mode, bool net)
{
    struct confine_plan plan = {.mode = mode, .network = net, .cwd = xstrdup("/w"), .begin = xstrdup("/w")};
    if (mode == CONFINE_WORKSPACE_WRITE) {
        strv_add(&plan.roots, "/w");
        strv_add(&plan.kept, "/w/.git");
    }
    strv_add(&plan.hidden_dirs, "/home/u/.ssh");
    return plan;
}

struct shown { const char *output; int status; const char *want; };

static void expect_of(struct confine_plan plan, const struct shown *row, const char *command)
{
    struct denial denial;
    struct buf told = BUF_INIT;
    denial_find(&denial, &(struct denial_case){.exit_code = row->status < 1000 ? row->status : -1,
                                               .signo = row->status >= 1000 ? row->status - 1000 : 0,
                                               .output = row->output,
                                               .command = command,
                                               .size = strlen(row->output),
                                               .plan = &plan,
                                               .probe = probe});
    buf_printf(&told, "%s", denial_operation_word(denial.operation));
    if (denial.operation != DENIAL_NONE)
        buf_printf(&told, " %s %s%s%s", denial_evidence_word(denial.evidence), denial.subject ? denial.subject : "-",
                   denial.kept ? " kept" : "", denial.vain ? " vain" : "");
    if (strcmp(told.data, row->want) != 0)
        fail_msg("'%s' (%d): %s, expected %s", row->output, row->status, told.data, row->want);
    denial_fini(&denial);
    buf_fini(&told);
    confine_plan_fini(&plan);
}

static void expect(struct confine_plan plan, const struct shown *row)
{
    expect_of(plan, row, NULL);
}

TEST(programs_that_say_nothing)
{
    static const struct { struct shown shown; const char *command; } rows[] = {
        {{"", 4, "network status wget"}, "wget -q http://a.example/"},
        {{"", 4, "network status wget"}, "cd x && /usr/bin/wget -q http://a.example/"},
        {{"", 6, "network status curl"}, "x=$(curl -s http://a.example/) || exit"},
        {{"", 7, "network status curl"}, "curl -s http://a.example/"},
        {{"", 5, "none"}, "wget -q http://a.example/"},
        {{"", 6, "none"}, "wget -q http://a.example/"},
        {{"", 4, "none"}, "mywget; wget2; ./wget/x"},
        {{"", 4, "none"}, NULL},
        {{"no usable sandbox!\n", 4, "network status wget"}, "wget -q http://a.example/"},
        {{"touch: cannot touch '/home/u/x': Read-only file system\n", 4, "write path /home/u/x"}, "wget -q u; touch /home/u/x"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_of(plan_of(CONFINE_WORKSPACE_WRITE, false), &rows[i].shown, rows[i].command);
    expect_of(plan_of(CONFINE_WORKSPACE_WRITE, true), &(struct shown){"", 4, "none"}, "wget -q http://a.example/");
}

/* As the programs of Debian say it. */
TEST(files_that_are_named)
{
    static const struct shown rows[] = {
        {"bash: line 1: /home/u/x: Read-only file system\n", 1, "write path /home/u/x"},
        {"touch: cannot touch '/home/u/x': Permission denied\n", 1, "write path /home/u/x"},
        {"rm: cannot remove \xe2\x80\x98/home/u/own\xe2\x80\x99: Read-only file system", 1, "write path /home/u/own"},
        {"sh: 1: cannot create /home/u/x: Read-only file system\n", 2, "write path /home/u/x"},
        {"PermissionError: [Errno 13] Permission denied: '/home/u/x'\n", 1, "write path /home/u/x"},
        {"Error: EROFS: read-only file system, open '/home/u/x'\n    at Object (node:fs:560)\n", 1, "write path /home/u/x"},
        {"\x1b[31m/usr/bin/touch: setting times of /home/u/own: Operation not permitted\x1b[0m\r\n", 1, "write path /home/u/own"},
        {"fatal: Unable to create '/w/.git/config': Read-only file system\n", 128, "write path /w/.git/config kept"},
        {"cat: /home/u/.ssh/id: Permission denied\n", 1, "read path /home/u/.ssh/id"},
        /* not without the sandbox either */
        {"bash: line 1: /etc/x: Read-only file system\n", 1, "write path /etc/x vain"},
        {"touch: cannot touch '/etc/x': Permission denied\n", 1, "none"},
        {"cat: /home/u/unreadable: Permission denied\n", 1, "none"},
        {"cat: /home/u/.ssh/root: Permission denied\n", 1, "none"},
        {"bash: line 1: /cd/x: Read-only file system\n", 1, "none"},
        {"bash: line 1: /home/u/script: Permission denied\n", 126, "none"},
        {"bash: ./script: Permission denied\n", 126, "none"},
        {"cp: cannot open '/home/u/sandbox/x': Permission denied\n", 1, "none"},
        /* inside of a root the sandbox refuses nothing */
        {"bash: line 1: x: Permission denied\n", 1, "none"},
        {"rm: cannot remove 'two words': Permission denied\n", 1, "none"},
        /* the last one counts; what succeeded has not failed */
        {"cat: /home/u/.ssh/id: Permission denied\nbash: line 2: /home/u/x: Read-only file system\ndone\n", 1, "write path /home/u/x"},
        {"bash: line 1: /home/u/x: Read-only file system\n", 0, "none"},
        {"", 1, "none"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(plan_of(CONFINE_WORKSPACE_WRITE, false), &rows[i]);
    static const struct shown nothing_writable[] = {
        {"touch: cannot touch 'x': Permission denied\n", 1, "write path /w/x"},
        {"bash: line 1: two words: Permission denied\n", 1, "write path /w/two words"},
        {"/bin/sh: 1: cannot create x: Permission denied\n", 2, "write path /w/x"},
        /* a sentence is no name */
        {"/bin/bash: line 1: kill: (19029) - Operation not permitted\n", 1, "unknown words operation not permitted"},
        {"script: failed to open a terminal: Permission denied\n", 1, "unknown words permission denied"}};
    for (size_t i = 0; i < sizeof nothing_writable / sizeof *nothing_writable; i++)
        expect(plan_of(CONFINE_READ_ONLY, false), &nothing_writable[i]);
}

TEST(network_and_calls)
{
    static const struct shown rows[] = {
        {"curl: (6) Could not resolve host: example.org\n", 6, "network plan -"},
        {"ping: socket: Operation not permitted\n", 2, "network plan -"},
        {"bash: connect: Operation not permitted\nbash: line 1: /dev/tcp/127.0.0.1/80: Operation not permitted\n", 1, "network plan -"},
        {"curl: (7) Failed to connect to 1.2.3.4 port 80 after 0 ms: Couldn't connect to server\n", 7, "network plan -"},
        {"Error: connect EPERM 1.2.3.4:80 - Local (undefined:undefined)\n    at internalConnect (node:net:1094:16) {\n  errno: -1\n}\n", 1, "network plan -"},
        {"  File \"/usr/lib/python3.11/socket.py\", line 232, in __init__\n    _socket.socket.__init__(self, family, type, proto, fileno)\n"
         "PermissionError: [Errno 1] Operation not permitted\n", 1, "network plan -"},
        {"fatal: unable to connect to 127.0.0.1:\n127.0.0.1[0: 127.0.0.1]: errno=Operation not permitted\n\n", 128, "network plan -"},
        {"urllib.error.URLError: <urlopen error [Errno 1] Operation not permitted>\n", 1, "network plan -"},
        {"npm ERR! request failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org\n", 1, "network plan -"},
        {"strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted\n", 1, "system_call plan ptrace"},
        {"", 1000 + SIGSYS, "system_call seccomp -"},
        {"Bad system call\n", 128 + SIGSYS, "system_call seccomp -"},
        {"", 1000 + SIGSEGV, "none"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(plan_of(CONFINE_READ_ONLY, false), &rows[i]);
    expect(plan_of(CONFINE_READ_ONLY, true), &(struct shown){"curl: (6) Could not resolve host: example.org\n", 6, "none"});
}

TEST(words_are_the_last_resort)
{
    static const struct shown rows[] = {
        {"make: Operation not permitted\n", 2, "unknown words operation not permitted"},
        {"PermissionError: [Errno 1] Operation not permitted\n", 1, "unknown words operation not permitted"},
        {"chrome: no usable sandbox! see docs\n", 127, "unknown words sandbox"},
        {"permission denied\nbash: line 1: /home/u/x: Read-only file system\npermission denied\n", 1, "write path /home/u/x"},
        {"ls: /srv/sandbox/x.c: no such file\n", 2, "none"}, /* a part of a name */
        {"cat: /proc/1/mem: Permission denied\n", 1, "unknown words permission denied"},
        {"error: the tests failed\n", 1, "none"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(plan_of(CONFINE_WORKSPACE_WRITE, false), &rows[i]);
}

/* However much is printed, few files are looked at, and the rest of the words costs nothing. */
TEST(work_is_bounded)
{
    struct buf output = BUF_INIT;
    probed = 0;
    for (int i = 0; i < 5000; i++)
        buf_printf(&output, "cat: /nowhere/%d: Permission denied '/a' '/b' \xff\xfe `\n", i);
    expect(plan_of(CONFINE_READ_ONLY, false), &(struct shown){output.data, 1, "unknown words permission denied"});
    assert_in_range(probed, 1, 8);
    buf_fini(&output);
}

TEST(words_for_people)
{
    struct confine_plan plan = plan_of(CONFINE_WORKSPACE_WRITE, false);
    struct denial denial = {.operation = DENIAL_WRITE, .subject = xstrdup("/x")};
    struct buf out = BUF_INIT;
    denial_words(&denial, &plan, &out);
    assert_string_equal(out.data, "the sandbox (workspace-write) refused to write '/x', which lies outside of what may be written");
    denial_fini(&denial);
    buf_fini(&out);
    confine_plan_fini(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_that_are_named), cmocka_unit_test(network_and_calls),
                                       cmocka_unit_test(words_are_the_last_resort), cmocka_unit_test(work_is_bounded),
                                       cmocka_unit_test(programs_that_say_nothing),
                                       cmocka_unit_test(words_for_people)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
