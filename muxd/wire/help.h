/* help: help texts from the rows of commands.def, 80 columns wide. */
#ifndef MUXD_WIRE_HELP_H
#define MUXD_WIRE_HELP_H
#include "base/buf.h"
#include "wire/verb.h"

void help_all(struct buf *out); /* usage, all verbs, the global options */
void help_verb(struct buf *out, const struct verb *verb); /* usage, text, options, examples */
/* "usage: ue exec [-n NAME] … CMD…\n" */
void help_usage(struct buf *out, const struct verb *verb);
#endif
