/* describe: sessions and what belongs to them, as JSON. */
#ifndef MUXD_CMD_DESCRIBE_H
#define MUXD_CMD_DESCRIBE_H
#include "cmd/cmd.h"

struct keyboard_holder;
struct json *describe_session(struct session *session);
struct json *describe_left(uint64_t number, const pid_t *pids, size_t count); /* count: not 0 */
/* registry_each_parked */
struct json *describe_parked(uint64_t number, const char *name, pid_t pid);
void describe_end(struct json *into, struct session *session); /* state, exit_code, signal … */
/* member `keyboard`: who has it */
void describe_keyboard(struct json *into, struct session *session);
/* nothing for 0: not known */
void describe_time(struct json *into, const char *key, int64_t real_ms);
/* uid, pid, client, since; nothing while it is nobody's */
void describe_owner(struct json *into, const struct keyboard_holder *state);
#endif
