/* sandboxing_subject: the sandbox that explain_sandbox is asked about: one that the arguments
 * describe, or that a section of the config asks for. */
#ifndef MUXD_CMD_SANDBOXING_SUBJECT_H
#define MUXD_CMD_SANDBOXING_SUBJECT_H
#include "cmd/sandboxing.h"
#include "session/wish.h"

struct sandboxing_subject {
    const struct confine_wish *wish; /* NULL: nothing confines it */
    char *cwd;                       /* where it begins */
    struct buf what;                 /* a line for people, "policy     …"; empty: none */
    const struct config_policy *policy; /* of that line; NULL: none holds */
    struct sandboxing sandboxing;    /* holds wish, or the next one does */
    struct wish section;
};
/* The caller owes sandboxing_subject_fini in any case. ERR_ARGUMENTS: there is no such section. */
int sandboxing_subject(struct sandboxing_subject *subject, struct cmd_context *ctx,
                       struct request *request, struct err *err);
void sandboxing_subject_fini(struct sandboxing_subject *subject);
#endif
