/* audit_open: the commands that the end of the audit's file has a begin of, and no end: a worker
 * that dies between the line and the program leaves one. For this room only. */
#ifndef MUXD_PARTS_AUDIT_AUDIT_OPEN_H
#define MUXD_PARTS_AUDIT_AUDIT_OPEN_H
#include "parts/audit/audit_file.h"

typedef void audit_open_fn(void *arg, uint64_t session);
/* Calls fn for each of them whose line has this text, the oldest first. */
void audit_open_each(const struct audit_file *file, const char *with, audit_open_fn *fn, void *arg);
#endif
