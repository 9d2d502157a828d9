/* record: a recording, as JSON. */
#ifndef MUXD_CMD_RECORD_H
#define MUXD_CMD_RECORD_H
struct attachment;
struct json;
struct recorder_facts;
struct session;
/* adds the members that describe a recording */
void record_describe(struct json *into, const struct recorder_facts *facts);
/* Tells a person who comes to a session that is recorded. */
void record_tell_comer(struct attachment *attachment, struct session *session);
#endif
