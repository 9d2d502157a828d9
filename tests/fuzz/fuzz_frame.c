/* Any bytes in any pieces as a stream of lines; the first byte is the cap, the second the size of the pieces. What comes out
 * is compared with the lines that a plain split of the whole gives. */
#include "wire/frame.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool blank(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    }
    return true;
}

/* What the stream must yield next: 1 a line, -1 a line that is too long, 0 nothing that is complete. */
static int expect(const char *text, size_t size, size_t *at, size_t cap, const char **line, size_t *len)
{
    while (*at < size) {
        const char *begin = text + *at, *newline = memchr(begin, '\n', size - *at);
        *len = newline != NULL ? (size_t)(newline - begin) : size - *at;
        if (newline == NULL && *len <= cap)
            return 0;
        *at += *len + 1;
        *line = begin;
        if (*len > cap)
            return -1;
        if (!blank(begin, *len))
            return 1;
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t cap = data[0], piece = data[1] + 1u, at = 0;
    const char *text = (const char *)data + 2;
    size -= 2;
    struct frame frame;
    frame_init(&frame, cap);
    for (size_t fed = 0; fed < size; fed += piece) {
        frame_feed(&frame, text + fed, size - fed < piece ? size - fed : piece);
        const char *line = NULL, *want = NULL;
        size_t len = 0, want_len = 0;
        for (int rc; (rc = frame_next(&frame, &line, &len, NULL)) != 0;) {
            int wanted = expect(text, size, &at, cap, &want, &want_len);
            if (wanted != (rc == 1 ? 1 : -1) || (rc == 1 && (len != want_len || memcmp(line, want, len) != 0)))
                abort();
        }
    }
    const char *line;
    size_t len;
    if (expect(text, size, &at, cap, &line, &len) != 0)
        abort();
    if (frame_eof(&frame, &line, &len) == 1 && (len > cap || len == 0))
        abort();
    frame_fini(&frame);
    return 0;
}
