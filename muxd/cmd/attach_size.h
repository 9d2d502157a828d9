/* attach_size: what decides the size of an attached session, for requests that set it. */
#ifndef MUXD_CMD_ATTACH_SIZE_H
#define MUXD_CMD_ATTACH_SIZE_H
struct cmd_context;
struct session;
/* A request has set the session's size. It stays until a terminal that shows the session changes
 * its own. */
void attach_hold_size(struct session *session);
/* Whose terminal decides the session's size from now on: a word of [attach] size; any other
 * word: what the config says. */
void attach_size_set(struct cmd_context *ctx, struct session *session, const char *word);
const char *attach_size_word(struct session *session); /* NULL: what the config says */
#endif
