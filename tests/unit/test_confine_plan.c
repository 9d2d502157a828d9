/* Sandboxes as data: what a wish means in a directory, which back-end may enforce it, and the command lines. */
#include "tests/lib/test.h"

#include "base/mem.h"
#include "confine/confine.h"
#include "confine/confine_words.h"
#include "confine/filter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static const char *const no_env[] = {NULL};

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/test_confine.XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    char command[96];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

/* borrowed until eight calls later */
static const char *at(const char *name)
{
    static char paths[8][128];
    static unsigned n;
    char *path = paths[n++ % 8];
    snprintf(path, sizeof paths[0], "%s%s%s", dir, *name ? "/" : "", name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(at(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool has(const struct strv *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], path) == 0)
            return true;
    return false;
}

static size_t place_of(const struct strv *list, const char *first, const char *second)
{
    for (size_t i = 0; i + 1 < list->count; i++)
        if (strcmp(list->items[i], first) == 0 && strcmp(list->items[i + 1], second) == 0)
            return i;
    fail_msg("no '%s %s'", first, second);
    return 0;
}

static int plan_in(struct confine_plan *plan, const char *cwd, const char *const *roots, struct err *err)
{
    const struct confine_wish wish = {.mode = CONFINE_WORKSPACE_WRITE, .no_temp = true, .roots = roots};
    const struct confine_place place = {.cwd = cwd, .env = no_env};
    return confine_plan_make(plan, &wish, &place, err);
}

TEST(words_and_modes)
{
    enum confine_mode mode;
    assert_true(confine_mode_by_word("read-only", &mode) && mode == CONFINE_READ_ONLY);
    assert_string_equal(confine_mode_word(CONFINE_WORKSPACE_WRITE), "workspace-write");
    assert_false(confine_mode_by_word("none", &mode));
}

TEST(protects_what_is_there_and_what_is_not)
{
    struct confine_plan plan;
    struct err err;
    mkdir(at("a"), 0700);
    mkdir(at("a/.git"), 0700);
    assert_int_equal(plan_in(&plan, at("a"), NULL, &err), 0);
    assert_int_equal(plan.roots.count, 1);
    assert_true(has(&plan.kept, at("a/.git")));
    assert_true(has(&plan.made, at("a/.muxd")) && has(&plan.made, at("a/.codex")) && has(&plan.made, at("a/.agents")));
    assert_false(has(&plan.made, at("a/.git")));
    confine_plan_fini(&plan);
    const char *const own[] = {at("a/.git"), NULL}; /* somebody wants to commit */
    assert_int_equal(plan_in(&plan, at("a"), own, &err), 0);
    assert_false(has(&plan.kept, at("a/.git")));
    confine_plan_fini(&plan);
}

TEST(follows_a_git_file)
{
    struct confine_plan plan;
    struct err err;
    mkdir(at("w"), 0700);
    mkdir(at("w/deep"), 0700);
    mkdir(at("w/deep/real"), 0700);
    write_file("w/.git", "gitdir: deep/real\n");
    assert_int_equal(plan_in(&plan, at("w"), NULL, &err), 0);
    assert_true(has(&plan.kept, at("w/.git")) && has(&plan.kept, at("w/deep/real")));
    assert_true(has(&plan.pinned, at("w/deep"))); /* or it could be moved away with what is mounted in it */
    confine_plan_fini(&plan);
    mkdir(at("shared"), 0700);
    write_file("w/deep/real/commondir", at("shared"));
    const char *const both[] = {at("shared"), at(""), NULL};
    assert_int_equal(plan_in(&plan, at("w"), both, &err), 0);
    assert_true(has(&plan.kept, at("shared")) && has(&plan.kept, at("w/deep/real")));
    confine_plan_fini(&plan);
}

TEST(refuses_what_it_cannot_protect)
{
    struct confine_plan plan;
    struct err err;
    mkdir(at("l"), 0700);
    assert_int_equal(symlink("/etc", at("l/.git")), 0);
    assert_int_equal(plan_in(&plan, at("l"), NULL, &err), ERR_ARGUMENTS);
    assert_non_null(strstr(err.text, "symbolic link"));
    assert_int_equal(plan_in(&plan, "/", NULL, &err), ERR_ARGUMENTS);
    const char *const missing[] = {at("nothing"), NULL};
    assert_int_equal(plan_in(&plan, dir, missing, &err), ERR_ARGUMENTS);
    const char *const relative[] = {"a", NULL};
    assert_int_equal(plan_in(&plan, dir, relative, &err), ERR_ARGUMENTS);
}

TEST(sorts_parents_first)
{
    struct confine_plan plan;
    struct err err;
    mkdir(at("r"), 0700);
    mkdir(at("r/inner"), 0700);
    const char *const roots[] = {at("r/./x/.."), NULL};
    mkdir(at("r/x"), 0700);
    assert_int_equal(plan_in(&plan, at("r/inner"), roots, &err), 0);
    assert_string_equal(plan.roots.items[0], at("r"));
    assert_string_equal(plan.roots.items[1], at("r/inner"));
    confine_plan_fini(&plan);
}

/* What a confined program has put in place of a directory must not widen the next plan. */
TEST(a_link_that_we_may_have_made_leads_to_no_root)
{
    struct confine_plan plan;
    struct err err;
    mkdir(at("p"), 0700);
    mkdir(at("p/in"), 0700);
    mkdir(at("far"), 0700);
    mkdir(at("far/deep"), 0700);
    assert_int_equal(symlink(at("far"), at("p/in/out")), 0);
    const char *const planted[] = {at("p/in/out"), NULL}, *const beyond[] = {at("p/in/out/deep"), NULL};
    assert_int_equal(plan_in(&plan, at("p"), planted, &err), ERR_ARGUMENTS);
    assert_non_null(strstr(err.text, "p/in/out' is a symbolic link"));
    assert_int_equal(plan_in(&plan, at("p"), beyond, &err), ERR_ARGUMENTS);
    assert_int_equal(plan_in(&plan, at("p/in/out"), NULL, &err), ERR_ARGUMENTS);
    const struct confine_wish read_only = {.mode = CONFINE_READ_ONLY};
    const struct confine_place place = {.cwd = at("p"), .begin = at("p/in/out"), .env = no_env};
    assert_int_equal(confine_plan_make(&plan, &read_only, &place, &err), 0); /* nothing is writable */
    assert_string_equal(plan.begin, at("far"));
    confine_plan_fini(&plan);
    struct stat st;
    if (geteuid() == 0 || lstat("/bin", &st) != 0 || !S_ISLNK(st.st_mode))
        return;
    const char *const of_root[] = {"/bin", NULL};
    assert_int_equal(plan_in(&plan, at("p"), of_root, &err), 0);
    assert_true(has(&plan.roots, "/usr/bin"));
    confine_plan_fini(&plan);
}

TEST(hides_the_daemon)
{
    struct confine_plan plan;
    struct err err;
    mkdir(at("run"), 0700);
    mkdir(at("run/work"), 0700);
    mkdir(at("state"), 0700);
    write_file("run/sock", "");
    const struct confine_wish wish = {.mode = CONFINE_WORKSPACE_WRITE};
    struct confine_place place = {
        .cwd = at("state"), .env = no_env, .socket = at("run/sock"), .state_dir = at("none")};
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), 0);
    assert_true(has(&plan.hidden_dirs, at("run")));
    assert_true(has(&plan.pinned, dir)); /* inside the root /tmp */
    confine_plan_fini(&plan);
    place.cwd = at("run/work"); /* the directory can't be hidden, the socket is */
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), 0);
    assert_true(!has(&plan.hidden_dirs, at("run")) && has(&plan.hidden_files, at("run/sock")));
    confine_plan_fini(&plan);
}

TEST(hides_nothing_twice)
{
    struct confine_plan plan;
    struct err err;
    char runtime[160];
    mkdir(at("user"), 0700);
    mkdir(at("user/muxd"), 0700);
    mkdir(at("home"), 0700);
    mkdir(at("keys"), 0700);
    write_file("user/muxd/muxd.sock", "");
    write_file("keys/id", "");
    snprintf(runtime, sizeof runtime, "XDG_RUNTIME_DIR=%s", at("user"));
    const char *const env[] = {runtime, NULL}, *const unreadable[] = {at("keys/id"), at("keys"), NULL};
    const struct confine_wish wish = {.mode = CONFINE_WORKSPACE_WRITE, .no_temp = true, .unreadable = unreadable};
    const struct confine_place place = {.cwd = at("home"), .env = env, .socket = at("user/muxd/muxd.sock")};
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), 0);
    assert_true(has(&plan.hidden_dirs, at("user")) && has(&plan.hidden_dirs, at("keys")));
    assert_false(has(&plan.hidden_dirs, at("user/muxd")) || has(&plan.hidden_files, at("keys/id")));
    confine_plan_fini(&plan);
}

/* How many of the hidden paths lie in the test's directory: doors of this user lie elsewhere, where there are any. */
static size_t hidden_here(const struct strv *hidden)
{
    size_t count = 0;
    for (size_t i = 0; i < hidden->count; i++)
        count += confine_is_below(hidden->items[i], dir);
    return count;
}

/* Which of the names below glob/ the pattern hides; "" : none. */
static void hides(const char *pattern, const char *const *readable, const char *const *names)
{
    struct confine_plan plan;
    struct err err = {0};
    const char *const unreadable[] = {pattern, NULL}, *const env[] = {NULL};
    const struct confine_wish wish = {
        .mode = CONFINE_WORKSPACE_WRITE, .no_temp = true, .unreadable = unreadable, .readable = readable};
    const struct confine_place place = {.cwd = at("glob"), .env = env};
    if (confine_plan_make(&plan, &wish, &place, &err) != 0)
        fail_msg("%s: %s", pattern, err.text);
    size_t count = 0;
    for (; names[count]; count++)
        if (!has(&plan.hidden_files, at(names[count])) && !has(&plan.hidden_dirs, at(names[count])))
            fail_msg("%s does not hide %s", pattern, names[count]);
    size_t here = hidden_here(&plan.hidden_files) + hidden_here(&plan.hidden_dirs);
    if (count != here)
        fail_msg("%s hides %zu", pattern, here);
    assert_int_equal(plan.asked, count > 0);
    confine_plan_fini(&plan);
}

#define NAMES(...) (const char *const[]){__VA_ARGS__ __VA_OPT__(,) NULL}

TEST(hides_what_matches)
{
    char link[128], outside[128];
    static const char *const dirs[] = {"glob", "glob/a", "glob/a/b", "glob/.c", "beside", "beside/deep"},
                             *const files[] = {"glob/.env", "glob/a/.env", "glob/a/b/.env", "glob/.c/.env", "glob/a/x.key",
                                               "glob/a/y.key", "beside/.env", "beside/deep/.env"};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        mkdir(at(dirs[i]), 0700);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        write_file(files[i], "");
    snprintf(link, sizeof link, "%s", at("glob/link"));
    snprintf(outside, sizeof outside, "%s", at("beside"));
    assert_int_equal(symlink(outside, link), 0);
    hides(at("glob/**/.env"), NULL, NAMES("glob/.env", "glob/a/.env", "glob/a/b/.env", "glob/.c/.env"));
    hides(at("glob/*/.env"), NULL, NAMES("glob/a/.env", "glob/.c/.env"));
    hides(at("glob/a/[x]*.k?y"), NULL, NAMES("glob/a/x.key"));
    hides(at("glob/**/b/*"), NULL, NAMES("glob/a/b/.env"));
    hides(at("glob/a/**"), NULL, NAMES("glob/a/b", "glob/a/.env", "glob/a/x.key", "glob/a/y.key"));
    hides(at("glob/none/**/x"), NULL, NAMES());
    hides(at("glob/link/.en?"), NULL, NAMES("beside/.env")); /* as it is written, it leads there */
    hides(at("glob/l*/.env"), NULL, NAMES());
    hides(at("glob/**/.env"), NAMES(at("glob/a")), NAMES("glob/.env", "glob/.c/.env"));
    hides(at("glob/a"), NAMES(at("glob/.env")), NAMES("glob/a"));
}

TEST(refuses_what_takes_too_long_to_look_for)
{
    struct confine_plan plan;
    struct err err;
    char name[32];
    mkdir(at("many"), 0700);
    for (int i = 0; i < 257; i++) {
        snprintf(name, sizeof name, "many/%d", i);
        write_file(name, "");
    }
    const char *const unreadable[] = {at("many/*"), NULL}, *const part[] = {at("many"), NULL},
               *const one[] = {at("many/1"), NULL};
    struct confine_wish wish = {.mode = CONFINE_READ_ONLY, .unreadable = unreadable};
    const struct confine_place place = {.cwd = dir, .env = no_env};
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), ERR_TOO_LARGE);
    wish.unreadable = part;
    wish.readable = one;
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), ERR_ARGUMENTS);
    assert_non_null(strstr(err.text, "is hidden as a whole"));
}

static bool temp_is_root(const char *temp, const char *home)
{
    struct confine_plan plan;
    struct err err;
    char given[160], at_home[160];
    snprintf(given, sizeof given, "TMPDIR=%s", temp);
    snprintf(at_home, sizeof at_home, "HOME=%s", home);
    const char *const env[] = {given, at_home, NULL};
    const struct confine_wish wish = {.mode = CONFINE_WORKSPACE_WRITE};
    const struct confine_place place = {.cwd = at("t/home/w"), .env = env};
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), 0);
    bool is_root = has(&plan.roots, temp);
    confine_plan_fini(&plan);
    return is_root;
}

TEST(takes_no_temp_that_widens)
{
    static const char *const names[] = {"t", "t/home", "t/home/w", "t/home/w/.git", "t/home/w/.git/tmp", "t/tmp", "t/home/x.git", "t/other"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        mkdir(at(names[i]), 0700);
    assert_true(temp_is_root(at("t/tmp"), at("t/home")));
    assert_true(temp_is_root(at("t/home/x.git"), at("t/home")));
    assert_false(temp_is_root(at("t"), at("t/other")));       /* holds the workspace */
    assert_false(temp_is_root(at("t/other"), at("t/other"))); /* is the home */
    assert_false(temp_is_root(at("t/home/w/.git"), at("t/home")));
    assert_false(temp_is_root(at("t/home/w/.git/tmp"), at("t/home")));
}

TEST(hides_doors_of_a_runtime_directory_with_the_workspace_in_it)
{
    struct confine_plan plan;
    struct err err;
    char runtime[160];
    mkdir(at("rt"), 0700);
    mkdir(at("rt/w"), 0700);
    mkdir(at("rt/systemd"), 0700);
    write_file("rt/bus", "");
    snprintf(runtime, sizeof runtime, "XDG_RUNTIME_DIR=%s", at("rt"));
    const char *const env[] = {runtime, NULL};
    const struct confine_wish wish = {.mode = CONFINE_WORKSPACE_WRITE, .no_temp = true};
    const struct confine_place place = {.cwd = at("rt/w"), .env = env};
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), 0);
    assert_true(has(&plan.hidden_dirs, at("rt/systemd")) && has(&plan.hidden_files, at("rt/bus")));
    confine_plan_fini(&plan);
}

TEST(keeps_config_and_rules)
{
    struct confine_plan plan;
    struct err err;
    mkdir(at("cf"), 0700);
    mkdir(at("cf/muxd"), 0700);
    mkdir(at("cf/muxd/w"), 0700);
    write_file("cf/muxd/muxd.ini", "");
    const struct confine_wish wish = {.mode = CONFINE_WORKSPACE_WRITE, .no_temp = true};
    struct confine_place place = {.cwd = at("cf"), .env = no_env, .config = at("cf/muxd/muxd.ini"), .rules = at("cf/muxd/muxd.rules")};
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), 0);
    assert_true(has(&plan.kept, at("cf/muxd/muxd.ini")) && has(&plan.kept, at("cf/muxd")));
    confine_plan_fini(&plan);
    const char *const inner[] = {at("cf/muxd/w"), NULL}; /* what is kept would cover it */
    const struct confine_wish both = {.mode = CONFINE_WORKSPACE_WRITE, .no_temp = true, .roots = inner};
    assert_int_equal(confine_plan_make(&plan, &both, &place, &err), 0);
    assert_false(has(&plan.kept, at("cf/muxd")));
    confine_plan_fini(&plan);
    place.cwd = at("cf/muxd"); /* it has to be writable itself */
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), ERR_ARGUMENTS);
    assert_non_null(strstr(err.text, "cf/muxd/muxd.rules' would decide what the next command may do"));
    place.cwd = at("cf");
    write_file("cf/muxd/muxd.rules", "");
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), 0);
    assert_true(has(&plan.kept, at("cf/muxd/muxd.rules")));
    assert_false(has(&plan.kept, at("cf/muxd")));
    confine_plan_fini(&plan);
}

/* What runs inside could make the config that is read next, or lead to another one. */
TEST(the_way_to_a_config_may_have_dots_and_a_sticky_directory)
{
    struct confine_plan plan;
    struct err err;
    mkdir(at("way"), 0700);
    mkdir(at("way/sticky"), 0700);
    chmod(at("way/sticky"), 01755);
    mkdir(at("way/sticky/muxd"), 0700);
    write_file("way/sticky/muxd/muxd.ini", "");
    const struct confine_wish wish = {.mode = CONFINE_WORKSPACE_WRITE, .no_temp = true};
    const struct confine_place place = {.cwd = at("way"), .env = no_env, .config = at("way/sticky/../sticky/./muxd/muxd.ini")};
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), 0);
    assert_true(has(&plan.kept, at("way/sticky/muxd/muxd.ini")) && has(&plan.pinned, at("way/sticky")));
    assert_false(has(&plan.made, at("way/sticky")));
    confine_plan_fini(&plan);
    unlink(at("way/sticky/muxd/muxd.ini"));
    rmdir(at("way/sticky/muxd"));
    write_file("way/sticky/muxd.ini", ""); /* not empty, though no directory is in it */
    const struct confine_place file = {.cwd = at("way"), .env = no_env, .config = at("way/sticky/muxd.ini")};
    assert_int_equal(confine_plan_make(&plan, &wish, &file, &err), 0);
    assert_true(has(&plan.kept, at("way/sticky/muxd.ini")) && !has(&plan.made, at("way/sticky")));
    confine_plan_fini(&plan);
}

TEST(no_config_can_be_made)
{
    struct confine_plan plan;
    struct err err;
    char root[128], own[128], link[128]; /* at keeps no more than a few */
    snprintf(root, sizeof root, "%s", at("oc"));
    snprintf(own, sizeof own, "%s", at("oc/.config/muxd/muxd.ini"));
    snprintf(link, sizeof link, "%s", at("oc/link/muxd.ini"));
    mkdir(root, 0700);
    const struct confine_wish wish = {.mode = CONFINE_WORKSPACE_WRITE, .no_temp = true};
    struct confine_place place = {.cwd = root, .env = no_env, .own_config = own};
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), 0);
    assert_true(has(&plan.made, at("oc/.config")));
    confine_plan_fini(&plan);
    mkdir(at("oc/.config"), 01755); /* it stands for the missing one while another command runs */
    chmod(at("oc/.config"), 01755);
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), 0);
    assert_true(has(&plan.made, at("oc/.config")) && !has(&plan.made, at("oc/.config/muxd")));
    confine_plan_fini(&plan);
    chmod(at("oc/.config"), 0755);
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), 0);
    assert_true(has(&plan.made, at("oc/.config/muxd")) && has(&plan.pinned, at("oc/.config")));
    confine_plan_fini(&plan);
    mkdir(at("oc/.config/muxd"), 0700);
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), 0);
    assert_true(has(&plan.kept, at("oc/.config/muxd")) && !has(&plan.made, at("oc/.config/muxd")));
    confine_plan_fini(&plan);
    mkdir(at("oc/dots"), 0700);
    write_file("oc/dots/mine", "");
    assert_int_equal(symlink("../../dots/mine", at("oc/.config/muxd/muxd.ini")), 0);
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), 0);
    assert_true(has(&plan.kept, at("oc/dots/mine")) && has(&plan.kept, at("oc/.config/muxd")));
    confine_plan_fini(&plan);
    place.own_config = link; /* in the root itself, which has to stay writable */
    assert_int_equal(symlink("dots", at("oc/link")), 0);
    assert_int_equal(confine_plan_make(&plan, &wish, &place, &err), ERR_ARGUMENTS);
    assert_non_null(strstr(err.text, "oc/link', by which muxd finds its config, is a symbolic link"));
}

TEST(a_root_in_a_root_stays_where_it_is)
{
    struct confine_plan plan;
    struct err err;
    struct strv argv = {0};
    const struct confine_able able = {.helper = (char[]){"/h"}, .bwrap = (char[]){"/b"}, .tried = true};
    const char *const command[] = {"ls", NULL};
    mkdir(at("o"), 0700);
    mkdir(at("o/a"), 0700);
    mkdir(at("o/a/proj"), 0700);
    const char *const outer[] = {at("o"), NULL};
    assert_int_equal(plan_in(&plan, at("o/a/proj"), outer, &err), 0);
    assert_true(has(&plan.pinned, at("o/a")));
    assert_int_equal(confine_argv(&plan, CONFINE_BY_BUBBLEWRAP, &able, command, &argv, &err), 0);
    place_of(&argv, "/proc/self/fd/10", at("o"));
    place_of(&argv, CONFINE_OPEN, at("o/a"));
    size_t pin = place_of(&argv, "/proc/self/fd/11", at("o/a")), root = place_of(&argv, "/proc/self/fd/12", at("o/a/proj"));
    assert_true(pin < root && root < place_of(&argv, "--ro-bind", at("o/a/proj/.muxd")));
    assert_true(place_of(&argv, CONFINE_OPEN, at("o/a/proj")) < place_of(&argv, CONFINE_MAKE, at("o/.muxd")));
    strv_fini(&argv);
    confine_plan_fini(&plan);
}

TEST(refuses_what_it_cannot_open)
{
    struct confine_plan plan;
    struct err err;
    char path[256] = "";
    snprintf(path, sizeof path, "%s", at("deep"));
    for (int i = 0; i < CONFINE_OPEN_MAX; i++) {
        mkdir(path, 0700);
        strcat(path, "/d");
    }
    mkdir(path, 0700);
    const char *const outer[] = {dir, NULL};
    assert_int_equal(plan_in(&plan, path, outer, &err), ERR_TOO_LARGE);
}

TEST(chooses_the_cheapest_that_can)
{
    static const struct {
        enum confine_mode mode;
        bool network, asked, bwrap;
        int abi, answer; /* of ERR_, or the back-end */
    } rows[] = {
        {CONFINE_READ_ONLY, false, false, true, 7, CONFINE_BY_LANDLOCK},
        {CONFINE_READ_ONLY, false, false, false, 6, CONFINE_BY_LANDLOCK},
        {CONFINE_READ_ONLY, false, false, true, 5, CONFINE_BY_BUBBLEWRAP},
        {CONFINE_READ_ONLY, false, false, true, 0, CONFINE_BY_BUBBLEWRAP},
        {CONFINE_READ_ONLY, true, false, true, 7, CONFINE_BY_BUBBLEWRAP},
        {CONFINE_READ_ONLY, false, true, true, 7, CONFINE_BY_BUBBLEWRAP},
        {CONFINE_WORKSPACE_WRITE, false, false, true, 7, CONFINE_BY_BUBBLEWRAP},
        {CONFINE_WORKSPACE_WRITE, false, false, false, 7, ERR_NOT_AVAILABLE},
        {CONFINE_READ_ONLY, false, false, false, 5, ERR_NOT_AVAILABLE},
        {CONFINE_READ_ONLY, true, false, false, 7, ERR_NOT_AVAILABLE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct confine_plan plan = {.mode = rows[i].mode, .network = rows[i].network, .asked = rows[i].asked};
        struct confine_able able = {.helper = (char[]){"/h"}, .bwrap = (char[]){"/b"}, .tried = true,
                                    .landlock_abi = rows[i].abi,
                                    .bwrap_why = rows[i].bwrap ? NULL : (char[]){"it does not work"}};
        enum confine_backend backend = 99;
        struct err err = {0};
        int code = confine_choose(&plan, &able, &backend, NULL, &err);
        assert_int_equal(code ? code : (int)backend, rows[i].answer);
        able.helper = NULL;
        able.helper_why = (char[]){"it is gone"};
        assert_int_equal(confine_choose(&plan, &able, &backend, NULL, &err), ERR_NOT_AVAILABLE);
        assert_non_null(strstr(err.text, "it is gone"));
    }
}

TEST(waits_for_the_trial_only_where_it_matters)
{
    struct confine_able able = {.helper = (char[]){"/h"}, .bwrap = (char[]){"/b"}, .landlock_abi = 7};
    static const char *const unreadable[] = {"/x", NULL};
    struct confine_wish wish = {.mode = CONFINE_READ_ONLY};
    assert_false(confine_needs_trial(&wish, &able));
    wish.unreadable = unreadable;
    assert_true(confine_needs_trial(&wish, &able));
    wish = (struct confine_wish){.mode = CONFINE_WORKSPACE_WRITE};
    assert_true(confine_needs_trial(&wish, &able));
    able.tried = true;
    assert_false(confine_needs_trial(&wish, &able));
    able.tried = false;
    able.bwrap = NULL;
    assert_false(confine_needs_trial(&wish, &able));
}

TEST(command_lines)
{
    struct confine_plan plan;
    struct err err;
    struct strv argv = {0};
    const struct confine_able able = {.helper = (char[]){"/h"}, .bwrap = (char[]){"/b"}, .tried = true};
    const char *const command[] = {"ls", "-l", NULL};
    mkdir(at("c"), 0700);
    mkdir(at("c/.git"), 0700);
    assert_int_equal(plan_in(&plan, at("c"), NULL, &err), 0);
    assert_int_equal(confine_argv(&plan, CONFINE_BY_BUBBLEWRAP, &able, command, &argv, &err), 0);
    assert_string_equal(argv.items[0], "/h");
    assert_string_equal(argv.items[1], CONFINE_VERSION);
    place_of(&argv, CONFINE_OPEN, at("c"));
    place_of(&argv, CONFINE_MAKE, at("c/.muxd"));
    assert_true(has(&argv, "--unshare-net"));
    size_t all = place_of(&argv, "--ro-bind", "/"), root = place_of(&argv, "--bind", "/proc/self/fd/10"),
           kept = place_of(&argv, "--ro-bind", at("c/.git"));
    assert_true(all < root && root < kept);
    assert_string_equal(argv.items[argv.count - 1], "-l");
    assert_string_equal(argv.items[argv.count - 4], CONFINE_INSIDE);
    strv_fini(&argv);
    const struct confine_able more = {.helper = able.helper, .bwrap = able.bwrap, .tried = true, .landlock_abi = CONFINE_LANDLOCK_PIPES};
    assert_int_equal(confine_argv(&plan, CONFINE_BY_BUBBLEWRAP, &more, command, &argv, &err), 0);
    assert_true(place_of(&argv, CONFINE_INSIDE, CONFINE_WRITE) < place_of(&argv, CONFINE_WRITE, at("c")));
    strv_fini(&argv);
    plan.network = true;
    assert_int_equal(confine_argv(&plan, CONFINE_BY_BUBBLEWRAP, &able, command, &argv, &err), 0);
    assert_false(has(&argv, "--unshare-net"));
    strv_fini(&argv);
    confine_plan_fini(&plan);
    plan = (struct confine_plan){.mode = CONFINE_READ_ONLY};
    assert_int_equal(confine_argv(&plan, CONFINE_BY_LANDLOCK, &able, command, &argv, &err), 0);
    assert_string_equal(argv.items[2], CONFINE_LANDLOCK);
    place_of(&argv, CONFINE_WRITE, "/dev/null");
    strv_fini(&argv);
}

TEST(filters_differ_and_are_kept)
{
    struct err err;
    const char *closed = filter_hex((struct filter_how){.network = false}, &err);
    const char *open = filter_hex((struct filter_how){.network = true}, &err);
    const char *bare = filter_hex((struct filter_how){.landlock = true}, &err);
    assert_true(closed && open && bare);
    assert_true(strcmp(closed, open) != 0 && strcmp(closed, bare) != 0);
    assert_ptr_equal(closed, filter_hex((struct filter_how){.network = false}, &err));
    assert_int_equal(strlen(closed) % 16, 0); /* whole instructions */
}

TEST(finds_bwrap_in_a_path)
{
    char *none = confine_find_bwrap("/nonexistent::relative:");
    assert_null(none);
    mkdir(at("bin"), 0700);
    write_file("bin/bwrap", "#!/bin/sh\n");
    assert_null(confine_find_bwrap(at("bin"))); /* it can't be executed */
    chmod(at("bin/bwrap"), 0700);
    char search[160];
    snprintf(search, sizeof search, "/nonexistent:%s", at("bin"));
    char *found = confine_find_bwrap(search);
    assert_string_equal(found, at("bin/bwrap"));
    free(found);
}

static void test_a_path_is_compared_with_a_pattern(void **state)
{
    static const struct {
        const char *pattern, *path;
        bool matches;
    } table[] = {
        {"/w/**/.env", "/w/.env", true},      {"/w/**/.env", "/w/a/b/.env", true},
        {"/w/**/.env", "/w/a/.env/x", true}, {"/w/**/.env", "/w/a/.envy", false},
        {"/w/**/.env", "/v/.env", false},     {"/w/*.key", "/w/a.key", true},
        {"/w/*.key", "/w/a/b.key", false},    {"/w/*.key", "/w/.key", true},
        {"/w/**", "/w/a/b", true},            {"/w/**", "/w", false},
        {"/w/a?/[bc]", "/w/ax/c", true},      {"/w/a?/[bc]", "/w/a/c", false},
        {"/w/**/s/**/k", "/w/s/k", true},     {"/w/**/s/**/k", "/w/a/s/b/c/k", true},
        {"/w/**/s/**/k", "/w/a/b/c/k", false}, {"/**/.env", "/x/.env", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (confine_matches(table[i].pattern, table[i].path) != table[i].matches)
            fail_msg("'%s', '%s'", table[i].pattern, table[i].path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_path_is_compared_with_a_pattern),
        cmocka_unit_test(words_and_modes),
        cmocka_unit_test(protects_what_is_there_and_what_is_not),
        cmocka_unit_test(follows_a_git_file),
        cmocka_unit_test(refuses_what_it_cannot_protect),
        cmocka_unit_test(sorts_parents_first),
        cmocka_unit_test(a_link_that_we_may_have_made_leads_to_no_root),
        cmocka_unit_test(hides_the_daemon),
        cmocka_unit_test(hides_nothing_twice),
        cmocka_unit_test(hides_what_matches),
        cmocka_unit_test(refuses_what_takes_too_long_to_look_for),
        cmocka_unit_test(takes_no_temp_that_widens),
        cmocka_unit_test(hides_doors_of_a_runtime_directory_with_the_workspace_in_it),
        cmocka_unit_test(keeps_config_and_rules), cmocka_unit_test(the_way_to_a_config_may_have_dots_and_a_sticky_directory),
        cmocka_unit_test(no_config_can_be_made),
        cmocka_unit_test(a_root_in_a_root_stays_where_it_is),
        cmocka_unit_test(refuses_what_it_cannot_open),
        cmocka_unit_test(chooses_the_cheapest_that_can),
        cmocka_unit_test(waits_for_the_trial_only_where_it_matters),
        cmocka_unit_test(command_lines),
        cmocka_unit_test(filters_differ_and_are_kept),
        cmocka_unit_test(finds_bwrap_in_a_path),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
