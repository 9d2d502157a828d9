/* turns: runs contestants in turn and prints a line for each turn: LABEL WALL_NS CPU_NS.
 *   bench-turns -n ROUNDS [-w WARM_UP] [-s MS] [-p PID]… [-f LABEL]… ::: KIND LABEL ARG… ::: KIND LABEL ARG… …
 * -p names the daemon's processes, whose processor time is told for requests. The first one in a round changes from round to round.
 * -s pauses before each turn, so that nobody pays for what the kernel still does for the one before.
 * -f names who may fail or hang: it drops out, its reason goes to stderr, and the others go on. */
#include "turns.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TURNS_MAX 16
#define PIDS_MAX 16
#define TURN_SECONDS_MAX 180 /* only something that hangs takes so long */

static const struct turn_kind *const kinds[] = {&turn_spawn, &turn_fork,  &turn_helper,    &turn_call,
                                               &turn_crash, &turn_repl, &turn_drain_pty, &turn_drain_pipe, &turn_keep_pipe,
                                               &turn_echo, &turn_view, &turn_first, &turn_libue};
static struct turn turns[TURNS_MAX];
static int nturns;
static pid_t pids[PIDS_MAX];
static int npids;
static const char *failing[TURNS_MAX];
static int nfailing;
static long pause_ms;
static struct turn *taking; /* who has the turn; NULL: nobody */
static sigjmp_buf dropped;

int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static const char *label(void)
{
    return taking ? taking->label : "?";
}

void die(const char *format, ...)
{
    int error = errno;
    va_list args;
    va_start(args, format);
    fputs("bench-turns: ", stderr);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, error ? ": %s\n" : "\n", strerror(error));
    if (taking && taking->may_fail)
        siglongjmp(dropped, 1);
    exit(1);
}

void *must(void *memory)
{
    if (!memory)
        die("out of memory");
    return memory;
}

void write_whole(int fd, const void *data, size_t size)
{
    for (const char *at = data; size > 0;) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno != EINTR)
            die("'%s': can't write", label());
        if (n > 0)
            at += n, size -= (size_t)n;
    }
}

void expect_success(const struct turn *turn, pid_t pid)
{
    int status;
    pid_t got;
    while ((got = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        ;
    if (got < 0)
        die("'%s': can't wait for it", turn->label);
    errno = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        die("'%s': its program ended with wait status 0x%x", turn->label, (unsigned)status);
}

bool has_all(const char *text, const char *lines)
{
    while (*lines) {
        size_t len = strcspn(lines, "\n");
        char *line = must(strndup(lines, len));
        bool found = strstr(text, line);
        free(line);
        if (!found)
            return false;
        lines += len + (lines[len] == '\n');
    }
    return true;
}

static int64_t own_cpu_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    int64_t seconds = (int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
    return seconds * 1000000000 + ((int64_t)usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

/* The first number of schedstat (proc(5)): nanoseconds on a processor. */
static int64_t daemon_cpu_ns(void)
{
    int64_t sum = 0;
    for (int i = 0; i < npids; i++) {
        char path[64], text[128];
        snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pids[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (n <= 0)
            die("can't read '%s'", path);
        close(fd);
        text[n] = '\0';
        sum += strtoll(text, NULL, 10);
    }
    return sum;
}

/* Who hangs is named, as who fails is. */
static void on_alarm(int signo)
{
    static const char before[] = "bench-turns: '", behind[] = "': hangs\n";
    (void)signo;
    (void)!write(STDERR_FILENO, before, sizeof before - 1);
    (void)!write(STDERR_FILENO, label(), strlen(label()));
    (void)!write(STDERR_FILENO, behind, sizeof behind - 1);
    if (taking && taking->may_fail)
        siglongjmp(dropped, 1);
    _exit(1);
}

/* Calls step with the turn, unless it has dropped out; where it does so in here, that is all. */
static void attempt(struct turn *turn, void (*step)(struct turn *turn, bool counts), bool counts)
{
    if (turn->out)
        return;
    taking = turn;
    alarm(TURN_SECONDS_MAX);
    if (sigsetjmp(dropped, 1) == 0)
        step(turn, counts);
    else
        taking->out = true;
    taking = NULL;
}

static void begin_one(struct turn *turn, bool counts)
{
    (void)counts;
    if (turn->kind->begin)
        turn->kind->begin(turn);
}

static void end_one(struct turn *turn, bool counts)
{
    (void)counts;
    if (turn->kind->end)
        turn->kind->end(turn);
}

static void take_one(struct turn *turn, bool counts)
{
    const struct turn_kind *kind = turn->kind;
    const struct timespec pause = {.tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
    int64_t cpu_ns = kind->cpu == CPU_OWN ? own_cpu_ns() : kind->cpu == CPU_DAEMON ? daemon_cpu_ns() : 0;
    int64_t wall_ns = kind->take(turn);
    cpu_ns = (kind->cpu == CPU_OWN ? own_cpu_ns() : kind->cpu == CPU_DAEMON ? daemon_cpu_ns() : 0) - cpu_ns;
    if (counts)
        printf("%s %lld %lld\n", turn->label, (long long)wall_ns, (long long)cpu_ns);
}

static void add_turn(int argc, char **argv)
{
    const struct turn_kind *kind = NULL;
    if (argc < 2 || nturns == TURNS_MAX)
        die("a contestant is KIND LABEL ARG…, at most %d of them", TURNS_MAX);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i]->name, argv[0]) == 0)
            kind = kinds[i];
    if (!kind)
        die("'%s': no kind of that name", argv[0]);
    if (argc - 2 < kind->argc_min)
        die("usage: %s LABEL %s", kind->name, kind->usage);
    bool may_fail = false;
    for (int i = 0; i < nfailing; i++)
        may_fail |= strcmp(failing[i], argv[1]) == 0;
    turns[nturns++] = (struct turn){.kind = kind, .label = argv[1], .argc = argc - 2, .argv = argv + 2, .may_fail = may_fail};
}

static long number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < 0)
        die("'%s': not a number", text);
    return value;
}

int main(int argc, char **argv)
{
    long rounds = 1, warm_up = 0;
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "-f") == 0 && nfailing < TURNS_MAX) {
            failing[nfailing++] = argv[at + 1];
            continue;
        }
        long value = number(argv[at + 1]);
        if (strcmp(argv[at], "-n") == 0)
            rounds = value;
        else if (strcmp(argv[at], "-w") == 0)
            warm_up = value;
        else if (strcmp(argv[at], "-s") == 0)
            pause_ms = value;
        else if (strcmp(argv[at], "-p") == 0 && npids < PIDS_MAX)
            pids[npids++] = (pid_t)value;
        else
            die("'%s': no option of that name, or too many", argv[at]);
    }
    if (at >= argc || strcmp(argv[at], ":::") != 0)
        die("usage: bench-turns -n ROUNDS [-w WARM_UP] [-s MS] [-p PID]… [-f LABEL]… ::: KIND LABEL ARG… ::: …");
    while (at < argc) {
        int first = ++at;
        while (at < argc && strcmp(argv[at], ":::") != 0)
            at++;
        argv[at] = NULL; /* ends the contestant's own vector */
        add_turn(at - first, argv + first);
    }
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || signal(SIGALRM, on_alarm) == SIG_ERR)
        die("can't prepare for signals");
    for (int i = 0; i < nturns; i++)
        attempt(&turns[i], begin_one, false);
    for (long round = -warm_up; round < rounds; round++)
        for (int i = 0; i < nturns; i++)
            attempt(&turns[(i + round + warm_up) % nturns], take_one, round >= 0);
    for (int i = 0; i < nturns; i++)
        attempt(&turns[i], end_one, false);
    return 0;
}
