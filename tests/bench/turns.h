/* turns: what the kinds of contestants have in common. A contestant does the same small thing again and again; turns.c lets all
 * of them take turns in one run, so that whatever the machine does meanwhile happens to each of them. */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum turn_cpu { CPU_NOT_ASKED, CPU_OWN, CPU_DAEMON };

struct turn_kind;

struct turn {
    const struct turn_kind *kind;
    const char *label;
    int argc;    /* what stands behind KIND LABEL */
    char **argv; /* NULL-terminated, borrowed from main's */
    void *state; /* the kind's own */
    bool may_fail, out; /* it drops out where others end all; it has done so */
};

struct turn_kind {
    const char *name, *usage;
    int argc_min;
    enum turn_cpu cpu;             /* whose processor time counts for a turn */
    void (*begin)(struct turn *);  /* may be NULL, as end */
    int64_t (*take)(struct turn *); /* one turn; its time in nanoseconds. Does not return when the turn went wrong */
    void (*end)(struct turn *);
};

extern const struct turn_kind turn_spawn, turn_fork, turn_helper;           /* turn_process.c */
extern const struct turn_kind turn_call, turn_crash;                        /* turn_socket.c */
extern const struct turn_kind turn_repl, turn_drain_pty, turn_drain_pipe, turn_keep_pipe;   /* turn_terminal.c */

extern const struct turn_kind turn_libue;                                   /* turn_libue.c */
extern const struct turn_kind turn_echo, turn_view, turn_first;              /* turn_attach.c */

int64_t now_ns(void); /* monotonic */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2))); /* errno's text follows when errno is set */
void *must(void *memory);
void write_whole(int fd, const void *data, size_t size);
void expect_success(const struct turn *turn, pid_t pid); /* waits for it; dies unless it exited with 0 */
bool has_all(const char *text, const char *lines);       /* text contains each of the lines */
#endif
