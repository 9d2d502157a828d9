/* bounds: the limits of what a policy holds for, as they are told. */
#ifndef MUXD_CMD_BOUNDS_H
#define MUXD_CMD_BOUNDS_H
#include "cmd/cmd.h"

/* Adds those that hold under policy (NULL: [limits] alone): to text "memory 64M, lifetime 1h"
 * behind `before`, to into (may be NULL) the object `limits`. Where there are none, nothing. */
void bounds_tell(const struct config *cfg, const struct config_policy *policy, const char *before,
                 struct json *into, struct buf *text);
#endif
