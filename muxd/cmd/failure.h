/* failure: refusals in the words that models know. */
#ifndef MUXD_CMD_FAILURE_H
#define MUXD_CMD_FAILURE_H
#include <stdint.h>
struct err;
struct request;
struct tool;
/* Answers the request with err; a model's tool gets its text in data.content, too, which `ue
 * call` prints. */
void failure_reply(struct request *request, const struct tool *tool, const struct err *err);
/* The same for a call that runs a command; command: its whole argument vector in words, or NULL. */
void failure_reply_command(struct request *request, const struct tool *tool, const char *command,
                           const struct err *err);
/* ERR_NO_SUCH_SESSION for a call whose session was removed while it waited. */
int failure_removed(struct err *err, uint64_t number);
#endif
