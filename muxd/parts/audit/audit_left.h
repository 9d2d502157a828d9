/* audit_left: the records that a predecessor owes: how what it has begun ended, as far as that is
 * known. For this room only. */
#ifndef MUXD_PARTS_AUDIT_AUDIT_LEFT_H
#define MUXD_PARTS_AUDIT_AUDIT_LEFT_H
#include "parts/audit/audit_file.h"
#include "wire/json.h"

struct audit_left_one {
    const char *what;   /* "ended", "withdrawn", "failed" */
    char *id;           /* owned; NULL: a new one */
    struct json *facts; /* owned */
};
struct audit_left {
    struct audit_left_one *all; /* owned */
    size_t count, at;           /* those before `at` are written */
};
/* Whether the end of a session is somebody else's to write. */
typedef bool audit_left_has_fn(void *arg, uint64_t session);
/* daemon: whose; left is empty before. */
void audit_left_find(struct audit_left *left, const struct audit_file *file, const char *daemon,
                     audit_left_has_fn *has, void *arg);
void audit_left_fini(struct audit_left *left);
#endif
