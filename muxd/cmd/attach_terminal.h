/* attach_terminal: what programs learn of a person's terminal, for requests that start a session
 * for one. */
#ifndef MUXD_CMD_ATTACH_TERMINAL_H
#define MUXD_CMD_ATTACH_TERMINAL_H
struct request;
struct session;
/* The session was started for a person who will attach it; the request says what their terminal
 * is. */
void attach_terminal_start(struct request *request, struct session *session);
#endif
