/* members: an answer that has no text of its own, for people. */
#ifndef MUXD_CLIENT_MEMBERS_H
#define MUXD_CLIENT_MEMBERS_H
#include "base/buf.h"
#include "wire/json.h"

/* "key: value" lines; the members of an object stand indented below it; limits of the kernel that
 * hold something up (the list `constraints`) are sentences. */
void members_append(struct buf *out, const struct json *object);
#endif
