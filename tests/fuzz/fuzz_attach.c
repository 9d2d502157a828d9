/* Any bytes as the frames of an attached connection, in pieces of the size that the first byte says: each frame lies inside what was given,
 * comes out once and in order, and written again it is the same bytes. */
#include "base/buf.h"
#include "wire/attach.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct attach_frame *frame, const char *from, size_t have, long used)
{
    struct buf again = BUF_INIT;
    if ((size_t)used > have || frame->data < from || frame->data + frame->size > from + have || frame->size > ATTACH_PAYLOAD_MAX)
        abort();
    if (!attach_append(&again, (enum attach_type)frame->type, frame->data, frame->size) || again.len != (size_t)used ||
        memcmp(again.data, from, again.len) != 0)
        abort();
    buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t piece = data[0] + 1u, whole = 0;
    struct buf in = BUF_INIT;
    struct attach_frame frame;
    long used = 0;
    for (size_t at = 1; at < size && used >= 0; at += piece) {
        buf_append(&in, data + at, size - at < piece ? size - at : piece);
        while ((used = attach_next(in.data, in.len, &frame)) > 0) {
            check(&frame, in.data, in.len, used);
            whole += (size_t)used;
            buf_consume(&in, (size_t)used);
        }
    }
    /* In one piece it is the same. */
    size_t at = 1;
    while (at < size && (used = attach_next((const char *)data + at, size - at, &frame)) > 0)
        at += (size_t)used;
    if (at - 1 != whole)
        abort();
    buf_fini(&in);
    return 0;
}
