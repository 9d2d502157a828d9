/* gate_default: the policy of calls of `ue mcp` where the config says nothing of it: as confined as
 * this machine lets it be, which the trial of its sandboxes shows. `ue call` and other programs on
 * the socket have what the config says, and nothing else: scripts use them, too. */
#ifndef MUXD_CMD_GATE_DEFAULT_H
#define MUXD_CMD_GATE_DEFAULT_H
#include "cmd/cmd.h"

#define GATE_MODELS "mcp" /* the [policy NAME] of the tools as models call them */

/* What holds for calls of `ue mcp`; policy: the config's section, NULL: it has none. Until the
 * trial is over they count as confined. NULL: nothing, as no sandbox can be had here. */
const struct config_policy *gate_default(struct cmd_context *ctx,
                                         const struct config_policy *policy);
/* True: whether this request is confined is not known yet, and it was taken: `again` is called with
 * it once that is known. To be asked first. A trial that came to no end fails the request. */
bool gate_default_waits(struct cmd_context *ctx, struct request *request,
                        void (*again)(struct cmd_context *ctx, struct request *request));
/* What is known of this machine by now decides, if it was open: after the trial. */
void gate_default_conclude(struct cmd_context *ctx);
/* For people: what holds for a policy of that name; policy as gate_default gave it. */
void gate_default_words(struct cmd_context *ctx, const char *name,
                        const struct config_policy *policy, struct buf *out);
/* The policy, as gate_default gave it, is no news only where the config lifts every sandbox. */
bool gate_default_is_worth_telling(const struct config_policy *policy);
/* The line of `ue status`. */
void gate_default_status(struct cmd_context *ctx, struct json *into);
/* The config was read again: what could not be had may have been installed since. */
void gate_default_reloaded(struct cmd_context *ctx);
void gate_default_free(struct cmd_context *ctx);
#endif
