/* confine_hide.c: owns what a plan hides: doors to services and to muxd itself, and what a wish
 * names as unreadable. */
#include "confine/confine_hide.h"
#include "base/path.h"
#include "confine/confine_git.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const confine_env[] = {"TMPDIR", "XDG_RUNTIME_DIR", "HOME", NULL};

/* Of a directory that holds the workspace only the file is hidden. Whether there is something that
 * is not hidden as a whole. */
static bool hide(struct confine_plan *plan, const char *path, const char *or_file)
{
    char real[PATH_MAX];
    /* most are not there, and access asks once where realpath asks of each directory */
    if (!path || access(path, F_OK) != 0 || !realpath(path, real))
        return false;
    bool holds = confine_is_below(plan->cwd, real);
    for (size_t i = 0; i < plan->roots.count; i++)
        holds |= confine_is_below(plan->roots.items[i], real);
    if (!holds && strcmp(real, "/") != 0) {
        confine_add_once(confine_is_dir(real) ? &plan->hidden_dirs : &plan->hidden_files, real);
        return false;
    }
    if (or_file && realpath(or_file, real))
        confine_add_once(&plan->hidden_files, real);
    return true;
}

/* Where the workspace lies in a runtime directory, what is known to be a door in it is hidden. */
static void hide_runtime(struct confine_plan *plan, const char *dir)
{
    static const char *const doors[] = {
        "bus",     "systemd", "dbus-1",    "docker.sock", "podman", "containerd", "gnupg",
        "keyring", "at-spi",  "wayland-0", "pipewire-0",  "pulse",  "muxd"};
    if (!hide(plan, dir, NULL))
        return;
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++) {
        char *door = path_join(dir, doors[i]);
        hide(plan, door, NULL);
        free(door);
    }
}

/* Sockets of services that do things for whoever may connect, outside of every sandbox. */
static void hide_doors(struct confine_plan *plan, const struct confine_place *place)
{
    static const char *const doors[] = {"/run/docker.sock", "/run/podman/podman.sock",
                                        "/run/containerd/containerd.sock", "/tmp/.X11-unix"};
    const char *given = strv_env_get(place->env, "XDG_RUNTIME_DIR");
    char own[64];
    snprintf(own, sizeof own, "/run/user/%u", (unsigned)geteuid());
    hide_runtime(plan, own);
    if (given && strcmp(given, own) != 0)
        hide_runtime(plan, given);
    snprintf(own, sizeof own, "/tmp/tmux-%u", (unsigned)geteuid());
    hide(plan, own, NULL);
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++)
        hide(plan, doors[i], NULL);
    if (place->socket) {
        char *dir = path_dirname(place->socket);
        hide(plan, dir, place->socket);
        free(dir);
    }
    hide(plan, place->state_dir, NULL);
}

/* In a directory that is hidden there is nothing left to mount over. */
static void drop_covered(struct strv *paths, const struct strv *dirs)
{
    struct strv left = {0};
    for (size_t i = 0; i < paths->count; i++) {
        bool covered = false;
        for (size_t j = 0; j < dirs->count; j++)
            covered |= strcmp(paths->items[i], dirs->items[j]) != 0 &&
                       confine_is_below(paths->items[i], dirs->items[j]);
        if (!covered)
            strv_add(&left, paths->items[i]);
    }
    strv_fini(paths);
    *paths = left;
}

/* What a person has let this command read after all. */
static bool is_readable(const struct confine_wish *wish, const char *hidden)
{
    char real[PATH_MAX];
    for (size_t i = 0; wish->readable && wish->readable[i]; i++)
        if (realpath(wish->readable[i], real) && confine_is_below(hidden, real))
            return true;
    return false;
}

static int hide_asked(struct confine_plan *plan, const struct confine_wish *wish, struct err *err)
{
    char real[PATH_MAX];
    struct strv paths = {0};
    int code = 0;
    strv_add_all(&paths, wish->found);
    for (size_t i = 0; !wish->found && wish->unreadable && wish->unreadable[i] && !code; i++)
        code = confine_glob(wish->unreadable[i], CONFINE_GLOB_ENTRIES, &paths, err);
    for (size_t i = 0; i < paths.count && !code; i++)
        if (realpath(paths.items[i], real) && !is_readable(wish, real)) {
            /* else there is nothing to read, or it may be read */
            confine_add_once(confine_is_dir(real) ? &plan->hidden_dirs : &plan->hidden_files, real);
            plan->asked = true;
        }
    strv_fini(&paths);
    return code;
}

/* A part of what is hidden can't be shown: a directory is hidden as a whole. */
static int check_readable(const struct confine_plan *plan, const struct confine_wish *wish,
                          struct err *err)
{
    char real[PATH_MAX];
    const struct strv *const lists[] = {&plan->hidden_dirs, &plan->hidden_files};
    for (size_t i = 0; wish->readable && wish->readable[i]; i++) {
        bool there = realpath(wish->readable[i], real) != NULL;
        for (size_t j = 0; there && j < sizeof lists / sizeof *lists; j++)
            for (size_t k = 0; k < lists[j]->count; k++)
                if (confine_is_below(real, lists[j]->items[k]))
                    return err_set(err, ERR_ARGUMENTS,
                                   "'%s' can't be shown to a command in a sandbox: '%s' is hidden "
                                   "as a whole; do without it, or ask to run without the sandbox",
                                   real, lists[j]->items[k]);
    }
    return 0;
}

int confine_find(const char *const *unreadable, struct strv *out, struct err *err)
{
    int code = 0;
    for (; *unreadable && !code; unreadable++)
        code = confine_glob(*unreadable, CONFINE_FIND_ENTRIES, out, err);
    return code;
}

int confine_hide(struct confine_plan *plan, const struct confine_wish *wish,
                 const struct confine_place *place, struct err *err)
{
    hide_doors(plan, place);
    int code = hide_asked(plan, wish, err);
    if (!code)
        code = check_readable(plan, wish, err);
    drop_covered(&plan->hidden_files, &plan->hidden_dirs);
    drop_covered(&plan->hidden_dirs, &plan->hidden_dirs);
    for (size_t i = 0; i < plan->hidden_dirs.count; i++)
        confine_pin(plan, plan->hidden_dirs.items[i]);
    for (size_t i = 0; i < plan->hidden_files.count; i++)
        confine_pin(plan, plan->hidden_files.items[i]);
    return code;
}
