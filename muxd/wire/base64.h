/* base64: how bytes that are no text travel in JSON (RFC 4648, section 4: with padding, without
 * line breaks). */
#ifndef MUXD_WIRE_BASE64_H
#define MUXD_WIRE_BASE64_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

/* Append to out. False, and out as before: out would go over its max; or, for decode, text is no
 * strict base64 (a character outside the alphabet, wrong or missing padding, bits set that
 * belong to no byte). */
bool base64_encode(struct buf *out, const void *data, size_t len);
bool base64_decode(struct buf *out, const char *text, size_t len);
#endif
