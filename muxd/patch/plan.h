/* plan: what a verified patch will do, passed from prepare.c to commit.c. */
#ifndef MUXD_PATCH_PLAN_H
#define MUXD_PATCH_PLAN_H
#include "patch/apply.h"
#include "patch/place.h"
#include <sys/stat.h>

#define TEMP_NAME_SIZE 32

enum spot_state {
    SPOT_UNTOUCHED,
    SPOT_STAGED,  /* temp holds the new contents */
    SPOT_CREATED, /* the new file is at its place, which was empty */
    SPOT_SWAPPED, /* the new file is at its place, temp holds the old one */
    SPOT_TAKEN,   /* the place is empty, temp holds the old file */
    SPOT_REWRITTEN, /* the file has its new contents, saved holds the old ones */
};

/* A place in the file system that changes. */
struct spot {
    struct place place; /* symbolic links followed, but of a file that is deleted */
    char *shown;        /* owned; the path as the patch names it, absolute, for texts */
    bool existed;
    /* when existed: the verified file, which must be unchanged at the commit */
    struct stat was;
    enum spot_state state;
    char temp[TEMP_NAME_SIZE]; /* a temporary name beside it */
    struct buf saved;
    /* For a file that stands in several sections: the step before this one that wrote it (NULL:
     * none, or it was deleted), and whether a later one decides what becomes of it. */
    const struct step *earlier;
    bool superseded;
};

struct step {
    enum patch_kind kind;
    const char *path; /* borrowed from the patch */
    bool writes, drops;
    /* update in place: write only; move: both; add: write; delete: drop */
    struct spot write, drop;
    bool outside;
    bool unchanged; /* an update in place without a change: nothing is written */
    struct buf old, new;
    struct stat source_was;  /* update: the file that was read */
    const struct stat *like; /* the new file takes its mode and owner; NULL: those of a new file */
};

struct patch_plan {
    struct patch patch;
    struct patch_options options; /* cwd and roots are NULL: the caller's are gone */
    struct place_dirs dirs;
    struct step *steps;
    size_t count;
    bool rejected;  /* for where it writes: it must not be committed */
    bool committed;
};

/* Sets *failure and returns code. program is taken over; the reply is a prefix, program's text and,
 * when reason isn't NULL, ": reason". */
int patch_fail(struct patch_failure *failure, enum patch_stage stage, int code, char *program,
               const char *reason);
/* Gives the failure another reply, which is taken over. Returns its code. */
int patch_fail_reply(struct patch_failure *failure, char *reply);
/* "No such file or directory (os error 2)"; the caller's. */
char *patch_os_error(int error);
#endif
