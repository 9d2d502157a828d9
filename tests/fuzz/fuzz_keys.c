/* Any key name: bytes or a refusal, nothing in between. */
#include "base/bug.h"
#include "base/mem.h"
#include "term/keys.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = xstrndup((const char *)data, size);
    struct buf out = BUF_INIT;
    struct err err = {0};
    int result = keys_append(&out, name, &err);
    BUG_UNLESS(result == 0 ? out.len > 0 && out.len <= 16 : out.len == 0 && err.text[0] != '\0');
    buf_fini(&out);
    free(name);
    return 0;
}
