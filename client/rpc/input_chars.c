/* input_chars: owns how bytes to type travel in JSON. */
#include "client/rpc/input.h"
#include "base/bug.h"
#include "base/utf8.h"
#include "wire/base64.h"
#include <string.h>

void input_add_chars(struct json *params, const char *data, size_t len)
{
    BUG_UNLESS(!json_get(params, "chars") && !json_get(params, "chars_base64"));
    if (len == 0 || (utf8_valid(data, len) && !memchr(data, 0, len))) {
        json_add_str(params, "chars", data ? data : "", len);
        return;
    }
    struct buf encoded = BUF_INIT;
    base64_encode(&encoded, data, len);
    json_add_buf(params, "chars_base64", &encoded);
}
