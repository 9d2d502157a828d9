/* context: what a request tells about its caller, in `_meta`: an id of its own, working directory,
 * umask and environment. A member that is there already stays. */
#ifndef MUXD_CLIENT_CONTEXT_H
#define MUXD_CLIENT_CONTEXT_H
#include "wire/json.h"

/* Takes value; it is freed when object has key already. */
void context_add(struct json *object, const char *key, struct json *value);
/* umask: takes umask(2) to learn it, which only a program with one thread may do; others add theirs
 * before. */
void context_add_place(struct json *meta);
void context_add_request_id(struct json *meta); /* the daemon does a retry only once */
#endif
