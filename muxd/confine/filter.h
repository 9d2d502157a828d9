/* filter: which system calls a confined program may not make, as a program for seccomp(2). Owns
 * libseccomp, which only this room's filter.c includes. */
#ifndef MUXD_CONFINE_FILTER_H
#define MUXD_CONFINE_FILTER_H
#include "base/err.h"
#include <stdbool.h>

struct filter_how {
    bool network;  /* sockets of all families, and connections; else only what it makes itself */
    bool landlock; /* without mounts: what Landlock does not know is refused here */
};
/* The program's bytes in hex, made once for each `how` and kept; never freed by the caller.
 * NULL and err: ERR_SYSTEM. */
const char *filter_hex(struct filter_how how, struct err *err);
#endif
