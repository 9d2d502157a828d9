/* nonce: the word by which the marks of a session's programs (wire/semantic.h) are known as its
 * own: a keyed hash of what its journal says of it, so that a successor of the worker knows the
 * same one. The key lies in the state directory. */
#ifndef MUXD_SESSION_NONCE_H
#define MUXD_SESSION_NONCE_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

struct registry;
struct session;

/* Its programs are to write marks: from now on session_nonce may be asked. */
void session_integrate(struct session *session);
bool session_is_integrated(const struct session *session); /* it was, in any life of the worker */
/* Of an integrated session. Borrowed; lives as long as the session. */
const char *session_nonce(struct session *session);
/* Takes the marks with its nonce out of a piece of its output; nothing when it is not integrated.
 * Returns how many bytes at the end of the piece may become a mark; they stay. */
size_t session_strip_marks(struct session *session, struct buf *text);
void nonce_fini(struct registry *registry);
#endif
