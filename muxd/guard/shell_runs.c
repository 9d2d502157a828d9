/* shell_runs: owns the table of programs that run other commands, and how their arguments say
 * which. */
#include "guard/shell_runs.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/value.h"
#include "guard/known.h"
#include <stdlib.h>
#include <string.h>

enum wrap_how {
    WRAP_REST,   /* options, then .operands words, then a command */
    WRAP_ANY,    /* a command may begin at each word */
    WRAP_EXEC,   /* find: behind -exec, -execdir, -ok, -okdir */
    WRAP_SHELL,  /* a shell: -c SCRIPT; else it reads a script */
    WRAP_SCRIPT, /* its words, joined, are a script */
    WRAP_C,      /* only -c SCRIPT */
    WRAP_ALIAS,  /* NAME=SCRIPT */
    WRAP_SOURCE, /* reads a script */
};
static const struct wrap { const char *name; enum wrap_how how; int operands;
} wraps[] = {
    {"env", WRAP_REST, 0},      {"sudo", WRAP_REST, 0},     {"doas", WRAP_REST, 0},
    {"command", WRAP_REST, 0},  {"builtin", WRAP_REST, 0},  {"exec", WRAP_REST, 0},
    {"nohup", WRAP_REST, 0},    {"nice", WRAP_REST, 0},     {"ionice", WRAP_REST, 0},
    {"chrt", WRAP_REST, 1},     {"taskset", WRAP_REST, 1},  {"setsid", WRAP_REST, 0},
    {"stdbuf", WRAP_REST, 0},   {"timeout", WRAP_REST, 1},  {"time", WRAP_REST, 0},
    {"xargs", WRAP_REST, 0},    {"chroot", WRAP_REST, 1},   {"unshare", WRAP_REST, 0},
    {"nsenter", WRAP_REST, 0},  {"strace", WRAP_REST, 0},   {"ltrace", WRAP_REST, 0},
    {"busybox", WRAP_REST, 0},  {"toybox", WRAP_REST, 0},   {"flock", WRAP_REST, 1},
    {"parallel", WRAP_REST, 0}, {"setpriv", WRAP_REST, 0},  {"prlimit", WRAP_REST, 0},
    {"linux32", WRAP_REST, 0},  {"linux64", WRAP_REST, 0},  {"setarch", WRAP_REST, 1},
    {"fakeroot", WRAP_REST, 0}, {"catchsegv", WRAP_REST, 0}, {"unbuffer", WRAP_REST, 0},
    {"runuser", WRAP_ANY, 0},   {"systemd-run", WRAP_ANY, 0}, {"bwrap", WRAP_ANY, 0},
    {"firejail", WRAP_ANY, 0},  {"ue", WRAP_ANY, 0},        {"find", WRAP_EXEC, 0},
    {"sh", WRAP_SHELL, 0},      {"bash", WRAP_SHELL, 0},    {"rbash", WRAP_SHELL, 0},
    {"dash", WRAP_SHELL, 0},    {"zsh", WRAP_SHELL, 0},     {"ksh", WRAP_SHELL, 0},
    {"mksh", WRAP_SHELL, 0},    {"ash", WRAP_SHELL, 0},     {"fish", WRAP_SHELL, 0},
    {"yash", WRAP_SHELL, 0},    {"su", WRAP_C, 0},          {"sg", WRAP_C, 0},
    {"script", WRAP_C, 0},      {"eval", WRAP_SCRIPT, 0},   {"watch", WRAP_REST, 0},
    {"trap", WRAP_SCRIPT, 0},   {"alias", WRAP_ALIAS, 0},   {".", WRAP_SOURCE, 0},
    {"source", WRAP_SOURCE, 0},
};
#define RUNS_DEPTH 8  /* of wrappers inside each other */
#define RUNS_WORDS 50000 /* of all commands but the first that are kept */

struct runs_walk {
    struct shell_runs *runs;
    struct strv fed; /* texts that a shell may be fed: here-documents, what echo prints */
    bool feeds;      /* a shell reads a script that is no argument */
    int depth;
};

const char *shell_base_name(const char *word)
{
    const char *slash = strrchr(word, '/');
    if (slash)
        return slash + 1;
    return *word == '=' && word[1] ? word + 1 : word; /* zsh puts the path of the program there */
}

static const struct wrap *wrap_of(const char *word)
{
    const char *name = shell_base_name(word);
    for (size_t i = 0; i < sizeof wraps / sizeof *wraps; i++)
        if (strcmp(wraps[i].name, name) == 0)
            return &wraps[i];
    return NULL;
}

/* /tmp/bash may be anything; what fish makes of quotes is something else. */
static bool is_known_shell(const char *word)
{
    static const char *const names[] = {"sh", "bash", "dash", "ksh", "zsh"};
    const char *name = known_name(word);
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

const char *shell_script_of(char *const *argv)
{
    if (!argv[0] || !argv[1] || !is_known_shell(argv[0]))
        return NULL;
    if (strcmp(argv[1], "-c") == 0 || strcmp(argv[1], "-lc") == 0)
        return argv[2] && !argv[3] ? argv[2] : NULL;
    bool split = strcmp(argv[1], "-l") == 0 && argv[2] && strcmp(argv[2], "-c") == 0;
    return split && argv[3] && !argv[4] ? argv[3] : NULL;
}

static void walk_words(struct runs_walk *walk, char *const *words);

static void walk_script(struct runs_walk *walk, const char *script)
{
    struct shell_scan scan;
    if (walk->depth >= RUNS_DEPTH) {
        walk->runs->overflow = true;
        return;
    }
    walk->depth++;
    shell_scan(&scan, script);
    walk->runs->overflow |= scan.overflow;
    for (size_t i = 0; i < scan.count; i++)
        walk_words(walk, scan.commands[i].words);
    strv_add_all(&walk->fed, (const char *const *)scan.fed.items);
    shell_scan_fini(&scan);
    walk->depth--;
}

static void walk_joined(struct runs_walk *walk, char *const *words)
{
    struct buf script = BUF_INIT;
    for (; *words; words++) {
        if (script.len > 0)
            buf_append_byte(&script, ' ');
        buf_append_text(&script, *words);
    }
    if (script.data)
        walk_script(walk, script.data);
    buf_fini(&script);
}

static bool runs_is_assignment(const char *word)
{
    size_t len = strcspn(word, "=");
    return word[len] && len > 0 && !strpbrk(word, "/ \t") && *word != '-';
}

/* Which word behind the options is the command can't be known without knowing all options of all
 * programs: a word behind an option may be its value. So each word that may be it is looked at. */
static void walk_rest(struct runs_walk *walk, char *const *words, int operands)
{
    bool after_option = false;
    for (char *const *at = words + 1; *at; at++) {
        bool option = **at == '-' && (*at)[1];
        if (option && strncmp(*at, "--split-string=", 15) == 0)
            walk_script(walk, *at + 15);
        else if (option && strchr(*at, ' '))
            walk_script(walk, *at + 2); /* env -S'COMMAND …' */
        if (option || runs_is_assignment(*at)) {
            after_option = option && !strchr(*at, '=');
            continue;
        }
        if (strchr(*at, ' '))
            walk_script(walk, *at); /* env -S 'COMMAND …', watch 'COMMAND …' */
        walk_words(walk, at);
        if (!after_option && operands-- <= 0)
            break;
        after_option = false;
    }
}

static void walk_exec(struct runs_walk *walk, char *const *words)
{
    static const char *const actions[] = {"-exec", "-execdir", "-ok", "-okdir"};
    for (char *const *at = words + 1; *at; at++)
        for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
            if (strcmp(*at, actions[i]) == 0 && at[1])
                walk_words(walk, at + 1);
}

/* True: an option of the words had a script. */
static bool walk_dash_c(struct runs_walk *walk, char *const *words)
{
    bool script_next = false, found = false, value = false;
    for (char *const *at = words + 1; *at; at++) {
        bool option = (**at == '-' || **at == '+') && (*at)[1];
        if (option && !value) {
            script_next |= **at == '-' && (*at)[1] != '-' && strchr(*at, 'c');
            script_next |= strcmp(*at, "--command") == 0;
            if (strncmp(*at, "--command=", 10) == 0) {
                walk_script(walk, *at + 10);
                found = true;
            }
            value = strchr("oO", (*at)[strlen(*at) - 1]) != NULL;
            continue;
        }
        if (script_next) {
            walk_script(walk, *at);
            found = true;
        }
        if (script_next && !value)
            break;
        value = false;
    }
    return found;
}

static void walk_alias(struct runs_walk *walk, char *const *words)
{
    for (char *const *at = words + 1; *at; at++)
        if (strchr(*at, '='))
            walk_script(walk, strchr(*at, '=') + 1);
}

/* What a command prints may be what a shell reads. */
static void keep_printed(struct runs_walk *walk, char *const *words)
{
    const char *name = shell_base_name(words[0]);
    struct buf text = BUF_INIT;
    if (strcmp(name, "echo") != 0 && strcmp(name, "printf") != 0)
        return;
    while (words[1] && words[1][0] == '-') /* its options */
        words++;
    for (char *const *at = words + 1; *at; at++) {
        char *decoded = xstrdup(*at);
        const char *bad;
        bool ok = value_unescape(*at, decoded, &bad) >= 0;
        buf_printf(&text, "%s ", ok ? decoded : *at);
        strv_add(&walk->fed, ok ? decoded : *at);
        free(decoded);
    }
    if (text.data)
        strv_add(&walk->fed, text.data);
    buf_fini(&text);
}

static void walk_wrapped(struct runs_walk *walk, char *const *words, const struct wrap *wrap)
{
    switch (wrap->how) {
    case WRAP_REST: walk_rest(walk, words, wrap->operands); break;
    case WRAP_ANY:
        walk_dash_c(walk, words);
        for (char *const *at = words + 1; *at; at++)
            walk_words(walk, at);
        break;
    case WRAP_EXEC: walk_exec(walk, words); break;
    case WRAP_SHELL: walk->feeds |= !walk_dash_c(walk, words); break;
    case WRAP_SCRIPT: walk_joined(walk, words + 1);
        if (words[1])
            walk_script(walk, words[1]);
        break;
    case WRAP_C: walk_dash_c(walk, words); break;
    case WRAP_ALIAS: walk_alias(walk, words); break;
    case WRAP_SOURCE: walk->feeds = true; break;
    }
}

/* The first command is the vector itself, which is judged: it stays whole. */
static void keep_words(struct shell_runs *runs, char *const *words)
{
    struct strv kept = {0};
    for (; *words && (runs->count == 0 || kept.count == 0 || runs->words < RUNS_WORDS); words++) {
        strv_add(&kept, *words);
        runs->words += runs->count > 0;
    }
    runs->overflow = runs->overflow || *words;
    runs->commands = xreallocarray(runs->commands, runs->count + 1, sizeof *runs->commands);
    runs->commands[runs->count++] = (struct shell_command){strv_take(&kept)};
}

static void walk_words(struct runs_walk *walk, char *const *words)
{
    struct shell_runs *runs = walk->runs;
    if (walk->depth >= RUNS_DEPTH || runs->count == SHELL_SCAN_MAX_COMMANDS) {
        runs->overflow = true;
        return;
    }
    walk->depth++;
    keep_words(runs, words);
    runs->dangerous = runs->dangerous || known_is_dangerous(words);
    const struct wrap *wrap = wrap_of(words[0]);
    if (wrap)
        walk_wrapped(walk, words, wrap);
    keep_printed(walk, words);
    walk->depth--;
}

void shell_runs(struct shell_runs *runs, char *const *argv)
{
    struct runs_walk walk = {.runs = runs};
    *runs = (struct shell_runs){0};
    walk_words(&walk, argv);
    for (size_t i = 0; walk.feeds && i < walk.fed.count && i < SHELL_SCAN_MAX_COMMANDS; i++)
        walk_script(&walk, walk.fed.items[i]);
    strv_fini(&walk.fed);
}

void shell_runs_fini(struct shell_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        strv_free(runs->commands[i].words);
    free(runs->commands);
    *runs = (struct shell_runs){0};
}
