/* shell: owns the choice of a shell and how it is asked to run a string. A tool's bash, zsh or sh
 * is found as Codex finds it. Where Codex silently takes /bin/sh for any other name, we run what
 * was named, or refuse: a script of another language would do something else there. */
#include "session/shell.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strv.h"
#include "base/value.h"
#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MAX_CHARS 64
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* 0 or the errno that execve(2) would give. */
static int check_program(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return errno;
    if (!S_ISREG(info.st_mode))
        return EACCES;
    return access(path, X_OK) == 0 ? 0 : errno;
}

/* The first fitting file of that name in PATH; NULL with *error. */
static char *shell_search_path(const char *name, const char *path, int *error)
{
    *error = ENOENT;
    while (path && *path) {
        size_t len = strcspn(path, ":");
        char *file = len ? xasprintf("%.*s/%s", (int)len, path, name) : xstrdup(name);
        int result = check_program(file);
        if (result == 0)
            return file;
        if (result != ENOENT && result != ENOTDIR)
            *error = result;
        free(file);
        path += len + (path[len] == ':');
    }
    return NULL;
}

static const char *own_shell(char *const *env)
{
    const char *shell = strv_env_get((const char *const *)env, "SHELL");
    if (shell && *shell == '/' && check_program(shell) == 0)
        return shell;
    const struct passwd *entry = getpwuid(geteuid());
    if (entry && entry->pw_shell && *entry->pw_shell == '/' && check_program(entry->pw_shell) == 0)
        return entry->pw_shell;
    return "/bin/sh";
}

static char *find_shell(const char *wish, char *const *env, struct err *err)
{
    if (!wish || !*wish)
        return xstrdup(own_shell(env));
    int error = 0;
    char *found = NULL;
    if (strchr(wish, '/')) {
        error = check_program(wish);
        found = error ? NULL : xstrdup(wish);
    } else {
        const char *path = strv_env_get((const char *const *)env, "PATH");
        found = shell_search_path(wish, path ? path : DEFAULT_PATH, &error);
    }
    if (!found)
        err_set(err, ERR_SPAWN, "shell '%s': %s; name a shell that exists, such as /bin/sh", wish,
                strerror(error));
    return found;
}

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

char *shell_for_tool(const char *wish, char *const *env)
{
    static const char *const known[] = {"bash", "zsh", "sh", NULL};
    const char *name = path_basename(wish), *own = own_shell(env),
               *path = strv_env_get((const char *const *)env, "PATH");
    int error;
    if (!is_one_of(name, known) || (strchr(wish, '/') && check_program(wish) == 0))
        return xstrdup(wish);
    if (strcmp(path_basename(own), name) == 0)
        return xstrdup(own);
    char *found = shell_search_path(name, path ? path : DEFAULT_PATH, &error);
    if (!found) {
        found = xasprintf("/bin/%s", name);
        if (check_program(found) != 0) {
            free(found);
            found = xstrdup(wish); /* to be refused by its own name */
        }
    }
    return found;
}

int shell_argv(const char *shell, bool login, const char *cmd, char *const *env, char ***argv,
               struct err *err)
{
    static const char *const joined[] = {"bash", "zsh",  "sh",    "dash",  "ksh",
                                         "ash",  "mksh", "ksh93", "rbash", NULL};
    char *path = find_shell(shell, env, err);
    if (!path)
        return ERR_SPAWN;
    const char *name = path_basename(path);
    struct strv words = {0};
    strv_add(&words, path);
    if (login && strcmp(name, "fish") == 0)
        strv_add(&words, "-l");
    /* Others (csh takes -l only alone) run a command string without being login shells. */
    strv_add(&words, login && is_one_of(name, joined) ? "-lc" : "-c");
    if (*cmd == '-' || *cmd == '+') /* bash and others would take the string for options */
        strv_addf(&words, " %s", cmd);
    else
        strv_add(&words, cmd);
    free(path);
    *argv = strv_take(&words);
    return 0;
}

/* One word of a shell string with its quotes taken off, at *at, which moves behind it. NULL at the
 * end or where a word can't be told. */
static char *next_word(const char **at)
{
    const char *from = *at + strspn(*at, " \t\r\n");
    if (!*from || strchr(";&|<>(){}#!`", *from))
        return NULL;
    char *word = xmalloc(strlen(from) + 1), *to = word;
    char quote = 0;
    for (; *from && (quote || !strchr(" \t\r\n;&|<>()", *from)); from++) {
        if (quote ? *from == quote : *from == '\'' || *from == '"')
            quote = quote ? 0 : *from;
        else if (*from == '\\' && quote != '\'' && from[1])
            *to++ = *++from;
        else
            *to++ = *from;
    }
    *to = 0;
    *at = from;
    return word;
}

static bool is_assignment(const char *word)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word)
        return false;
    size_t len = (size_t)(equals - word) - (equals[-1] == '+');
    return value_env_name(word, len);
}

/* A session name made of any word's base name; NULL when nothing of it fits. */
static char *shell_name_of(const char *word)
{
    const char *base = path_basename(word);
    base += strspn(base, ".-+");
    char *name = xstrndup(base, NAME_MAX_CHARS);
    bool fits = false;
    for (char *at = name; *at; at++) {
        if (isalnum((unsigned char)*at) && (unsigned char)*at < 0x80)
            fits = true;
        else if (!strchr("_.-", *at))
            *at = '_';
    }
    if (fits && value_session_name(name))
        return name;
    free(name);
    return NULL;
}

char *shell_default_name(const char *cmd, char *const *argv)
{
    char *name = NULL;
    if (cmd) {
        char *word;
        while (!name && (word = next_word(&cmd))) {
            bool skip = is_assignment(word);
            if (!skip)
                name = shell_name_of(word);
            free(word);
            if (!skip)
                break;
        }
    } else if (argv && argv[0]) {
        name = shell_name_of(argv[0]);
    }
    return name ? name : xstrdup("sh");
}
