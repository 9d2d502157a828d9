/* confine: sandboxes. A wish says what a command may do; a plan says what that means here, path by
 * path; a back-end enforces the whole plan, or there is none and the command does not run. Knows
 * the file system as it is while a plan is made, and no process. */
#ifndef MUXD_CONFINE_CONFINE_H
#define MUXD_CONFINE_CONFINE_H
#include "base/buf.h"
#include "base/err.h"
#include "base/strv.h"
#include <stdbool.h>

enum confine_mode {
    CONFINE_FULL_ACCESS, /* no sandbox */
    CONFINE_READ_ONLY,
    CONFINE_WORKSPACE_WRITE,
};
/* "read-only"; false: no such mode */
bool confine_mode_by_word(const char *word, enum confine_mode *mode);
const char *confine_mode_word(enum confine_mode mode);
#define CONFINE_MODES "read-only workspace-write full-access"

struct confine_wish {  /* borrowed */
    enum confine_mode mode;
    bool network;
    bool no_temp;             /* /tmp and $TMPDIR are no writable roots */
    const char *const *roots; /* writable besides the working directory; NULL: none */
    /* paths, or patterns that are looked for when the plan is made (confine_hide.h); NULL: none */
    const char *const *unreadable;
    /* what unreadable has come to when it was looked for before (confine_find); NULL: it was not */
    const char *const *found;
    const char *const *readable; /* not hidden, though unreadable names it; NULL: none */
    /* the writable directory, where that is not the one that the command begins in; absolute */
    const char *workspace;
};

extern const char *const confine_env[]; /* TMPDIR, XDG_RUNTIME_DIR, HOME, NULL */
struct confine_place { /* where the command is to run; borrowed */
    const char *cwd;   /* what may be written: the workspace */
    const char *begin; /* where the command begins; NULL: in cwd */
    const char *const *env; /* only confine_env of it is looked up */
    const char *socket, *state_dir; /* muxd's own, hidden inside; NULL: not known */
    const char *config; /* muxd's config file, never writable; NULL: none */
    const char *rules;  /* the rules beside it, which may be missing; never writable; NULL: none */
    /* where the user's own config would be found first, were it there; can't be made; NULL: none */
    const char *own_config;
};

struct confine_plan { /* all paths absolute, without links; owned */
    enum confine_mode mode;
    bool network;
    char *cwd, *begin;
    struct strv roots;  /* writable, parents first */
    struct strv pinned; /* directories between a root and what is kept, which must not be moved */
    struct strv bound;  /* roots and pinned, parents first */
    struct strv kept;   /* read-only inside the roots */
    struct strv made;   /* the same, but missing: an empty directory stands for each meanwhile */
    struct strv hidden_dirs, hidden_files;
    bool asked; /* some of the hidden ones were asked for: they must not be read */
};
/* ERR_ARGUMENTS: the wish can't be: a root that is no directory, or is reached through a link that
 * a program of this user may have made; a protected name that is a link. ERR_SPAWN: there is no
 * place->begin. plan is whole or empty. */
int confine_plan_make(struct confine_plan *plan, const struct confine_wish *wish,
                      const struct confine_place *place, struct err *err);
void confine_plan_fini(struct confine_plan *plan);

/* Whether one of the unreadable ones is a pattern, for which directories have to be read. */
bool confine_has_pattern(const char *const *unreadable);
/* Appends what they come to as the files are now, for confine_wish.found. Any thread; takes as long
 * as it takes to look at CONFINE_FIND_ENTRIES, where a plan that has to look itself gives up after
 * CONFINE_GLOB_ENTRIES. ERR_TOO_LARGE. */
int confine_find(const char *const *unreadable, struct strv *out, struct err *err);
#define CONFINE_FIND_ENTRIES 1000000
#define CONFINE_GLOB_ENTRIES 20000
/* The pattern with the part before its first name with a * ? or [ as it really is; the caller's.
 * NULL: there is no such directory. */
char *confine_pattern_real(const char *pattern);
/* Whether the path, or a directory that it lies in, matches the pattern; both absolute. */
bool confine_matches(const char *pattern, const char *path);
bool confine_is_below(const char *path, const char *dir); /* or the same */
/* The absolute path without links: *real, the caller's, and 0; or an errno, and err where a link on
 * the way may have been made by a program of this user. */
int confine_real(const char *path, char **real, struct err *err);

enum confine_backend { CONFINE_BY_LANDLOCK, CONFINE_BY_BUBBLEWRAP };
const char *confine_backend_word(enum confine_backend backend);

struct confine_able { /* what this machine can do */
    char *helper;     /* path of muxd-confine; NULL: there is none, see helper_why */
    char *helper_why;
    char *bwrap;      /* path; NULL: not installed */
    bool tried;       /* the trial is over */
    char *bwrap_why;  /* why it does not work; NULL: it does */
    bool unsure;      /* the trial came to no end: it may work all the same */
    int landlock_abi; /* 0: none */
};
#define CONFINE_LANDLOCK_MIN 6 /* the first one that keeps signals inside; Linux 6.12 */
/* The first one that lets files be moved between directories, so that it can stand behind
 * bubblewrap, whose mounts do not keep named pipes from being written; Linux 5.19. */
#define CONFINE_LANDLOCK_PIPES 2

/* Landlock's version; 0: the kernel has none, or it is off. */
int confine_landlock_abi(void);
/* The program bwrap in a search path; the caller's; NULL: there is none. */
char *confine_find_bwrap(const char *search);
/* Whether choosing for a plan of this wish needs the outcome of the trial. */
bool confine_needs_trial(const struct confine_wish *wish, const struct confine_able *able);
/* The cheapest that can enforce the whole plan. why (may be NULL) gets the reason as a clause.
 * ERR_NOT_AVAILABLE: none can; the text says what to install or set. */
int confine_choose(const struct confine_plan *plan, const struct confine_able *able,
                   enum confine_backend *backend, struct buf *why, struct err *err);
/* The command line that runs `command` confined; out is empty before. ERR_SYSTEM, ERR_TOO_LARGE. */
int confine_argv(const struct confine_plan *plan, enum confine_backend backend,
                 const struct confine_able *able, const char *const *command, struct strv *out,
                 struct err *err);
/* The command line of the trial: everything that bubblewrap has to be able to do. */
int confine_trial_argv(const struct confine_able *able, struct strv *out, struct err *err);
/* The whole plan as lines for people, as far as the back-end has to do with it. */
void confine_explain(const struct confine_plan *plan, enum confine_backend backend,
                     struct buf *out);
#endif
