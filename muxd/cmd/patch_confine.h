/* patch_confine: a patch may write what a command of the same client may; the daemon, which runs
 * outside of every sandbox, holds it to that. */
#ifndef MUXD_CMD_PATCH_CONFINE_H
#define MUXD_CMD_PATCH_CONFINE_H
#include "cmd/patch_ask.h"
#include "confine/confine.h"
#include "patch/apply.h"

struct patch_confined { /* owned; zeroed: by nothing */
    struct confine_plan plan; /* cwd NULL: no policy confines it */
    struct strv kept;         /* what stays as it is, and what is hidden */
};
/* Fills in the options, which borrow from it; a person's yes to this patch leaves them. */
int patch_confine(struct patch_confined *confined, const struct patch_ask *ask,
                  struct patch_options *options, struct err *err);
void patch_confined_fini(struct patch_confined *confined);
#endif
