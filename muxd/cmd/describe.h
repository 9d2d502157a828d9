/* describe: sessions, and what belongs to them, as JSON (contract, section 5). An absent member
 * is unknown. */
#ifndef MUXD_CMD_DESCRIBE_H
#define MUXD_CMD_DESCRIBE_H
#include "cmd/cmd.h"

struct keyboard_holder;
struct reap_result;
struct json *describe_session(struct session *session);
/* a session that was removed, and its processes that still run; count is not 0 */
struct json *describe_left(uint64_t number, const pid_t *pids, size_t count);
/* survivors, survivor_processes */
void describe_survivors(struct json *into, const struct reap_result *result);
void describe_end(struct json *into, struct session *session); /* state, exit_code, signal … */
/* member `keyboard`: who holds it */
/* Adds in which session the writer ran: from_session, and from_session_name while it is there. */
void describe_from_session(struct json *into, struct registry *registry, uint64_t number);
void describe_keyboard(struct json *into, struct session *session);
/* 0: not known, no member */
void describe_time(struct json *into, const char *key, int64_t real_ms);
/* uid, pid, client, since; no member while the keyboard is free */
void describe_owner(struct json *into, const struct keyboard_holder *state);
#endif
