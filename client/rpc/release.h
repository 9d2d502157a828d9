/* release: whether muxd refuses what a client itself has written, because they are not of one
 * release, and what to say then. Asks nobody. */
#ifndef MUXD_CLIENT_RELEASE_H
#define MUXD_CLIENT_RELEASE_H
#include "base/err.h"
#include "wire/json.h"
#include <stdbool.h>

/* The tables of this client allow the request that was refused. */
bool release_is_other(const char *method, const struct json *params, const struct err *refusal);
/* err, a refusal, says too which of both is older and what to do. program: "ue"; theirs: muxd's
 * version, NULL: unknown. */
void release_say(const char *program, const char *theirs, struct err *err);
#endif
