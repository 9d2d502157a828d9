/* path: where things lie with each variable set and unset, and which directories are refused. */
#include "base/mem.h"
#include "base/path.h"
#include "tests/lib/test.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/muxd-path-XXXXXX";

static char *below(const char *name)
{
    return path_join(root, name);
}

static void expect(char *path, const char *want)
{
    assert_string_equal(path, want);
    free(path);
}

static int clear_variables(void **state)
{
    (void)state;
    static const char *const names[] = {"MUXD_SOCKET", "MUXD_CONFIG", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    return setenv("HOME", root, 1);
}

TEST(finds_the_socket)
{
    char *run_user = xasprintf("/run/user/%u", (unsigned)geteuid());
    struct stat info;
    bool ours = stat(run_user, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
    free(run_user);
    char *common = xasprintf(ours ? "/run/user/%u/muxd/muxd.sock" : "/tmp/muxd-%u/muxd.sock", (unsigned)geteuid()), *runtime = below("runtime"), *link = below("runtime-link");
    char *want = below("runtime/muxd/muxd.sock"), *slash = below("runtime/");
    const char *unfit[] = {"relative", "", runtime /* there is none yet */, "/proc/self/environ"};
    expect(path_socket(NULL), common);
    for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++) {
        setenv("XDG_RUNTIME_DIR", unfit[i], 1);
        expect(path_socket(NULL), common);
    }
    assert_int_equal(mkdir(runtime, 0700), 0);
    const char *fit[] = {runtime, slash};
    for (size_t i = 0; i < sizeof fit / sizeof *fit; i++) {
        setenv("XDG_RUNTIME_DIR", fit[i], 1);
        expect(path_socket(NULL), want);
    }
    assert_int_equal(symlink(runtime, link), 0);
    setenv("XDG_RUNTIME_DIR", link, 1);
    char *through = path_join(link, "muxd/muxd.sock");
    expect(path_socket(NULL), through);
    assert_false(path_socket_is_named(NULL));
    if (geteuid() == 0)
        assert_int_equal(chown(runtime, 12345, 12345), 0); /* as after su(1) */
    else
        setenv("XDG_RUNTIME_DIR", "/", 1);
    expect(path_socket(NULL), common);
    setenv("MUXD_SOCKET", "here.sock", 1);
    expect(path_socket(NULL), "here.sock");
    assert_true(path_socket_is_named(NULL));
    expect(path_socket("/given"), "/given");
    assert_true(path_socket_is_named("/given"));
    char *const all[] = {common, runtime, link, want, slash, through};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

TEST(looks_where_another_login_may_have_it)
{
    unsigned uid = geteuid();
    char *places[] = {xasprintf("/run/user/%u/muxd/muxd.sock", uid), xasprintf("/tmp/muxd-%u/muxd.sock", uid)};
    for (int i = 0; i < 2; i++) {
        expect(path_socket_look(places[i], 0), places[0]);
        expect(path_socket_look(places[i], 1), places[1]);
        assert_null(path_socket_look(places[i], 2));
    }
    expect(path_socket_look("/other/muxd/muxd.sock", 0), "/other/muxd/muxd.sock");
    assert_null(path_socket_look("/other/muxd/muxd.sock", 1));
    free(places[0]);
    free(places[1]);
}

TEST(finds_the_state)
{
    char *want = below(".local/state/muxd");
    expect(path_state("/given"), "/given");
    expect(path_state(NULL), want);
    setenv("XDG_STATE_HOME", "not/absolute", 1);
    expect(path_state(NULL), want);
    setenv("XDG_STATE_HOME", "/state", 1);
    expect(path_state(NULL), "/state/muxd");
    free(want);
}

TEST(finds_the_config)
{
    char *home_config = below(".config"), *dir = below(".config/muxd"), *file = below(".config/muxd/muxd.ini");
    if (access("/etc/muxd/muxd.ini", F_OK) != 0)
        assert_null(path_config(NULL));
    expect(path_own_config(), file);
    assert_false(path_config_is_named(NULL) || path_config_is_named(file) || path_config_is_named("/etc/muxd/muxd.ini"));
    assert_true(path_config_is_named("/given.ini"));
    assert_int_equal(mkdir(home_config, 0700), 0);
    assert_int_equal(mkdir(dir, 0700), 0);
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    expect(path_config(NULL), file);
    setenv("XDG_CONFIG_HOME", home_config, 1);
    expect(path_config(NULL), file);
    setenv("MUXD_CONFIG", "/not/there.ini", 1);
    expect(path_config(NULL), "/not/there.ini");
    expect(path_config("given.ini"), "given.ini");
    free(home_config);
    free(dir);
    free(file);
}

TEST(splits_and_joins)
{
    static const struct {
        const char *path, *dir, *base;
    } rows[] = {
        {"a", ".", "a"}, {"a/b", "a", "b"}, {"/a", "/", "a"}, {"/", "/", ""}, {"a//b", "a", "b"}, {"/a/b/", "/a", ""}, {"", ".", ""},
        {"//a", "/", "a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect(path_dirname(rows[i].path), rows[i].dir);
        assert_string_equal(path_basename(rows[i].path), rows[i].base);
    }
    expect(path_join("/a", "b"), "/a/b");
    expect(path_join("/a/", "b"), "/a/b");
    expect(path_join("/a", "/b"), "/b");
    expect(path_join("", "b"), "b");
}

TEST(knows_the_home)
{
    expect(path_home(), root);
    unsetenv("HOME");
    char *home = path_home();
    assert_int_equal(home[0], '/');
    free(home);
}

static void expect_private(const char *name, const char *refused)
{
    char *dir = below(name);
    struct err err = {0};
    int result = path_private_dir(dir, "choose another", &err);
    if (refused) {
        assert_int_equal(result, ERR_SYSTEM);
        assert_int_equal(err.code, ERR_SYSTEM);
        if (!strstr(err.text, refused))
            fail_msg("%s", err.text);
    } else {
        struct stat info;
        assert_int_equal(result, 0);
        assert_int_equal(lstat(dir, &info), 0);
        assert_true(S_ISDIR(info.st_mode));
        assert_int_equal(info.st_mode & 0777, 0700);
    }
    free(dir);
}

TEST(makes_private_directories)
{
    mode_t old = umask(0);
    expect_private("one/two/three", NULL);
    expect_private("one/two/three/", NULL);
    expect_private("one//four", NULL);
    umask(old);
    char *link = below("link"), *target = below("one"), *file = below("file"), *open_dir = below("open");
    assert_int_equal(symlink(target, link), 0);
    expect_private("link", "symbolic link");
    expect_private("link/", "symbolic link");
    expect_private("link/.", "symbolic link");
    expect_private("link/inside", NULL); /* a parent may be a link */
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    expect_private("file", "can't be used as a directory");
    expect_private("file/inside", "can't be made");
    assert_int_equal(mkdir(open_dir, 0700), 0);
    assert_int_equal(chmod(open_dir, 0750), 0);
    expect_private("open", "open to others (mode 0750)");
    struct err err;
    assert_int_equal(path_private_dir("", "choose another", &err), ERR_SYSTEM);
    if (geteuid() == 0) {
        assert_int_equal(chmod(open_dir, 0700), 0);
        assert_int_equal(chown(open_dir, 12345, 12345), 0);
        expect_private("open", "belongs to user 12345");
    } else {
        assert_int_equal(path_private_dir("/", "choose another", &err), ERR_SYSTEM);
        assert_non_null(strstr(err.text, "belongs to user 0"));
    }
    free(link);
    free(target);
    free(file);
    free(open_dir);
}

/* Whoever removed it, as the text would say, would have removed it for nothing. */
TEST(a_limit_is_no_fault_of_the_directory)
{
    struct rlimit limit, none;
    struct err err = {0};
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int result = path_private_dir(root, "choose another", &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(result, ERR_SYSTEM);
    assert_non_null(strstr(err.text, "the limit of descriptors (RLIMIT_NOFILE=0) is reached"));
    assert_null(strstr(err.text, "remove it"));
}

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    char *command = xasprintf("rm -rf '%s'", root);
    int result = system(command);
    free(command);
    return result;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(finds_the_socket, clear_variables), cmocka_unit_test_setup(finds_the_state, clear_variables),
        cmocka_unit_test_setup(looks_where_another_login_may_have_it, clear_variables),
        cmocka_unit_test_setup(finds_the_config, clear_variables), cmocka_unit_test(splits_and_joins),
        cmocka_unit_test_setup(knows_the_home, clear_variables), cmocka_unit_test(makes_private_directories),
        cmocka_unit_test(a_limit_is_no_fault_of_the_directory),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
