/* other_release: what to do when muxd refuses what ue itself has written: they are not of one
 * release. */
#ifndef MUXD_CLIENT_OTHER_RELEASE_H
#define MUXD_CLIENT_OTHER_RELEASE_H
#include "client/rpc/connect.h"
#include "wire/json.h"

/* After a refusal: when the tables of this ue allow the request, err says too which of both is
 * older and what to do. Else nothing happens. */
void other_release_hint(struct connection *conn, const char *method, const struct json *params,
                        struct err *err);
#endif
