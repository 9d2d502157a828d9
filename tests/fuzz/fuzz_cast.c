/* Any file as a recording: events in the order of time or a refusal that names its line; and what was read can be written again. */
#include "base/bug.h"
#include "wire/cast.h"
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct cast_reader reader = {0};
    int64_t before_us = 0;
    for (size_t at = 0; at < size;) {
        struct cast_event event;
        struct err err = {0};
        const char *end = memchr(text + at, '\n', size - at);
        size_t len = end ? (size_t)(end - text) - at : size - at;
        int result = cast_read(&reader, text + at, len, &event, &err);
        BUG_UNLESS(result == ERR_PARSE || result == 0 || result == 1);
        if (result < 0) {
            BUG_UNLESS(strncmp(err.text, "line ", 5) == 0);
            return 0;
        }
        if (result == 1) {
            struct buf out = BUF_INIT;
            int64_t last_ms = 0;
            BUG_UNLESS(event.at_us >= before_us && reader.version);
            before_us = event.at_us;
            cast_append_event(&out, 3, &last_ms, 1, (enum cast_code)event.code, event.data, event.size);
            struct cast_reader again = {.version = 3};
            struct cast_event copy;
            BUG_UNLESS(cast_read(&again, out.data, out.len - 1, &copy, &err) == 1);
            BUG_UNLESS(copy.size == event.size && memcmp(copy.data, event.data, copy.size) == 0);
            cast_event_fini(&copy);
            buf_fini(&out);
        }
        cast_event_fini(&event);
        at += len + 1;
    }
    return 0;
}
