/* denial: whether a sandbox is why a command failed, by evidence: how it ended, then the files that
 * its output names and what the plan says of them, then the exit status by which a program that
 * says nothing tells of the network, then the words of its output (CODEX.md 18.6).
 * The filter itself leaves no trace: SECCOMP_RET_ERRNO is told to nobody but the caller, Landlock
 * and audit only to the machine's administrator, and a supervisor (SECCOMP_RET_USER_NOTIF) would be
 * one more process for each command, without which the calls fail in another way. Other errors than
 * Codex's would mislead programs. Only the end by SIGSYS is seccomp's own word. */
#ifndef MUXD_CONFINE_DENIAL_H
#define MUXD_CONFINE_DENIAL_H
#include "confine/confine.h"
#include <limits.h>

struct denial_file { /* what this user may do with a path, outside of any sandbox */
    char real[PATH_MAX]; /* without links; the last name need not exist */
    bool exists, is_dir, readable, executable;
    bool writable;     /* itself, or the directory in which it would be made */
    bool on_read_only; /* its file system is */
};
/* False: it can't be told. */
typedef bool denial_probe_fn(void *arg, const char *path, struct denial_file *file);

struct denial_case { /* borrowed */
    int exit_code, signo; /* signo 0: it was not ended by a signal */
    const char *command;  /* as people are shown it; NULL: not known */
    const char *output;   /* the end of it */
    size_t size;
    const struct confine_plan *plan;
    /* what is hidden besides, as patterns whose fixed part has no link; NULL: nothing */
    const char *const *hidden;
    denial_probe_fn *probe; /* NULL: denial_probe_file */
    void *arg;
};

enum denial_operation {
    DENIAL_NONE, /* nothing says that it was the sandbox */
    DENIAL_WRITE,
    DENIAL_READ,
    DENIAL_NETWORK,
    DENIAL_CALL, /* of the system */
    DENIAL_UNKNOWN,
};
enum denial_evidence {
    DENIAL_BY_SECCOMP,
    DENIAL_BY_PATH,
    DENIAL_BY_PLAN,
    DENIAL_BY_WORDS,
    DENIAL_BY_STATUS,
};
struct denial {
    enum denial_operation operation;
    enum denial_evidence evidence;
    /* owned: the path, the call, the words of the output, or the program; NULL: none */
    char *subject;
    bool kept;     /* the path lies in a root, and stays read-only there */
    bool vain;     /* this user may not do it without the sandbox either */
};

#define DENIAL_OUTPUT 8192 /* bytes of output that are looked at */
void denial_find(struct denial *denial, const struct denial_case *of);
void denial_fini(struct denial *denial);
/* "the sandbox (read-only) refused …", a clause without a full stop. */
void denial_words(const struct denial *denial, const struct confine_plan *plan, struct buf *out);
const char *denial_operation_word(enum denial_operation operation); /* "write", "unknown" … */
const char *denial_evidence_word(enum denial_evidence evidence);    /* "path", "words" … */

/* denial_probe.c: asks the file system, as this process. */
bool denial_probe_file(void *arg, const char *path, struct denial_file *file);
#endif
