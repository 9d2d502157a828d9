/* checks: shows the rows of `ue doctor` (wire/doctor.h). */
#ifndef MUXD_CLIENT_CHECKS_H
#define MUXD_CLIENT_CHECKS_H
#include "base/buf.h"
#include "wire/json.h"

/* For people: a paragraph each, lines of at most width columns where words allow it. */
void checks_people(struct buf *out, const struct json *rows, size_t width, bool colors);
/* For programs: a line each, tabs between state, name, found, what it means, what to do. */
void checks_tabs(struct buf *out, const struct json *rows);
#endif
