/* failure: refusals as models read them. */
#ifndef MUXD_CMD_FAILURE_H
#define MUXD_CMD_FAILURE_H
#include <stdint.h>
struct err;
struct request;
struct tool;
/* The model text that `ue call` prints for a refusal (data.content) */
void failure_reply(struct request *request, const struct tool *tool, const struct err *err);
/* ERR_NO_SUCH_SESSION for a call whose session was removed while it waited. */
int failure_removed(struct err *err, uint64_t number);
#endif
