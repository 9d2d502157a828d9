/* doctor_here: owns what is looked at around the caller of ue. */
#include "client/verbs/doctor_here.h"
#include "base/mem.h"
#include "base/path.h"
#include "client/rpc/own_terminal.h"
#include "client/terminal/colors.h"
#include "wire/doctor.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHARE_DIRS "/usr/local/share:/usr/share"

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static void here_add_terminal(struct json *rows)
{
    const char *term = variable("TERM");
    int colors = colors_of_terminal();
    bool tty = isatty(STDIN_FILENO) || isatty(STDOUT_FILENO) || isatty(STDERR_FILENO);
    if (!tty)
        doctor_add(rows, DOCTOR_TERMINAL, DOCTOR_FINE, "none here");
    else if (!*term || strcmp(term, "dumb") == 0)
        doctor_add(rows, DOCTOR_TERMINAL,
                   (struct doctor_say){DOCTOR_ADVICE, "ue attach can't know how to draw on it",
                                       "export TERM=xterm-256color, or what your terminal is"},
                   "TERM is %s", *term ? term : "not set");
    else if (!colors_are_known())
        doctor_add(rows, DOCTOR_TERMINAL,
                   (struct doctor_say){DOCTOR_ADVICE,
                                       "ue goes by its name; other programs may refuse to run",
                                       "sudo apt install ncurses-term, or export "
                                       "TERM=xterm-256color"},
                   "TERM is %s, which terminfo does not describe", term);
    else if (colors >= COLORS_ALL)
        doctor_add(rows, DOCTOR_TERMINAL, DOCTOR_FINE, "TERM is %s, with all colours", term);
    else
        doctor_add(rows, DOCTOR_TERMINAL, DOCTOR_FINE, "TERM is %s, with %d colours", term, colors);
}

static bool is_in(const char *dir, const char *file)
{
    char *path = path_join(dir, file);
    bool found = access(path, R_OK) == 0;
    free(path);
    return found;
}

/* share beside the directory that ue lies in: of what is installed, that of its own PREFIX. */
static char *own_share(void)
{
    char own[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
    own[len > 0 ? len : 0] = '\0';
    char *bin = path_dirname(own), *prefix = path_dirname(bin), *share = path_join(prefix, "share");
    free(bin);
    free(prefix);
    return share;
}

/* The first directory of dirs ("a:b") that has one of the files ("c d"), or home's; NULL: none. */
static char *find_file(const char *home, const char *dirs, const char *files)
{
    char *all = xasprintf("%s:%s", home, dirs), *found = NULL;
    for (char *dir = all; dir && !found;) {
        char *colon = strchr(dir, ':');
        if (colon)
            *colon = '\0';
        for (const char *at = files; *at && *dir; at += strspn(at, " ")) {
            char *file = xstrndup(at, strcspn(at, " "));
            if (!found && is_in(dir, file))
                found = path_join(dir, file);
            at += strlen(file);
            free(file);
        }
        dir = colon ? colon + 1 : NULL;
    }
    free(all);
    return found;
}

/* Where man(1) looks when no MANPATH is set: beside each directory of PATH, too. */
static char *man_dirs(void)
{
    struct buf dirs = BUF_INIT;
    buf_printf(&dirs, "%s:/usr/local/share/man:/usr/share/man", variable("MANPATH"));
    for (const char *at = variable("PATH"); *at; at += *at == ':') {
        size_t size = strcspn(at, ":");
        while (size > 1 && at[size - 1] == '/')
            size--;
        if (size > 4 && strncmp(at + size - 4, "/bin", 4) == 0)
            buf_printf(&dirs, ":%.*s/share/man", (int)size - 4, at);
        at += strcspn(at, ":");
    }
    return buf_take(&dirs);
}

static void here_add_manual(struct json *rows)
{
    char *dirs = man_dirs(), *share = own_share(), *own = path_join(share, "man");
    char *found = find_file("", dirs, "man1/ue.1 man1/ue.1.gz"),
         *beside = find_file(own, "", "man1/ue.1 man1/ue.1.gz"),
         *man = find_file("", variable("PATH"), "man");
    struct doctor_say say = {DOCTOR_ADVICE, "ue help and ue VERB -h have the verbs", NULL};
    if (!found && beside) {
        char *todo = xasprintf("export MANPATH=%s:", own);
        say.todo = todo;
        doctor_add(rows, DOCTOR_MANUAL, say, "%s is where man does not look", beside);
        free(todo);
    } else if (!found) {
        say.todo = "make install, or make install PREFIX=~/.local";
        doctor_add(rows, DOCTOR_MANUAL, say, "no ue(1) where man looks");
    } else if (!man) {
        say.todo = "sudo apt install man-db";
        doctor_add(rows, DOCTOR_MANUAL, say, "%s, but no man to read it", found);
    } else {
        doctor_add(rows, DOCTOR_MANUAL, DOCTOR_FINE, "%s", found);
    }
    free(dirs);
    free(share);
    free(own);
    free(found);
    free(beside);
    free(man);
}

/* In which files of a share directory each shell looks. */
static const struct here_shell {
    const char *name, *files, *needs, *todo;
} shells[] = {
    {"bash", "bash-completion/completions/ue", "bash-completion/bash_completion",
     "sudo apt install bash-completion, and log in again"},
    {"zsh", "zsh/site-functions/_ue zsh/vendor-completions/_ue", NULL, NULL},
    {"fish", "fish/vendor_completions.d/ue.fish fish/completions/ue.fish", NULL, NULL},
};

static void add_completions_of(struct json *rows, const struct here_shell *shell)
{
    const char *home = variable("XDG_DATA_HOME"), *dirs = variable("XDG_DATA_DIRS");
    char *user = *home ? xstrdup(home) : xasprintf("%s/.local/share", variable("HOME")),
         *share = own_share(), *places = xasprintf("%s:%s:%s", share, dirs, SHARE_DIRS);
    char *found = find_file(user, places, shell->files),
         *needed = shell->needs ? find_file(user, places, shell->needs) : NULL;
    struct doctor_say say = {DOCTOR_ADVICE, "Tab completes nothing behind ue",
                             "make install, or make install PREFIX=~/.local"};
    if (!found) {
        doctor_add(rows, DOCTOR_COMPLETIONS, say, "none for %s", shell->name);
    } else if (shell->needs && !needed) {
        say.todo = shell->todo;
        doctor_add(rows, DOCTOR_COMPLETIONS, say, "%s, but what loads it is missing", found);
    } else {
        doctor_add(rows, DOCTOR_COMPLETIONS, DOCTOR_FINE, "%s", found);
    }
    free(user);
    free(share);
    free(places);
    free(found);
    free(needed);
}

static void here_add_completions(struct json *rows)
{
    const char *shell = path_basename(variable("SHELL"));
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, shell) == 0) {
            add_completions_of(rows, &shells[i]);
            return;
        }
    doctor_add(rows, DOCTOR_COMPLETIONS, DOCTOR_FINE, "there are none for %s",
               *shell ? shell : "an unknown shell ($SHELL is not set)");
}

void doctor_here(struct json *rows, bool judged)
{
    here_add_terminal(rows);
    if (!judged)
        doctor_person(rows, own_terminal_why_not());
    here_add_manual(rows);
    here_add_completions(rows);
}
