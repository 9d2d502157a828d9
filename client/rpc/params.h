/* params: the command line as a tool's argument object, and the context of the request (_meta)
 * beside it. */
#ifndef MUXD_CLIENT_PARAMS_H
#define MUXD_CLIENT_PARAMS_H
#include "client/rpc/ue.h"
#include "wire/json.h"

enum meta_flags {
    META_VERB = 1,  /* the verb's clamps and defaults */
    META_PLACE = 2, /* working directory, environment, umask: the call may start a session */
    META_HUMAN = 4, /* exec -t: a session for people */
    META_ID = 8,    /* a fresh request_id: a retry is not done twice */
};

/* params_map.c: what the command line says, as the argument object of the verb's tool: each option
 * and operand whose row names an argument. -y inf is `_meta.no_deadline`. The caller's. */
struct json *params_map(const struct args *args);

/* Adds `_meta`, keeping what a given one says already. --reader goes in, too. */
void params_meta(const struct ue *ue, struct json *params, unsigned flags);
/* The call waits so long at most, whatever params said before; INT64_MAX: as long as it takes. */
void params_wait(struct json *params, int64_t yield_ms);
/* --args: its text, or standard input for "-". NULL and err. */
struct json *params_from_args(const struct ue *ue, struct err *err);
/* The text of an argument object, or all of standard input for "-"; blank_is_empty: nothing stands
 * for {}. NULL and err (ERR_ARGUMENTS). */
struct json *params_parse(const char *text, bool blank_is_empty, struct err *err);
/* Sets key to value, in place of one that is there. */
void params_set(struct json *params, const char *key, struct json *value);
/* The operands joined with blanks, as ssh does; nothing when there are none. */
void params_joined(const struct args *args, struct json *params, const char *key);
/* An array of the operands, each a string, in place of what is there. */
void params_operands(const struct ue *ue, struct json *params, const char *key);
#endif
