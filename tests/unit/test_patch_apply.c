/* apply: patches on real files: what is written, what is refused, and that a failure leaves everything as it was. */
#include "base/buf.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "patch/apply.h"
#include "tests/lib/test.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATCH(body) "*** Begin Patch\n" body "*** End Patch\n"
#define MISSING "No such file or directory (os error 2)"

static char root[] = "/tmp/muxd-patch-XXXXXX", *dir;
static struct patch_options options;

static char *at(const char *name)
{
    return xasprintf("%s/%s", dir, name);
}

static void put(const char *name, const char *text, mode_t mode)
{
    char *path = at(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    free(path);
}

static void make_dir(const char *name)
{
    char *path = at(name);
    assert_int_equal(mkdir(path, 0755), 0);
    free(path);
}

static void make_link(const char *target, const char *name)
{
    char *path = at(name);
    assert_int_equal(symlink(target, path), 0);
    free(path);
}

static struct stat look(const char *name)
{
    struct stat info;
    char *path = at(name);
    if (lstat(path, &info) < 0)
        info.st_mode = 0;
    free(path);
    return info;
}

/* want NULL: no such file. */
static void expect_file(const char *name, const char *want)
{
    char *path = at(name), text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (want == NULL) {
        assert_int_equal(fd, -1);
    } else {
        assert_true(fd >= 0);
        ssize_t size = fd_read_all(fd, text, sizeof text - 1);
        close(fd);
        assert_true(size >= 0);
        text[size] = '\0';
        assert_string_equal(text, want);
    }
    free(path);
}

/* The names in a directory, so that no stray file of ours stays behind. */
static void expect_entries(const char *name, int want)
{
    char *path = at(name);
    DIR *stream = opendir(path);
    int count = 0;
    assert_non_null(stream);
    while (readdir(stream) != NULL)
        count++;
    closedir(stream);
    free(path);
    assert_int_equal(count - 2, want);
}

static void expect_success(const char *text, const char *want)
{
    struct patch_plan *plan;
    struct patch_failure failure;
    if (patch_prepare(&plan, text, strlen(text), &options, &failure) < 0 || patch_commit(plan, &failure) < 0)
        fail_msg("%s", failure.reply);
    struct buf out = BUF_INIT;
    assert_true(patch_success(plan, &out));
    assert_string_equal(out.data, want);
    buf_fini(&out);
    patch_plan_free(plan);
    patch_failure_fini(&failure);
}

/* %s in what is wanted is the directory. program NULL: not looked at. */
static void expect_failure(const char *text, enum patch_stage stage, const char *program, const char *reply)
{
    struct patch_plan *plan;
    struct patch_failure failure;
    int rc = patch_prepare(&plan, text, strlen(text), &options, &failure);
    if (rc == 0)
        rc = patch_commit(plan, &failure);
    assert_int_not_equal(rc, 0);
    assert_int_equal(rc, failure.code);
    assert_int_equal(failure.stage, stage);
    const char *const wants[] = {program, reply}, *const gots[] = {failure.program, failure.reply};
    for (int i = 0; i < 2; i++) {
        struct buf want = BUF_INIT;
        const char *hole;
        for (const char *from = wants[i]; from != NULL; from = hole != NULL ? hole + 2 : NULL) {
            hole = strstr(from, "%s");
            buf_append(&want, from, hole != NULL ? (size_t)(hole - from) : strlen(from));
            if (hole != NULL)
                buf_append_text(&want, dir);
        }
        if (wants[i] != NULL)
            assert_string_equal(gots[i], want.data);
        buf_fini(&want);
    }
    patch_plan_free(plan);
    patch_failure_fini(&failure);
}

static int remove_all(const char *path)
{
    DIR *stream = opendir(path);
    for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        char *below = xasprintf("%s/%s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && unlink(below) < 0 && (errno == EISDIR || errno == EPERM))
            remove_all(below);
        free(below);
    }
    if (stream != NULL)
        closedir(stream);
    return rmdir(path);
}

static int set_up(void **state)
{
    static int number;
    (void)state;
    dir = xasprintf("%s/%d", root, number++);
    options = (struct patch_options){.cwd = dir, .umask_bits = 022};
    return mkdir(dir, 0755);
}

static int tear_down(void **state)
{
    (void)state;
    int rc = remove_all(dir);
    free(dir);
    return rc;
}

TEST(the_first_worked_example)
{
    put("modify.txt", "line1\nline2\n", 0644);
    put("delete.txt", "obsolete\n", 0644);
    expect_success(
        PATCH("*** Add File: nested/new.txt\n+created\n*** Delete File: delete.txt\n*** Update File: modify.txt\n@@\n-line2\n+changed\n"),
        "Success. Updated the following files:\nA nested/new.txt\nM modify.txt\nD delete.txt\n");
    expect_file("nested/new.txt", "created\n");
    expect_file("modify.txt", "line1\nchanged\n");
    expect_file("delete.txt", NULL);
    expect_entries(".", 2);
    expect_entries("nested", 1);
    assert_int_equal(look("nested").st_mode & 07777, 0755);
    assert_int_equal(look("nested/new.txt").st_mode & 07777, 0644);
}

TEST(the_fifth_worked_example)
{
    expect_failure(PATCH("*** Add File: a/b/created.txt\n+hello\n*** Update File: missing.txt\n@@\n-old\n+new\n"), PATCH_STAGE_VERIFY,
                   "Failed to read file to update %s/missing.txt: " MISSING,
                   "apply_patch verification failed: Failed to read file to update %s/missing.txt: " MISSING);
    expect_entries(".", 0); /* where Codex's program leaves created.txt */
}

TEST(failures_and_their_texts)
{
    put("modify.txt", "line1\n", 0644);
    make_dir("d");
    expect_failure(PATCH(""), PATCH_STAGE_REJECTED, "No files were modified.", "patch rejected: empty patch");
    expect_failure(
        PATCH("*** Frobnicate File: foo\n"), PATCH_STAGE_PARSE,
        "Invalid patch hunk on line 2: '*** Frobnicate File: foo' is not a valid hunk header. Valid hunk headers: '*** Add File: "
        "{path}', '*** Delete File: {path}', '*** Update File: {path}'",
        "apply_patch verification failed: invalid hunk at line 2, '*** Frobnicate File: foo' is not a valid hunk header. Valid hunk "
        "headers: '*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'");
    expect_failure(PATCH("*** Update File: modify.txt\n@@\n-missing\n+x\n"), PATCH_STAGE_VERIFY,
                   "Failed to find expected lines in %s/modify.txt:\nmissing",
                   "apply_patch verification failed: Failed to find expected lines in %s/modify.txt:\nmissing");
    expect_failure(PATCH("*** Update File: ./d/../modify.txt\n@@ f\n-x\n"), PATCH_STAGE_VERIFY,
                   "Failed to find context 'f' in %s/modify.txt",
                   "apply_patch verification failed: Failed to find context 'f' in %s/modify.txt");
    expect_failure(PATCH("*** Delete File: missing\n"), PATCH_STAGE_VERIFY, "Failed to delete file %s/missing",
                   "apply_patch verification failed: Failed to read %s/missing: " MISSING);
    expect_failure(PATCH("*** Delete File: d\n"), PATCH_STAGE_VERIFY, "Failed to delete file %s/d",
                   "apply_patch verification failed: Failed to read %s/d: path `%s/d` is not a file");
    expect_failure(PATCH("*** Add File: d\n+x\n"), PATCH_STAGE_COMMIT, "Failed to write file %s/d",
                   "Failed to write file %s/d: Is a directory (os error 21)");
    expect_failure(PATCH("*** Add File: d\n+x\n*** Delete File: missing\n"), PATCH_STAGE_VERIFY, NULL, NULL);
    expect_failure("", PATCH_STAGE_PARSE, "Invalid patch: The last line of the patch must be '*** End Patch'", NULL);
    expect_failure("*** Begin Patch\n*** Environment ID: local\n*** Add File: a\n+x\n*** End Patch\n", PATCH_STAGE_REJECTED, NULL,
                   "apply_patch environment selection is unavailable for this turn");
    expect_failure(PATCH("*** Update File: d\n+x\n"), PATCH_STAGE_VERIFY,
                   "Failed to read file to update %s/d: path `%s/d` is not a file", NULL);
    expect_failure(PATCH("*** Update File: modify.txt/x\n+x\n"), PATCH_STAGE_VERIFY,
                   "Failed to read file to update %s/modify.txt/x: Not a directory (os error 20)", NULL);
    expect_failure(PATCH("*** Add File: /\n+x\n"), PATCH_STAGE_COMMIT, "Failed to write file /", NULL);
    expect_failure(PATCH("*** Add File: a\n+x\n*** Delete File: ./d/../modify.txt\n*** Update File: modify.txt\n+x\n"), PATCH_STAGE_PARSE,
                   "Invalid patch: multiple operations target %s/modify.txt",
                   "apply_patch verification failed: invalid patch: multiple operations target %s/modify.txt");
    expect_failure(PATCH("*** Update File: modify.txt\n*** Move to: n/a\n+x\n*** Add File: n/a\n+x\n"), PATCH_STAGE_PARSE,
                   "Invalid patch: multiple operations target %s/n/a", NULL);
    expect_file("modify.txt", "line1\n");
    expect_entries(".", 2);
}

TEST(adds_and_moves)
{
    put("old", "a\nb\n", 0750);
    put("there", "old contents\n", 0600);
    put("over", "x\n", 0640);
    expect_success(PATCH("*** Update File: old\n*** Move to: n/m/new\n-b\n+c\n*** Add File: over\n+y\n"),
                   "Success. Updated the following files:\nA over\nM n/m/new\n");
    expect_file("old", NULL);
    expect_file("n/m/new", "a\nc\n");
    assert_int_equal(look("n/m/new").st_mode & 07777, 0750);
    expect_file("over", "y\n");
    assert_int_equal(look("over").st_mode & 07777, 0640);
    expect_success(PATCH("*** Update File: n/m/new\n*** Move to: there\n a\n"), "Success. Updated the following files:\nM there\n");
    expect_file("there", "a\nc\n");
    assert_int_equal(look("there").st_mode & 07777, 0750);
    expect_file("n/m/new", NULL);
    expect_success(PATCH("*** Update File: there\n*** Move to: ./there\n-a\n+b\n"), "Success. Updated the following files:\nM ./there\n");
    expect_file("there", "b\nc\n");
    expect_entries(".", 3);
    expect_entries("n/m", 0);
    options.umask_bits = 077;
    char *text = xasprintf(PATCH("*** Add File: %s/p/q\n"), dir),
         *want = xasprintf("Success. Updated the following files:\nA %s/p/q\n", dir);
    expect_success(text, want);
    free(text);
    free(want);
    expect_file("p/q", "");
    assert_int_equal(look("p").st_mode & 07777, 0700);
    assert_int_equal(look("p/q").st_mode & 07777, 0600);
}

TEST(an_update_keeps_the_mode)
{
    put("script", "#!/bin/sh\r\nexit 0", 04755);
    options.endings = PATCH_ENDINGS_EXACT;
    struct stat before = look("script");
    expect_success(PATCH("*** Update File: script\n #!/bin/sh\n"), "Success. Updated the following files:\nM script\n");
    assert_true(look("script").st_ino == before.st_ino); /* nothing changes: nothing is written */
    expect_success(PATCH("*** Update File: script\n-exit 0\n+exit 1\n"), "Success. Updated the following files:\nM script\n");
    expect_file("script", "#!/bin/sh\r\nexit 1");
    assert_int_equal(look("script").st_mode & 07777, 04755);
    expect_entries(".", 1);
}

TEST(links_are_followed)
{
    put("real", "x\n", 0640);
    make_dir("d");
    make_link("real", "link");
    make_link("link", "d/far");
    make_link("d", "to_d");
    expect_failure(PATCH("*** Update File: d/far\n-x\n+y\n"), PATCH_STAGE_VERIFY, NULL, NULL); /* leads to d/link, which isn't there */
    expect_success(PATCH("*** Update File: link\n-x\n+y\n"), "Success. Updated the following files:\nM link\n");
    expect_file("real", "y\n");
    assert_true(S_ISLNK(look("link").st_mode) && (look("real").st_mode & 07777) == 0640);
    expect_success(PATCH("*** Add File: d/far\n+made\n"), "Success. Updated the following files:\nA d/far\n");
    expect_file("d/link", "made\n");
    expect_success(PATCH("*** Add File: link\n+z\n"), "Success. Updated the following files:\nA link\n");
    expect_file("real", "z\n");
    expect_failure(PATCH("*** Update File: link\n-z\n+y\n*** Update File: real\n-z\n+w\n"), PATCH_STAGE_PARSE,
                   "Invalid patch: multiple operations target %s/real", NULL);
    expect_success(PATCH("*** Update File: link\n*** Move to: moved\n-z\n+a\n"), "Success. Updated the following files:\nM moved\n");
    assert_int_equal(look("link").st_mode, 0); /* the link is gone, not what it led to */
    expect_file("real", "z\n");
    expect_file("moved", "a\n");
    make_link("real", "link");
    expect_success(PATCH("*** Delete File: link\n"), "Success. Updated the following files:\nD link\n");
    assert_int_equal(look("link").st_mode, 0);
    expect_file("real", "z\n");
    make_link("round", "round");
    expect_failure(PATCH("*** Add File: round\n+y\n"), PATCH_STAGE_COMMIT, "Failed to write file %s/round", NULL);
    expect_success(PATCH("*** Add File: to_d/new\n+y\n"), "Success. Updated the following files:\nA to_d/new\n");
    expect_file("d/new", "y\n");
    expect_failure(PATCH("*** Delete File: to_d/new\n*** Update File: d/new\n-y\n+z\n"), PATCH_STAGE_PARSE,
                   "Invalid patch: multiple operations target %s/d/new", NULL);
    char *fifo = at("fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    free(fifo);
    expect_failure(PATCH("*** Update File: fifo\n+y\n"), PATCH_STAGE_VERIFY,
                   "Failed to read file to update %s/fifo: path `%s/fifo` is not a file", NULL);
    expect_entries(".", 6);
}

/* Where a link leads decides whether it may be written. */
TEST(links_do_not_leave_the_roots)
{
    make_dir("in");
    put("out", "x\n", 0644);
    make_link("../out", "in/link");
    char *in = at("in");
    const char *const in_only[] = {in, NULL};
    options.cwd = in;
    options.roots = in_only;
    expect_failure(PATCH("*** Update File: link\n-x\n+y\n"), PATCH_STAGE_REJECTED, NULL, NULL);
    expect_file("out", "x\n");
    expect_success(PATCH("*** Delete File: link\n"), "Success. Updated the following files:\nD link\n");
    expect_file("out", "x\n");
    options.cwd = dir;
    free(in);
}

/* Swaps a directory and a link that leads out of the root, until it is killed. */
static pid_t swap_for_ever(const char *one, const char *other)
{
    pid_t pid = fork();
    while (pid == 0)
        renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
    assert_true(pid > 0);
    return pid;
}

TEST(a_race_does_not_leave_the_roots)
{
    make_dir("out");
    make_dir("in");
    make_dir("in/d");
    make_link("../out", "in/l");
    char *in = at("in"), *one = at("in/d"), *other = at("in/l");
    const char *const in_only[] = {in, NULL};
    options.cwd = in;
    options.roots = in_only;
    expect_success(PATCH("*** Add File: d/x\n+x\n"), "Success. Updated the following files:\nA d/x\n");
    pid_t pid = swap_for_ever(one, other);
    for (int i = 0; i < 5000; i++) {
        struct patch_plan *plan;
        struct patch_failure failure;
        const char *text = PATCH("*** Add File: d/x\n+x\n");
        if (patch_prepare(&plan, text, strlen(text), &options, &failure) == 0)
            patch_commit(plan, &failure);
        patch_plan_free(plan);
        patch_failure_fini(&failure);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    expect_entries("out", 0);
    options.cwd = dir;
    free(in);
    free(one);
    free(other);
}

TEST(hard_links_stay)
{
    put("f", "a\nb\n", 0750);
    put("late", "late\n", 0644);
    char *f = at("f"), *g = at("g");
    assert_int_equal(link(f, g), 0);
    expect_success(PATCH("*** Update File: f\n-b\n+longer than it was\n"), "Success. Updated the following files:\nM f\n");
    expect_file("g", "a\nlonger than it was\n");
    expect_success(PATCH("*** Add File: g\n+s\n"), "Success. Updated the following files:\nA g\n");
    expect_file("f", "s\n");
    assert_true(look("f").st_ino == look("g").st_ino && (look("f").st_mode & 07777) == 0750);
    struct patch_plan *plan;
    struct patch_failure failure;
    const char *text = PATCH("*** Update File: f\n-s\n+t\n*** Update File: late\n-late\n+x\n");
    assert_int_equal(patch_prepare(&plan, text, strlen(text), &options, &failure), 0);
    put("late", "changed\n", 0644);
    assert_int_equal(patch_commit(plan, &failure), ERR_SYSTEM);
    patch_plan_free(plan);
    patch_failure_fini(&failure);
    expect_file("g", "s\n"); /* put back */
    assert_true(look("f").st_ino == look("g").st_ino);
    expect_entries(".", 3);
    free(f);
    free(g);
}

TEST(a_file_in_several_sections)
{
    options.sections = true;
    put("m", "1\n2\n", 0640);
    struct stat before = look("m");
    expect_success(PATCH("*** Update File: m\n-1\n+one\n*** Update File: ./m\n-2\n+two\n"),
                   "Success. Updated the following files:\nM m\nM ./m\n");
    expect_file("m", "one\ntwo\n");
    assert_int_equal(look("m").st_mode, before.st_mode);
    expect_success(PATCH("*** Update File: m\n-one\n+1\n*** Update File: m\n-1\n+one\n"), "Success. Updated the following files:\nM m\nM m\n");
    expect_file("m", "one\ntwo\n");
    expect_success(PATCH("*** Delete File: m\n*** Add File: m\n+new\n"), "Success. Updated the following files:\nA m\nD m\n");
    expect_file("m", "new\n");
    expect_success(PATCH("*** Add File: d/n\n+1\n*** Update File: d/n\n*** Move to: d/o\n-1\n+2\n*** Update File: d/o\n-2\n+3\n"),
                   "Success. Updated the following files:\nA d/n\nM d/o\nM d/o\n");
    expect_file("d/n", NULL);
    expect_file("d/o", "3\n");
    assert_int_equal(look("d/o").st_mode & 07777, 0644);
    expect_success(PATCH("*** Add File: n\n+1\n*** Delete File: n\n*** Update File: m\n-new\n+x\n*** Delete File: m\n"),
                   "Success. Updated the following files:\nA n\nM m\nD n\nD m\n");
    expect_entries(".", 1);
    expect_failure(PATCH("*** Add File: n\n+1\n*** Delete File: n\n*** Update File: n\n-1\n+2\n"), PATCH_STAGE_VERIFY,
                   "Failed to read file to update %s/n: " MISSING, NULL);
    expect_failure(PATCH("*** Add File: n\n+1\n*** Update File: n\n-2\n+3\n"), PATCH_STAGE_VERIFY, NULL, NULL);
    expect_success("*** Begin Patch\n*** Environment ID: local\n*** Add File: n\n+x\n*** End Patch\n",
                   "Success. Updated the following files:\nA n\n");
    expect_entries(".", 2);
    options.sections = false;
    expect_failure(PATCH("*** Add File: q\n+1\n*** Update File: q\n-1\n+2\n"), PATCH_STAGE_PARSE, "Invalid patch: multiple operations target %s/q",
                   NULL);
}

TEST(roots_bound_it)
{
    const char *outside = "patch rejected: writing outside of the project; rejected by user approval settings";
    make_dir("in");
    make_dir("in2");
    make_dir("in/sub");
    char *in = at("in"), *in2 = at("in2");
    const char *const in_only[] = {in, NULL};
    make_link(in2, "in/out");
    make_link("sub", "in/back");
    put("in2/x", "x\n", 0644);
    options.cwd = in;
    options.roots = in_only;
    expect_failure(PATCH("*** Add File: ../x\n+x\n"), PATCH_STAGE_REJECTED, NULL, outside);
    expect_failure(PATCH("*** Add File: /nonexistent-muxd/x\n+x\n"), PATCH_STAGE_REJECTED, NULL, outside);
    expect_failure(PATCH("*** Add File: out/x\n+x\n"), PATCH_STAGE_REJECTED, NULL, outside);
    expect_failure(PATCH("*** Add File: ../in2/y\n+x\n"), PATCH_STAGE_REJECTED, NULL, outside);
    expect_failure(PATCH("*** Add File: ok\n+x\n*** Update File: out/x\n*** Move to: x\n-x\n+y\n"), PATCH_STAGE_REJECTED, NULL, outside);
    expect_entries("in", 3);
    expect_success(PATCH("*** Add File: back/new/x\n+x\n"), "Success. Updated the following files:\nA back/new/x\n");
    expect_file("in/sub/new/x", "x\n");
    struct patch_plan *plan;
    struct patch_failure failure;
    const char *text = PATCH("*** Update File: out/x\n*** Move to: y\n-x\n+y\n");
    assert_int_equal(patch_prepare(&plan, text, strlen(text), &options, &failure), ERR_DENIED);
    struct patch_file file = patch_plan_file(plan, 0);
    assert_int_equal(patch_plan_count(plan), 1);
    assert_true(file.outside && file.moved && !file.overwrites && file.kind == PATCH_UPDATE);
    assert_string_equal(file.path, "y");
    assert_string_equal(file.old_text, "x\n");
    assert_string_equal(file.new_text, "y\n");
    assert_string_equal(file.source + strlen(in), "/out/x");
    assert_string_equal(file.target + strlen(in), "/y");
    patch_plan_free(plan);
    patch_failure_fini(&failure);
    options.allow_outside = true;
    expect_success(text, "Success. Updated the following files:\nM y\n");
    expect_file("in2/x", NULL);
    options.allow_outside = false;
    options.read_only = true;
    expect_failure(PATCH("*** Add File: ok\n+x\n"), PATCH_STAGE_REJECTED, NULL,
                   "patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings");
    options.cwd = dir;
    free(in);
    free(in2);
}

/* A patch whose last file is changed by somebody between verification and writing. */
TEST(a_failure_puts_everything_back)
{
    put("a", "a\n", 0640);
    put("b", "b\n", 0644);
    put("c", "c\n", 0644);
    put("d", "d\n", 0644);
    const char *text = PATCH(
        "*** Update File: a\n-a\n+A\n*** Delete File: b\n*** Add File: n/o/new\n+x\n*** Update File: c\n*** Move to: n/c\n-c\n+C\n"
        "*** Update File: d\n-d\n+D\n");
    for (int how = 0; how < 3; how++) {
        struct patch_plan *plan;
        struct patch_failure failure;
        struct stat before = look("a");
        assert_int_equal(patch_prepare(&plan, text, strlen(text), &options, &failure), 0);
        char *path = at("d");
        if (how == 0)
            put("d", "longer\n", 0644);
        else
            assert_int_equal(unlink(path), 0);
        if (how == 2)
            make_dir("d");
        assert_int_equal(patch_commit(plan, &failure), ERR_SYSTEM);
        assert_int_equal(failure.stage, PATCH_STAGE_COMMIT);
        char *program = xasprintf("Failed to write file %s", path);
        assert_string_equal(failure.program, program);
        assert_non_null(strstr(failure.reply, "somebody changed it"));
        assert_non_null(strstr(failure.cause, "somebody changed it"));
        free(program);
        free(path);
        patch_plan_free(plan);
        patch_failure_fini(&failure);
        expect_file("a", "a\n");
        assert_true(look("a").st_ino == before.st_ino && look("a").st_mode == before.st_mode);
        expect_file("b", "b\n");
        expect_file("c", "c\n");
        expect_file("n", NULL);
        expect_entries(".", how == 1 ? 3 : 4);
        if (how < 2)
            put("d", "d\n", 0644);
    }
}

TEST(what_appears_is_not_overwritten)
{
    struct patch_plan *plan;
    struct patch_failure failure;
    const char *text = PATCH("*** Add File: a\n+a\n*** Add File: b\n+b\n");
    assert_int_equal(patch_prepare(&plan, text, strlen(text), &options, &failure), 0);
    put("b", "mine\n", 0644);
    assert_int_equal(patch_commit(plan, &failure), ERR_SYSTEM);
    patch_plan_free(plan);
    patch_failure_fini(&failure);
    expect_file("a", NULL);
    expect_file("b", "mine\n");
    expect_failure(PATCH("*** Add File: f\n+x\n*** Add File: f/g\n+x\n"), PATCH_STAGE_COMMIT, "Failed to write file %s/f", NULL);
    expect_entries(".", 1);
}

/* What only holds for somebody who isn't root. */
TEST(permissions_hold)
{
    put("readonly", "x\n", 0444);
    make_dir("closed");
    put("closed/f", "x\n", 0644);
    uid_t me = geteuid();
    make_dir("open");
    char *paths[] = {at("readonly"), at("closed"), at("closed/f"), at("open")};
    for (int i = 0; me == 0 && i < 4; i++)
        assert_int_equal(chown(paths[i], 65534, (gid_t)-1), 0);
    assert_int_equal(chmod(paths[1], 0555), 0);
    if (me == 0)
        assert_int_equal(seteuid(65534), 0);
    expect_failure(PATCH("*** Update File: readonly\n-x\n+y\n"), PATCH_STAGE_COMMIT, "Failed to write file %s/readonly",
                   "Failed to write file %s/readonly: Permission denied (os error 13)");
    expect_failure(PATCH("*** Update File: closed/f\n-x\n+y\n"), PATCH_STAGE_COMMIT, "Failed to write file %s/closed/f",
                   "Failed to write file %s/closed/f: Permission denied (os error 13)");
    expect_failure(PATCH("*** Delete File: closed/f\n"), PATCH_STAGE_COMMIT, "Failed to delete file %s/closed/f", NULL);
    expect_failure(PATCH("*** Update File: closed/f\n*** Move to: open/f\n-x\n+y\n"), PATCH_STAGE_COMMIT,
                   "Failed to remove original %s/closed/f", "Failed to remove original %s/closed/f: Permission denied (os error 13)");
    expect_entries("open", 0);
    if (me == 0)
        assert_int_equal(seteuid(me), 0);
    expect_file("readonly", "x\n");
    expect_file("closed/f", "x\n");
    assert_int_equal(chmod(paths[1], 0755), 0);
    for (int i = 0; i < 4; i++)
        free(paths[i]);
}

TEST(no_descriptor_stays)
{
    int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(before);
    expect_success(PATCH("*** Add File: a/b/c\n+x\n*** Add File: d/e\n+x\n"), "Success. Updated the following files:\nA a/b/c\nA d/e\n");
    expect_failure(PATCH("*** Update File: a/b/c\n-y\n"), PATCH_STAGE_VERIFY, NULL, NULL);
    int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(after);
    assert_int_equal(before, after);
}

TEST(a_large_patch)
{
    struct buf text = BUF_INIT;
    buf_append_text(&text, "*** Begin Patch\n*** Add File: big\n");
    while (text.len < 10u << 20)
        buf_append_text(&text, "+a line of some length, so that there are not too many of them\n");
    buf_append_text(&text, "*** End Patch\n");
    expect_success(text.data, "Success. Updated the following files:\nA big\n");
    assert_true(look("big").st_size > 9 << 20);
    buf_fini(&text);
    char *path = at("big");
    assert_int_equal(truncate(path, PATCH_FILE_MAX + 1), 0);
    free(path);
    expect_failure(PATCH("*** Update File: big\n+x\n"), PATCH_STAGE_VERIFY, NULL,
                   "apply_patch verification failed: Failed to read file to update %s/big: too large: at most 33554432 bytes a file and "
                   "134217728 a patch");
}

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) != NULL && chmod(root, 0755) == 0 ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    return rmdir(root);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(the_first_worked_example),
                                       CASE(the_fifth_worked_example),
                                       CASE(failures_and_their_texts),
                                       CASE(adds_and_moves),
                                       CASE(an_update_keeps_the_mode),
                                       CASE(links_are_followed),
                                       CASE(links_do_not_leave_the_roots),
                                       CASE(a_race_does_not_leave_the_roots),
                                       CASE(hard_links_stay),
                                       CASE(a_file_in_several_sections),
                                       CASE(roots_bound_it),
                                       CASE(a_failure_puts_everything_back),
                                       CASE(what_appears_is_not_overwritten),
                                       CASE(permissions_hold),
                                       CASE(no_descriptor_stays),
                                       CASE(a_large_patch)};
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
