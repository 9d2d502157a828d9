/* params: a tool's argument object, made from the command line, and the context of the request in
 * its _meta. */
#ifndef MUXD_CLIENT_PARAMS_H
#define MUXD_CLIENT_PARAMS_H
#include "client/rpc/ue.h"
#include "wire/json.h"

enum meta_flags {
    META_VERB = 1,  /* the verb's clamps and defaults */
    META_PLACE = 2, /* working directory, environment, umask: the call may start a session */
    META_HUMAN = 4, /* exec -t: a session for people */
    META_ID = 8,    /* a new request_id: the daemon does a retry only once */
    META_MCP = 16,  /* from `ue mcp`: confined where the config says nothing of it */
};

/* params_map.c: the argument object of the verb's tool: each option and operand whose row names an
 * argument. -y inf becomes `_meta.no_deadline`. The caller's. */
struct json *params_map(const struct args *args);

/* Adds to `_meta` what flags ask for, --reader and --profile; members that it has already stay. */
void params_meta(const struct ue *ue, struct json *params, unsigned flags);
/* cmd is the person's shell. */
void params_shell(struct json *params);
/* Sets how long the call waits at most; INT64_MAX: no deadline. */
void params_wait(struct json *params, int64_t yield_ms);
/* The object of --args, which was given: its text, or standard input for "-". NULL and err. */
struct json *params_from_args(const struct ue *ue, struct err *err);
/* Parses an argument object, read from standard input when text is "-"; blank_is_empty: blank text
 * is {}. NULL and err (ERR_ARGUMENTS). */
struct json *params_parse(const char *text, bool blank_is_empty, struct err *err);
/* Sets key to value; an older value is freed. */
void params_set(struct json *params, const char *key, struct json *value);
/* Adds the operands joined with blanks, as ssh does; nothing when there are none. */
void params_joined(const struct args *args, struct json *params, const char *key);
/* Sets key to an array of the operands. */
void params_operands(const struct ue *ue, struct json *params, const char *key);
#endif
