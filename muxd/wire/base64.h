/* base64: bytes that are no text on their way through JSON (RFC 4648, section 4: with padding, no
 * line breaks). */
#ifndef MUXD_WIRE_BASE64_H
#define MUXD_WIRE_BASE64_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

/* Append to out. False when out would go over its max; decode also when text is no strict base64: a
 * character outside the alphabet, wrong or missing padding, bits set that no byte holds. out is as
 * before then. */
bool base64_encode(struct buf *out, const void *data, size_t len);
bool base64_decode(struct buf *out, const char *text, size_t len);
#endif
