/* Any key name in any keyboard mode: bytes or a refusal, nothing in between; and any text as a paste. */
#include "base/bug.h"
#include "base/mem.h"
#include "term/keys.h"
#include "term/paste.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const struct keys_modes modes = {.application_cursor = data[0] & 1, .application_keypad = data[0] & 2, .backspace_is_bs = data[0] & 4,
                                     .other_keys = (data[0] >> 3 & 3) % 3, .kitty = data[1] & 31};
    char *name = xstrndup((const char *)data + 2, size - 2);
    struct buf out = BUF_INIT;
    struct err err = {0};
    int result = keys_append_modes(&out, name, &modes, &err);
    BUG_UNLESS(result == 0 ? out.len > 0 && out.len <= 64 : out.len == 0 && err.text[0] != '\0');
    buf_clear(&out);
    paste_append(&out, (const char *)data + 2, size - 2, true);
    BUG_UNLESS(out.len >= 12 && memmem(out.data + 6, out.len - 12, "\033", 1) == NULL); /* nothing in it can end it */
    buf_fini(&out);
    free(name);
    return 0;
}
