/* doctor_sandboxes: owns the rows about sandboxes: what each mode is enforced by, and what each
 * back-end lacks. */
#include "base/fdio.h"
#include "cmd/doctor.h"
#include "cmd/gate_default.h"
#include "guard/policy.h"
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSTALL "sudo apt install bubblewrap"

/* -1: there is no such setting. */
static int64_t setting(const char *path)
{
    char text[32];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : fd_read_all(fd, text, sizeof text - 1);
    fd_close(&fd);
    text[size > 0 ? size : 0] = '\0';
    return size > 0 ? strtoll(text, NULL, 10) : -1;
}

void doctor_userns(struct json *rows, const struct doctor_userns *found, bool bwrap_works)
{
    struct doctor_say say = {DOCTOR_ADVICE, "bubblewrap can't make a sandbox", NULL};
    const char *what = NULL;
    if (bwrap_works || found->root) {
        doctor_add(rows, DOCTOR_USERNS, DOCTOR_FINE, "%s",
                   bwrap_works ? "bubblewrap can make them" : "root may make them");
        return;
    }
    if (found->most == 0) {
        what = "user.max_user_namespaces is 0: nobody may make one";
        say.todo = "sudo sysctl user.max_user_namespaces=16384 (and in /etc/sysctl.d)";
    } else if (found->clone == 0) {
        what = "kernel.unprivileged_userns_clone is 0: only root may make them";
        say.todo = "sudo sysctl kernel.unprivileged_userns_clone=1 (and in /etc/sysctl.d)";
    } else if (found->apparmor > 0) {
        what = "AppArmor lets only programs with a profile of their own make them "
               "(kernel.apparmor_restrict_unprivileged_userns is 1)";
        say.todo = "give bwrap a profile with userns, or sudo sysctl "
                   "kernel.apparmor_restrict_unprivileged_userns=0 (and in /etc/sysctl.d)";
    }
    if (what)
        doctor_add(rows, DOCTOR_USERNS, say, "%s", what);
    else
        doctor_add(rows, DOCTOR_USERNS, DOCTOR_FINE, "no setting of the kernel forbids them");
}

static void add_userns(const struct doctor *doctor, bool bwrap_works)
{
    const struct doctor_userns found = {
        .clone = setting("/proc/sys/kernel/unprivileged_userns_clone"),
        .most = setting("/proc/sys/user/max_user_namespaces"),
        .apparmor = setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        .root = geteuid() == 0};
    doctor_userns(doctor->rows, &found, bwrap_works);
}

static void add_bubblewrap(const struct doctor *doctor, bool works)
{
    const struct confine_able *able = doctor->able;
    const char *means = "workspace-write can't be enforced without it";
    if (!able->bwrap)
        doctor_add(doctor->rows, DOCTOR_BUBBLEWRAP,
                   (struct doctor_say){DOCTOR_ADVICE, means, INSTALL}, "is not installed");
    else if (!able->helper)
        doctor_add(doctor->rows, DOCTOR_BUBBLEWRAP,
                   (struct doctor_say){DOCTOR_BAD, "nothing can be confined",
                                       "make install, which puts it there"},
                   "%s", able->helper_why);
    else if (!works)
        doctor_add(doctor->rows, DOCTOR_BUBBLEWRAP,
                   (struct doctor_say){DOCTOR_ADVICE, means,
                                       "let users make name spaces (see the row userns); in a "
                                       "container by its own options"},
                   "%s", able->bwrap_why ? able->bwrap_why : "was not tried");
    else
        doctor_add(doctor->rows, DOCTOR_BUBBLEWRAP, DOCTOR_FINE, "%s works", able->bwrap);
}

static void sandboxes_add_landlock(const struct doctor *doctor)
{
    int abi = doctor->able->landlock_abi;
    struct doctor_say say = {DOCTOR_ADVICE, "read-only needs bubblewrap, and starts slower",
                             "use Linux 6.12 or later, with landlock in lsm= of its command line"};
    if (abi == 0)
        doctor_add(doctor->rows, DOCTOR_LANDLOCK, say, "the kernel has none, or it is off");
    else if (abi < CONFINE_LANDLOCK_MIN)
        doctor_add(doctor->rows, DOCTOR_LANDLOCK, say, "ABI %d; %d is needed", abi,
                   CONFINE_LANDLOCK_MIN);
    else
        doctor_add(doctor->rows, DOCTOR_LANDLOCK, DOCTOR_FINE, "ABI %d", abi);
}

static void add_seccomp(const struct doctor *doctor)
{
    unsigned action = SECCOMP_RET_ERRNO;
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
        doctor_add(doctor->rows, DOCTOR_SECCOMP, DOCTOR_FINE, "the kernel has it");
    else
        doctor_add(doctor->rows, DOCTOR_SECCOMP,
                   (struct doctor_say){DOCTOR_ADVICE, "no sandbox can be made",
                                       "use a kernel with CONFIG_SECCOMP_FILTER"},
                   "the kernel filters no system calls");
}

bool doctor_bwrap_works(const struct confine_able *able)
{
    return able->helper && able->bwrap && able->tried && !able->bwrap_why;
}

/* The config leaves it to the machine whether agents are confined. */
static bool sandboxes_are_left_to_us(const struct config *config)
{
    const struct config_policy *models = config_policy_find(config, GATE_MODELS);
    return !models || models->sandbox == CONFIG_POLICY_SANDBOX_DEFAULT;
}

/* Whether something of the config that holds runs in a sandbox that is none here. */
static bool sandboxes_are_wanted(const struct config *config, enum confine_mode mode)
{
    for (size_t i = 0; i < config->nsessions; i++)
        if (config->sessions[i].sandbox == (int)mode)
            return true;
    for (size_t i = 0; i < config->nhooks; i++)
        if (config->hooks[i].sandbox == (int)mode)
            return true;
    for (size_t i = 0; i < config->npolicies; i++)
        if (policy_sandbox(&config->policies[i]) == mode)
            return true;
    return false;
}

/* NULL: nothing can enforce it. */
static const char *enforced_by(const struct confine_able *able, enum confine_mode mode)
{
    const struct confine_plan plan = {.mode = mode};
    enum confine_backend backend;
    struct err unused;
    return confine_choose(&plan, able, &backend, NULL, &unused) == 0 ? confine_backend_word(backend)
                                                                     : NULL;
}

static void add_modes(const struct doctor *doctor)
{
    const struct confine_able *able = doctor->able;
    const char *read_only = enforced_by(able, CONFINE_READ_ONLY),
               *workspace = enforced_by(able, CONFINE_WORKSPACE_WRITE);
    struct doctor_say say = DOCTOR_FINE;
    if (!read_only || !workspace) {
        bool wanted = (!read_only && sandboxes_are_wanted(doctor->config, CONFINE_READ_ONLY)) ||
                      (!workspace && sandboxes_are_wanted(doctor->config, CONFINE_WORKSPACE_WRITE));
        say.state = wanted ? DOCTOR_BAD : DOCTOR_ADVICE;
        say.means = wanted ? "the config asks for one: what it confines does not run"
                    : sandboxes_are_left_to_us(doctor->config) && !workspace
                        ? "commands of agents (ue mcp) run without one; those that ask for one "
                          "don't run"
                        : "commands that ask for one don't run";
        say.todo = able->bwrap ? "see the rows bubblewrap and userns" : INSTALL;
    }
    doctor_add(doctor->rows, DOCTOR_SANDBOX, say, "read-only: %s; workspace-write: %s",
               read_only ? read_only : "nothing enforces it",
               workspace ? workspace : "nothing enforces it");
}

void doctor_sandboxes(const struct doctor *doctor)
{
    const struct confine_able *able = doctor->able;
    bool works = doctor_bwrap_works(able);
    add_modes(doctor);
    add_bubblewrap(doctor, works);
    add_userns(doctor, works);
    sandboxes_add_landlock(doctor);
    add_seccomp(doctor);
}
