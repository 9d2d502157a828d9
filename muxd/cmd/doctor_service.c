/* doctor_service: owns the rows about systemd: what the daemon is to it, and what a logout does. */
#include "base/fdio.h"
#include "base/mem.h"
#include "cmd/doctor.h"
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The line of this process in /proc/self/cgroup, without the root's number. */
static void own_group(char *out, size_t size)
{
    char text[4096];
    int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : fd_read_all(fd, text, sizeof text - 1);
    fd_close(&fd);
    text[len > 0 ? len : 0] = '\0';
    const char *found = strstr(text, "0::/");
    snprintf(out, size, "%.*s", found ? (int)strcspn(found + 3, "\n") : 0, found ? found + 3 : "");
}

static bool lingers(void)
{
    const struct passwd *user = getpwuid(geteuid());
    char *path = user ? xasprintf("/var/lib/systemd/linger/%s", user->pw_name) : NULL;
    bool found = path && access(path, F_OK) == 0;
    free(path);
    return found;
}

static void service_add_linger(const struct doctor *doctor, const char *group)
{
    bool of_manager = strstr(group, "/user@") != NULL;
    if (lingers())
        doctor_add(doctor->rows, DOCTOR_LINGER, DOCTOR_FINE,
                   "on: sessions outlive your logging out");
    else if (of_manager)
        doctor_add(doctor->rows, DOCTOR_LINGER,
                   (struct doctor_say){DOCTOR_ADVICE, "all sessions end when your last login ends",
                                       "loginctl enable-linger"},
                   "off, and muxd belongs to your service manager");
    else
        doctor_add(doctor->rows, DOCTOR_LINGER,
                   (struct doctor_say){DOCTOR_OK,
                                       "sessions outlive your logging out, unless logind.conf(5) "
                                       "has KillUserProcesses=yes",
                                       NULL},
                   "off");
}

void doctor_service(const struct doctor *doctor)
{
    char group[4096];
    if (access("/run/systemd/system", F_OK) != 0) {
        doctor_add(doctor->rows, DOCTOR_SERVICE, DOCTOR_FINE,
                   "no systemd here: the first call starts muxd");
        return;
    }
    own_group(group, sizeof group);
    if (strstr(group, "/muxd.service"))
        doctor_add(doctor->rows, DOCTOR_SERVICE, DOCTOR_FINE, "muxd.service of your manager");
    else
        doctor_add(doctor->rows, DOCTOR_SERVICE, DOCTOR_FINE, "%s, in the control group %s",
                   doctor->ctx ? "none: a call has started it" : "none: the first call starts it",
                   *group ? group : "(none)");
    service_add_linger(doctor, group);
}
