/* record: a record of the audit as one line for people. */
#ifndef MUXD_CLIENT_RECORD_H
#define MUXD_CLIENT_RECORD_H
#include "base/buf.h"
#include "wire/json.h"

/* Appends the line with its newline. No terminal obeys anything in it. */
void record_append(struct buf *out, const struct json *record);
#endif
