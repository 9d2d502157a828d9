/* limit_kind: each limit by itself: its name, its value now, and how to raise it. For limit.c. */
#ifndef MUXD_BASE_LIMIT_KIND_H
#define MUXD_BASE_LIMIT_KIND_H
#include "base/limit.h"

enum limit_kind {
    LIMIT_KIND_NONE,
    LIMIT_KIND_FILES,         /* of a process */
    LIMIT_KIND_ALL_FILES,     /* of the machine */
    LIMIT_KIND_PASSED,        /* descriptors of the user: sent over sockets, not received yet */
    LIMIT_KIND_PROCESSES,     /* of the user */
    LIMIT_KIND_GROUP,         /* processes of the control group */
    LIMIT_KIND_ALL_PROCESSES, /* of the machine */
    LIMIT_KIND_TERMINALS,     /* of the machine */
    LIMIT_KIND_DEVPTS,        /* of one mount of devpts */
    LIMIT_KIND_INSTANCES,     /* of inotify */
    LIMIT_KIND_INSTANCES_HERE, /* in this user namespace */
    LIMIT_KIND_WATCHES,       /* of inotify */
    LIMIT_KIND_POLLED,        /* of epoll */
    LIMIT_KIND_LOCKED,        /* memory */
    LIMIT_KIND_SIZE,          /* of a file */
    LIMIT_KIND_DATA,          /* of a process, as the next two */
    LIMIT_KIND_SPACE,
    LIMIT_KIND_STACK,
    LIMIT_KIND_YAMA,          /* access to the state of a program */
    LIMIT_KIND_HIDEPID,       /* sight of other users' processes */
    LIMIT_KINDS
};

struct limit_value {
    uint64_t value; /* UINT64_MAX: no limit */
    /* of LIMIT_KIND_GROUP: the group; of LIMIT_KIND_DEVPTS, LIMIT_KIND_HIDEPID: where it is
     * mounted */
    char place[128];
};

enum limit_kind limit_kind_of(enum limit_use use, int error);
/* RLIMIT_STACK is lower than muxd needs. */
bool limit_kind_stack_is_low(void);
void limit_kind_value(enum limit_kind kind, struct limit_value *out);
/* limit and raise of out */
void limit_kind_text(enum limit_kind kind, const struct limit_value *value, struct limit_text *out);
#endif
