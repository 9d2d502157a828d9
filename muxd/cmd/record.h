/* record: a recording, as JSON. */
#ifndef MUXD_CMD_RECORD_H
#define MUXD_CMD_RECORD_H
struct json;
struct recorder_facts;
/* adds the members that describe a recording */
void record_describe(struct json *into, const struct recorder_facts *facts);
#endif
