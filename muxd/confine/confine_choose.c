/* confine_choose.c: owns the words for modes and back-ends, and the choice of a back-end: what each
 * can enforce, and what is missing where none can. */
#include "base/bug.h"
#include "confine/confine.h"
#include <linux/landlock.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const words[] = {[CONFINE_FULL_ACCESS] = "full-access",
                                    [CONFINE_READ_ONLY] = "read-only",
                                    [CONFINE_WORKSPACE_WRITE] = "workspace-write"};

bool confine_mode_by_word(const char *word, enum confine_mode *mode)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *mode = (enum confine_mode)i;
            return true;
        }
    return false;
}

const char *confine_mode_word(enum confine_mode mode)
{
    BUG_UNLESS((size_t)mode < sizeof words / sizeof *words);
    return words[mode];
}

const char *confine_backend_word(enum confine_backend backend)
{
    return backend == CONFINE_BY_LANDLOCK ? "landlock" : "bubblewrap";
}

int confine_landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return abi > 0 ? (int)abi : 0;
}

static bool confine_is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *confine_find_bwrap(const char *search)
{
    struct buf path = BUF_INIT;
    for (const char *dir = search; dir; dir = *dir ? dir + 1 : NULL) {
        size_t length = strcspn(dir, ":");
        buf_clear(&path);
        buf_append(&path, dir, length);
        buf_append_text(&path, "/bwrap");
        if (length > 0 && *dir == '/' && confine_is_program(path.data))
            return buf_take(&path);
        dir += length;
    }
    buf_fini(&path);
    return NULL;
}

/* Why Landlock can't enforce all of the plan; NULL: it can. */
static const char *beyond_landlock(const struct confine_plan *plan, int abi)
{
    if (plan->mode != CONFINE_READ_ONLY)
        return "Landlock can't keep .git read-only inside a directory that is writable";
    if (plan->network)
        return "Landlock can't hide the sockets of other programs, which the network's calls reach";
    if (abi == 0)
        return "this kernel has no Landlock, or it is switched off (lsm= on its command line)";
    if (abi < CONFINE_LANDLOCK_MIN)
        return "this kernel's Landlock does not keep signals inside (Linux 6.12 does)";
    return NULL;
}

/* The same of bubblewrap. */
static const char *beyond_bwrap(const struct confine_able *able)
{
    if (!able->bwrap)
        return "bubblewrap is not installed";
    return able->tried ? able->bwrap_why : "bubblewrap was not tried yet";
}

/* An unreadable path needs a mount. */
static const char *beyond(const struct confine_plan *plan, const struct confine_able *able)
{
    const char *why = beyond_landlock(plan, able->landlock_abi);
    return why          ? why
           : plan->asked ? "Landlock can't take a path away from what may be read"
                         : NULL;
}

bool confine_needs_trial(const struct confine_wish *wish, const struct confine_able *able)
{
    const struct confine_plan alike = {.mode = wish->mode,
                                       .network = wish->network,
                                       .asked = wish->unreadable && wish->unreadable[0]};
    return able->helper && able->bwrap && !able->tried && beyond(&alike, able);
}

static const char *what_to_do(const struct confine_able *able)
{
    if (!able->bwrap)
        return "install bubblewrap (apt install bubblewrap)";
    return "allow user name spaces (sysctl kernel.unprivileged_userns_clone=1 or "
           "kernel.apparmor_restrict_unprivileged_userns=0; in a container its own options)";
}

int confine_choose(const struct confine_plan *plan, const struct confine_able *able,
                   enum confine_backend *backend, struct buf *why, struct err *err)
{
    const char *no_landlock = beyond(plan, able), *no_bwrap = beyond_bwrap(able);
    if (!able->helper)
        return err_set(err, ERR_NOT_AVAILABLE,
                       "'%s' can't be enforced here, and nothing runs without it: %s",
                       confine_mode_word(plan->mode), able->helper_why);
    if (no_landlock && no_bwrap)
        return err_set(err, ERR_NOT_AVAILABLE,
                       "'%s' can't be enforced here, and nothing runs without it: %s; %s; %s, or "
                       "choose full-access",
                       confine_mode_word(plan->mode), no_bwrap, no_landlock, what_to_do(able));
    *backend = no_landlock ? CONFINE_BY_BUBBLEWRAP : CONFINE_BY_LANDLOCK;
    if (why)
        buf_append_text(why, no_landlock ? no_landlock
                                         : "the cheapest that can enforce all of this");
    return 0;
}
