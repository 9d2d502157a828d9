/* meta: the context of a request: which session it is about, who asks, and where and with which
 * environment a new one would start. */
#ifndef MUXD_CMD_META_H
#define MUXD_CMD_META_H
#include "cmd/cmd.h"
#include "parts/keyboard/keyboard.h"

struct tool;
/* By number or name. NULL: err. */
struct session *meta_session(struct cmd_context *ctx, const struct json *id, struct err *err);
const char *meta_str(struct request *request, const char *name);
bool meta_bool(struct request *request, const char *name);
/* The client had waited that long when it sent the request again; 0: it has sent it once. */
int64_t meta_waited_ns(struct request *request);
/* Of this request, also when it is sent again; of one that is handled for the second time
 * (retry.h), that of its second run. 0: none. */
uint64_t meta_request_hash(struct request *request);
uint64_t meta_retry_hash(struct request *request); /* of its second run */
/* The working directory: workdir, relative to the caller's. Absolute; owned by the caller. NULL and
 * err: the caller's is needed, and it is gone. */
char *meta_cwd(struct request *request, const char *workdir, struct err *err);
/* The environment of a new session: for a tool ([env] of the config on top), for a person (a
 * TERM of their own), or just the caller's. */
enum meta_env_for { META_ENV_TOOLS, META_ENV_PEOPLE, META_ENV_CALLER };
char **meta_env(struct cmd_context *ctx, struct request *request, enum meta_env_for whose,
                const struct json *extra, struct err *err); /* strv; NULL: err */
mode_t meta_umask(struct request *request);
/* Fills in who asks for a new session, and by which tool, for its events. */
void meta_source(struct request *request, const struct tool *tool, struct session_spec *spec);
/* borrows from the request */
struct author meta_author(struct cmd_context *ctx, struct request *request, enum input_who who);
#endif
