/* offer: which tools models are given, as [tools] says (CODEX.md 1). */
#ifndef MUXD_CMD_OFFER_H
#define MUXD_CMD_OFFER_H
#include "config/config.h"
#include "wire/tool.h"

enum offer {
    OFFER_NO,     /* a call answers "unsupported call: NAME" */
    OFFER_HIDDEN, /* not listed, but a call works */
    OFFER_SHOWN,
};
/* For calls of models. The verbs of ue may call every tool. */
enum offer offer_of(const struct config_tools *cfg, const struct tool *tool);
#endif
