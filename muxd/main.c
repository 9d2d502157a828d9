/* main.c: owns muxd's command line and its roles: the program that people start, which becomes
 * muxd-keeper; the worker, which the keeper starts; and some small services of this executable
 * (--gen, --hook, --explain, --answer, --doctor). */
#include "base/bug.h"
#include "base/err.h"
#include "base/limit.h"
#include "base/path.h"
#include "base/value.h"
#include "config/config.h"
#include "journal/journal.h"
#include "keep/keep.h"
#include "keep/launch.h"
#include "keep/start.h"
#include "keep/trial.h"
#include "server/doctor_alone.h"
#include "server/hooks.h"
#include "server/server.h"
#include "server/worker.h"
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum option {
    OPTION_SOCKET,
    OPTION_CONFIG,
    OPTION_DAEMON,
    OPTION_CHECK,
    OPTION_VERSION,
    OPTION_HELP,
    OPTION_WORKER,
    OPTION_SPEAKS,
    OPTION_ANSWER,
    OPTION_EXPLAIN,
    OPTION_DOCTOR,
    OPTION_GEN,
    OPTION_HOOK,
    OPTION_HOOK_TIMEOUT,
    OPTION_COUNT
};
#define FIRST_HIDDEN OPTION_WORKER
static const struct option_row {
    const char *word, *letter, *value, *help;
} rows[OPTION_COUNT] = {
    [OPTION_SOCKET] = {"--socket", "-S", "PATH",
                       "listen at PATH instead of $MUXD_SOCKET or $XDG_RUNTIME_DIR/muxd/muxd.sock"},
    [OPTION_CONFIG] = {"--config", "-f", "PATH",
                       "read PATH instead of $MUXD_CONFIG or $XDG_CONFIG_HOME/muxd/muxd.ini"},
    [OPTION_DAEMON] = {"--daemon", "-d", NULL, "go to the background; returns when it listens"},
    [OPTION_CHECK] = {"--check-config", NULL, NULL,
                      "say whether the config file, or the one named behind it, is right, and end"},
    [OPTION_VERSION] = {"--version", NULL, NULL, "print the version, and end"},
    [OPTION_HELP] = {"--help", "-h", NULL, "print this, and end"},
    [OPTION_WORKER] = {"--worker", NULL, NULL, NULL},
    [OPTION_SPEAKS] = {"--speaks", NULL, "PROTOCOL", NULL},
    [OPTION_ANSWER] = {"--answer", NULL, "QUESTION", NULL},
    [OPTION_EXPLAIN] = {"--explain", NULL, "ERRNO:TEXT", NULL},
    [OPTION_DOCTOR] = {"--doctor", NULL, NULL, NULL},
    [OPTION_GEN] = {"--gen", NULL, "DIR", NULL},
    [OPTION_HOOK] = {"--hook", NULL, "COMMAND...", NULL},
    [OPTION_HOOK_TIMEOUT] = {"--hook-timeout", NULL, "MS", NULL},
};

struct command_line {
    /* borrowed from argv; an option without a value has its own word here. NULL: not given */
    char *value[OPTION_COUNT];
    char **hook; /* what stands behind --hook, to the end: the command */
};

#define STATUS_USAGE 64

static int muxd_complain(int status, const char *text)
{
    fprintf(stderr, "muxd: %s\n", text);
    return status;
}

static int find_option(const char *word)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strcmp(rows[i].word, word) == 0 ||
            (rows[i].letter && strcmp(rows[i].letter, word) == 0))
            return i;
    return -1;
}

static int muxd_unknown(const char *word)
{
    const char *words[FIRST_HIDDEN];
    for (int i = 0; i < FIRST_HIDDEN; i++)
        words[i] = rows[i].word;
    const char *nearest = value_nearest(word, words, FIRST_HIDDEN);
    fprintf(stderr, "muxd: '%s': no such option; ", word);
    if (nearest)
        fprintf(stderr, "did you mean '%s'\n", nearest);
    else
        fprintf(stderr, "'muxd --help' lists them\n");
    return STATUS_USAGE;
}

static int muxd_parse(int argc, char **argv, struct command_line *line)
{
    for (int i = 1; i < argc; i++) {
        char *equals = strncmp(argv[i], "--", 2) == 0 ? strchr(argv[i], '=') : NULL;
        char word[64];
        snprintf(word, sizeof word, "%.*s", equals ? (int)(equals - argv[i]) : INT_MAX, argv[i]);
        int option = find_option(word);
        if (option < 0 && *argv[i] != '-' && line->value[OPTION_CHECK] &&
            !line->value[OPTION_CONFIG]) {
            line->value[OPTION_CONFIG] = argv[i];
            continue;
        }
        if (option < 0 || (equals && !rows[option].value))
            return muxd_unknown(argv[i]);
        if (option == OPTION_HOOK && i + 1 < argc) {
            line->hook = argv + i + 1;
            return 0;
        }
        if (!rows[option].value)
            line->value[option] = argv[i];
        else if (equals)
            line->value[option] = equals + 1;
        else if (i + 1 < argc)
            line->value[option] = argv[++i];
        else {
            fprintf(stderr, "muxd: '%s' needs a value: %s; 'muxd --help' tells more\n", argv[i],
                    rows[option].value);
            return STATUS_USAGE;
        }
    }
    return 0;
}

static int help(void)
{
    printf("usage: muxd [options]\nHolds named terminal sessions; 'ue' talks to it and starts it "
           "when needed.\n\n");
    for (int i = 0; i < FIRST_HIDDEN; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s%s%s", rows[i].letter ? rows[i].letter : "",
                 rows[i].letter ? ", " : "    ", rows[i].word, rows[i].value ? " " : "",
                 rows[i].value ? rows[i].value : "");
        printf("  %-24s %s\n", left, rows[i].help);
    }
    printf("\nSIGHUP reads the config again, SIGTERM ends all sessions and muxd, SIGUSR2 changes "
           "to the muxd on disk and keeps them.\n");
    return fflush(stdout) == 0 ? 0 : 1;
}

/* Whether the config can be read; else err tells why not. *path is the caller's. */
static bool reads_config(const char *given, char **path, struct err *err)
{
    *path = path_config(given);
    struct config *config = config_load(*path, err);
    bool good = config && control_check_config(config, err) == 0;
    config_free(config);
    return good;
}

static int check_config(const char *given)
{
    struct err err = {0};
    char *path;
    bool good = reads_config(given, &path, &err);
    int status = good ? 0 : muxd_complain(1, err.text);
    if (good)
        printf("%s: ok\n", path ? path : "built-in defaults");
    free(path);
    return status;
}

static int answer(const struct command_line *line)
{
    struct err err = {0};
    char *path;
    bool good = reads_config(line->value[OPTION_CONFIG], &path, &err);
    free(path);
    return trial_answer_as_worker(line->value[OPTION_ANSWER], journal_why_not, good);
}

static int generate(const char *dir)
{
    struct err err = {0};
    return config_gen(dir, &err) == 0 ? 0 : muxd_complain(1, err.text);
}

/* /dev/null is where it leads once the daemon's starter has left. */
static bool stderr_is_read(void)
{
    struct stat err, null;
    return fstat(STDERR_FILENO, &err) != 0 || stat("/dev/null", &null) != 0 ||
           err.st_rdev != null.st_rdev || !S_ISCHR(err.st_mode);
}

/* The last words of a keeper that gives up: it does not know the kernel's limits. */
static int muxd_explain(const struct command_line *line)
{
    struct err err;
    char *text;
    int error = (int)strtol(line->value[OPTION_EXPLAIN], &text, 10);
    limit_err(&err, ERR_SYSTEM, LIMIT_PROGRAM, error, "keeper: %s", *text == ':' ? text + 1 : text);
    if (stderr_is_read())
        return muxd_complain(1, err.text);
    worker_log(&(struct worker_options){.config_path = line->value[OPTION_CONFIG]}, err.text);
    return 1;
}

static int muxd_keep(const struct command_line *line)
{
    static const enum option kept[] = {OPTION_SOCKET, OPTION_CONFIG};
    struct start_programs programs;
    struct err err = {0};
    char *args[START_ARGS];
    size_t n = 0;
    int ready_fd = -1;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (line->value[kept[i]]) {
            BUG_UNLESS(n + 2 < START_ARGS);
            args[n++] = (char *)rows[kept[i]].word;
            args[n++] = line->value[kept[i]];
        }
    args[n] = NULL;
    int code = limit_check_stack(&err);
    if (code == 0)
        code = start_find(&programs, &err);
    if (code == 0 && line->value[OPTION_DAEMON])
        code = launch_detached(&ready_fd, &err);
    if (code == 0)
        start_keeper(&programs, ready_fd, args, &err);
    return muxd_complain(1, err.text);
}

static int muxd_work(const struct command_line *line)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    /* the reader of stderr may have gone. Session programs are the keeper's children and do not
     * inherit this */
    sigaction(SIGPIPE, &ignore, NULL);
    struct worker_options options = {.socket_path = line->value[OPTION_SOCKET],
                                     .config_path = line->value[OPTION_CONFIG]};
    return worker_main(&options);
}

int main(int argc, char **argv)
{
    struct command_line line = {.hook = NULL};
    /* the worker was executed by descriptor, and would have its number as a name */
    prctl(PR_SET_NAME, "muxd");
    umask(path_umask() & ~(mode_t)S_IRWXU); /* what we make, the next muxd can enter, too */
    int status = muxd_parse(argc, argv, &line);
    if (status != 0)
        return status;
    if (line.value[OPTION_HELP])
        return help();
    if (line.value[OPTION_VERSION])
        return printf("muxd %s\n", MUXD_VERSION) < 0;
    if (line.value[OPTION_CHECK])
        return check_config(line.value[OPTION_CONFIG]);
    if (line.value[OPTION_DOCTOR])
        return doctor_alone(&(struct worker_options){.socket_path = line.value[OPTION_SOCKET],
                                                      .config_path = line.value[OPTION_CONFIG]});
    if (line.value[OPTION_GEN])
        return generate(line.value[OPTION_GEN]);
    if (line.hook)
        return hook_minder_main(line.hook, line.value[OPTION_HOOK_TIMEOUT]);
    if (line.value[OPTION_SPEAKS])
        return strcmp(line.value[OPTION_SPEAKS], keep_protocol_word) == 0 ? 0 : 1;
    if (line.value[OPTION_ANSWER])
        return answer(&line);
    if (line.value[OPTION_EXPLAIN])
        return muxd_explain(&line);
    if (!line.value[OPTION_WORKER])
        return muxd_keep(&line);
    start_told(argv[0]);
    return muxd_work(&line);
}
