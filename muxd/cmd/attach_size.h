/* attach_size: what decides the size of a session that people look at, for those who set it without
 * looking. */
#ifndef MUXD_CMD_ATTACH_SIZE_H
#define MUXD_CMD_ATTACH_SIZE_H
struct cmd_context;
struct session;
/* A request has set the size of the session: it stays until a terminal that shows it changes its
 * own. */
void attach_hold_size(struct session *session);
/* Whose terminal decides the session's size from now on: a word of [attach] size; another one: the
 * config says. */
void attach_size_set(struct cmd_context *ctx, struct session *session, const char *word);
const char *attach_size_word(struct session *session); /* NULL: the config says */
#endif
