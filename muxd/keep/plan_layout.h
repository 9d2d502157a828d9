/* plan_layout: how a plan lies in its memfd. The same version of muxd writes and reads it; the
 * reader checks every bound all the same, because a mistake there kills the keeper's child without
 * a word. Offsets count from the start of the file. */
#ifndef MUXD_KEEP_PLAN_LAYOUT_H
#define MUXD_KEEP_PLAN_LAYOUT_H
#include <stdint.h>

#define PLAN_MAGIC 0x4e414c50444d0a1aULL
#define PLAN_VERSION 1
#define PLAN_STRING_MAX 131072 /* MAX_ARG_STRLEN of Linux, its NUL counted */
#define PLAN_BYTES_MAX (8 << 20)
#define PLAN_STRINGS_MAX 200000
#define PLAN_LIMITS_MAX 16
/* slot in front of argv: "/bin/sh PATH …" when the file is a script without #! (as execvp(3)) */
#define PLAN_ARGV_ROOM 1

struct plan_limit_row {
    int64_t resource;
    uint64_t soft, hard;
};
struct plan_head {
    uint64_t magic, version, size;
    uint64_t tty, umask, nofile_soft;
    uint64_t program, cwd; /* strings; cwd 0: stay */
    /* argv: argc slots and a 0, each the offset of a string; the reader turns them into pointers in
     * its private mapping */
    uint64_t argc, argv;
    uint64_t envc, env;
    uint64_t nlimits;
    struct plan_limit_row limits[PLAN_LIMITS_MAX];
};
#endif
