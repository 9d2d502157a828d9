/* confine_argv.c: owns the command lines of the back-ends: muxd-confine, in front of bubblewrap or
 * by itself. */
#include "base/bug.h"
#include "confine/confine.h"
#include "confine/confine_git.h"
#include "confine/confine_words.h"
#include "confine/filter.h"
#include <string.h>

#define SHM_BYTES "67108864" /* of /dev/shm, which would take half of the memory else */

#define ADD(out, ...) strv_add_all(out, (const char *const[]){__VA_ARGS__, NULL})

static void add_landlock(const struct confine_able *able, const char *hex, struct strv *out)
{
    static const char *const writable[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                           "/dev/urandom", "/dev/tty"};
    ADD(out, able->helper, CONFINE_VERSION, CONFINE_LANDLOCK);
    for (size_t i = 0; i < sizeof writable / sizeof *writable; i++)
        ADD(out, CONFINE_WRITE, writable[i]);
    ADD(out, CONFINE_FILTER, hex, "--");
}

/* Everything can be read, nothing be written, no process outside be seen. */
static void add_base(bool network, struct strv *out)
{
    ADD(out, "--unshare-user", "--unshare-pid", "--unshare-ipc");
    if (!network)
        ADD(out, "--unshare-net");
    ADD(out, "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev");
    ADD(out, "--size", SHM_BYTES, "--tmpfs", "/dev/shm", "--remount-ro", "/dev");
    ADD(out, "--proc", "/proc");
}

/* What becomes writable is what muxd-confine has opened, without following a link. What is taken
 * away again is found by its name. */
static void add_roots(const struct confine_plan *plan, struct strv *out)
{
    for (size_t i = 0; i < plan->bound.count; i++) {
        strv_add(out, "--bind");
        strv_addf(out, "/proc/self/fd/%zu", CONFINE_OPEN_FD + i);
        strv_add(out, plan->bound.items[i]);
    }
    for (size_t i = 0; i < plan->kept.count; i++)
        ADD(out, "--ro-bind", plan->kept.items[i], plan->kept.items[i]);
    for (size_t i = 0; i < plan->made.count; i++)
        ADD(out, "--ro-bind", plan->made.items[i], plan->made.items[i]);
}

static void add_hidden(const struct confine_plan *plan, struct strv *out)
{
    for (size_t i = 0; i < plan->hidden_dirs.count; i++) {
        ADD(out, "--perms", "0000", "--tmpfs", plan->hidden_dirs.items[i]);
        ADD(out, "--remount-ro", plan->hidden_dirs.items[i]);
    }
    /* a device without its device's meaning: it can't be opened */
    for (size_t i = 0; i < plan->hidden_files.count; i++)
        ADD(out, "--ro-bind", "/dev/null", plan->hidden_files.items[i]);
}

/* What runs behind bubblewrap. A mount that is read-only keeps files from being written, not named
 * pipes: Landlock does. */
static void add_inside(const struct confine_plan *plan, const struct confine_able *able,
                       struct strv *out)
{
    ADD(out, able->helper, CONFINE_VERSION, CONFINE_INSIDE);
    if (able->landlock_abi >= CONFINE_LANDLOCK_PIPES) {
        ADD(out, CONFINE_WRITE, "/dev", CONFINE_WRITE, "/proc");
        for (size_t i = 0; i < plan->roots.count; i++)
            ADD(out, CONFINE_WRITE, plan->roots.items[i]);
    }
    ADD(out, "--");
}

static void add_bwrap(const struct confine_plan *plan, const struct confine_able *able,
                      const char *hex, struct strv *out)
{
    ADD(out, able->helper, CONFINE_VERSION, CONFINE_OUTSIDE);
    /* in this order: what is held gets the numbers behind those that are told to bubblewrap */
    for (size_t i = 0; i < plan->bound.count; i++)
        ADD(out, CONFINE_OPEN, plan->bound.items[i]);
    for (size_t i = 0; i < plan->made.count; i++)
        ADD(out, CONFINE_MAKE, plan->made.items[i]);
    ADD(out, CONFINE_FILTER, hex, "--", able->bwrap);
    add_base(plan->network, out);
    add_roots(plan, out);
    add_hidden(plan, out);
    ADD(out, "--chdir", plan->begin, "--seccomp");
    strv_addf(out, "%d", CONFINE_FILTER_FD);
    ADD(out, "--");
    add_inside(plan, able, out);
}

int confine_argv(const struct confine_plan *plan, enum confine_backend backend,
                 const struct confine_able *able, const char *const *command, struct strv *out,
                 struct err *err)
{
    bool landlock = backend == CONFINE_BY_LANDLOCK;
    BUG_UNLESS(able->helper && (landlock || able->bwrap) && command[0]);
    struct filter_how how = {.network = plan->network, .landlock = landlock};
    const char *hex = filter_hex(how, err);
    if (!hex)
        return ERR_SYSTEM;
    if (landlock)
        add_landlock(able, hex, out);
    else
        add_bwrap(plan, able, hex, out);
    strv_add_all(out, command);
    return 0;
}

int confine_trial_argv(const struct confine_able *able, struct strv *out, struct err *err)
{
    const struct confine_plan plan = {
        .mode = CONFINE_READ_ONLY, .cwd = (char[]){"/"}, .begin = (char[]){"/"}, .network = false};
    const char *const command[] = {able->helper, CONFINE_VERSION, CONFINE_CHECK, NULL};
    return confine_argv(&plan, CONFINE_BY_BUBBLEWRAP, able, command, out, err);
}

static void explain_all(struct buf *out, const char *what, const struct strv *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        buf_printf(out, "%-10s %s\n", what, paths->items[i]);
}

void confine_explain(const struct confine_plan *plan, enum confine_backend backend,
                     struct buf *out)
{
    buf_printf(out, "%-10s %s\n%-10s %s\n", "mode", confine_mode_word(plan->mode), "network",
               plan->network ? "yes" : "no");
    explain_all(out, "writable", &plan->roots);
    explain_all(out, "read-only", &plan->kept);
    explain_all(out, "missing", &plan->made);
    if (backend == CONFINE_BY_LANDLOCK)
        return; /* it hides nothing; the filter lets nobody connect to a socket in there */
    explain_all(out, "hidden", &plan->hidden_dirs);
    explain_all(out, "hidden", &plan->hidden_files);
}
