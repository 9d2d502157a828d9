/* members: shows people an answer that has no text, member by member. */
#ifndef MUXD_CLIENT_MEMBERS_H
#define MUXD_CLIENT_MEMBERS_H
#include "base/buf.h"
#include "wire/json.h"

/* Appends "key: value" lines; the members of an object are indented below it. Limits of the kernel
 * that are in the way (the list `constraints`) become sentences. */
void members_append(struct buf *out, const struct json *object);
#endif
