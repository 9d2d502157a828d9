/* doctor: what `ue doctor` says about muxd and this machine, as rows (wire/doctor.h). The daemon
 * answers it, and so does `muxd --doctor` where none runs. */
#ifndef MUXD_CMD_DOCTOR_H
#define MUXD_CMD_DOCTOR_H
#include "cmd/cmd.h"
#include "confine/confine.h"
#include "wire/doctor.h"

struct doctor { /* all borrowed */
    struct json *rows;
    const struct config *config; /* in force, or what would be */
    const char *config_path;     /* NULL: there is no file */
    const struct err *mistake;   /* of the file as it is now; code 0: none */
    size_t changes;              /* in the file, that wait for a reload */
    const char *socket, *state_dir, *log_path;
    const struct confine_able *able; /* what could be tried was tried */
    struct cmd_context *ctx;         /* NULL: no daemon runs */
};
/* Adds all rows. */
void doctor_look(const struct doctor *doctor);

/* Each adds its own. */
void doctor_places(const struct doctor *doctor);    /* doctor_places.c */
void doctor_sandboxes(const struct doctor *doctor); /* doctor_sandboxes.c */
void doctor_kernel(const struct doctor *doctor);    /* doctor_kernel.c */
void doctor_service(const struct doctor *doctor);   /* doctor_service.c */
void doctor_approvals(const struct doctor *doctor); /* doctor_approvals.c */

/* Bubblewrap is there and was tried with success: then calls of models are confined where the
 * config says nothing of it (cmd/gate_default.h). */
bool doctor_bwrap_works(const struct confine_able *able);

/* Settings of the kernel that keep users from making name spaces; -1: there is no such setting. */
struct doctor_userns {
    int64_t clone;    /* kernel.unprivileged_userns_clone: 0 forbids them */
    int64_t most;     /* user.max_user_namespaces */
    int64_t apparmor; /* kernel.apparmor_restrict_unprivileged_userns: 1 restricts them */
    bool root;        /* none of this holds for us */
};
void doctor_userns(struct json *rows, const struct doctor_userns *found, bool bwrap_works);
#endif
