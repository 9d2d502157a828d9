/* attach: owns the layout of the frames of an attached connection. */
#include "wire/attach.h"
#include "base/bug.h"
#include <stdint.h>

_Static_assert(ATTACH_HEADER == 1 + 4 && ATTACH_PAYLOAD_MAX <= UINT32_MAX,
               "a type and a length of four bytes");

bool attach_append(struct buf *out, enum attach_type type, const void *data, size_t size)
{
    BUG_UNLESS(size <= ATTACH_PAYLOAD_MAX);
    if (!buf_reserve(out, ATTACH_HEADER + size))
        return false;
    const char header[ATTACH_HEADER] = {(char)type, (char)(size & 255), (char)(size >> 8 & 255),
                                        (char)(size >> 16 & 255), (char)(size >> 24 & 255)};
    return buf_append(out, header, sizeof header) && buf_append(out, data, size);
}

long attach_next(const char *data, size_t size, struct attach_frame *frame)
{
    const unsigned char *bytes = (const unsigned char *)data;
    if (size < ATTACH_HEADER)
        return 0;
    size_t length = (size_t)bytes[1] | (size_t)bytes[2] << 8 | (size_t)bytes[3] << 16 |
                    (size_t)bytes[4] << 24;
    if (length > ATTACH_PAYLOAD_MAX)
        return -1;
    if (size - ATTACH_HEADER < length)
        return 0;
    *frame = (struct attach_frame){.type = bytes[0], .data = data + ATTACH_HEADER, .size = length};
    return (long)(ATTACH_HEADER + length);
}
