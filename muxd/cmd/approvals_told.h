/* approvals_told: who hears of an approval: listeners for events, attached terminals, the log. */
#ifndef MUXD_CMD_APPROVALS_TOLD_H
#define MUXD_CMD_APPROVALS_TOLD_H
struct approval;
/* state: "asked", "approved", "denied", "timeout", "gone"; span: of "approved": "once" or
 * "session"; else NULL. */
void approvals_tell(const struct approval *approval, const char *state, const char *span);
/* Tells the client that waits, where it takes notifications. */
void approvals_notify(const struct approval *approval, const char *state);
#endif
