/* attach_terminal: what the terminals of people tell programs, for those who start a session for
 * one. */
#ifndef MUXD_CMD_ATTACH_TERMINAL_H
#define MUXD_CMD_ATTACH_TERMINAL_H
struct request;
struct session;
/* A session was started for a person who will attach it, and has told what the terminal is. */
void attach_terminal_start(struct request *request, struct session *session);
#endif
