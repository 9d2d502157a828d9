/* typed_before: where the output stood when a request typed that is sent again after a restart of
 * the worker. */
#ifndef MUXD_CMD_TYPED_BEFORE_H
#define MUXD_CMD_TYPED_BEFORE_H
#include <stdbool.h>
#include <stdint.h>

struct session;

/* Makes the hash of a text that is typed in front of its Enter; the Enter has the request's own. */
#define TYPED_BODY_HASH UINT64_C(0x9e3779b97f4a7c15)

/* True: the request with this hash has typed, all of it or the text in front of its Enter.
 * *output_at: the end of the output when it began to, in bytes; the end of now where the input log
 * does not go back so far. hash: of meta_request_hash; 0: false. */
bool typed_before(struct session *session, uint64_t hash, uint64_t *output_at);
#endif
