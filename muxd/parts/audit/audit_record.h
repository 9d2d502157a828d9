/* audit_record: what a session puts on record when it begins and when it ends. For this room
 * only. */
#ifndef MUXD_PARTS_AUDIT_AUDIT_RECORD_H
#define MUXD_PARTS_AUDIT_AUDIT_RECORD_H
#include "session/internal.h"
#include "wire/json.h"

#define AUDIT_DAEMON_MAX 24
/* What tells this daemon's records from those of others with the same state directory, whichever
 * worker writes them. */
void audit_record_daemon(const struct registry *registry, char out[AUDIT_DAEMON_MAX]);
/* The members of its record. spec->on_record may be NULL: nobody asked, the config started it. The
 * caller's. */
struct json *audit_record_begin(const struct session *session, const struct session_spec *spec);
/* The caller's. */
struct json *audit_record_end(const struct session *session);
#endif
