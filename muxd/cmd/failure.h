/* failure: refusals as models read them. */
#ifndef MUXD_CMD_FAILURE_H
#define MUXD_CMD_FAILURE_H
struct err;
struct request;
struct tool;
/* The model text that `ue call` prints for a refusal (data.content) */
void failure_reply(struct request *request, const struct tool *tool, const struct err *err);
#endif
