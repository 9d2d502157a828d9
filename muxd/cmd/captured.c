/* captured: owns the texts that steps take from output and type again. A text is never read as
 * anything else. */
#include "cmd/captured.h"
#include "base/bug.h"
#include <string.h>

void captured_note(struct json *captured, const struct json *wanted, const struct json *match)
{
    const char *name = json_get_str(wanted, "capture", NULL);
    const struct json *group = json_first(json_get(match, "groups"));
    size_t len = 0;
    BUG_UNLESS(json_type(captured) == JSON_OBJECT);
    const char *text = group ? json_str(group, &len) : json_get_str(match, "text", &len);
    if (!name || !match)
        return;
    json_free(json_detach(captured, name));
    json_add_str(captured, name, text ? text : "", len);
}

static int captured_append_part(struct buf *out, const struct json *part,
                                const struct json *captured, struct err *err)
{
    size_t len = 0;
    const char *text = json_str(part, &len), *name = json_get_str(part, "captured", NULL);
    if (!text && !name)
        return err_set(err, ERR_ARGUMENTS,
                       "failed to parse function arguments: an item of `write` is a text or "
                       "{\"captured\": NAME}");
    if (name && !(text = json_get_str(captured, name, &len)))
        return err_set(err, ERR_ARGUMENTS,
                       "failed to parse function arguments: `%.64s`: no step before has captured "
                       "that",
                       name);
    buf_append(out, text, len);
    return 0;
}

int captured_write(struct json *params, const struct json *value, const struct json *captured,
                   struct err *err)
{
    if (json_type(value) != JSON_ARRAY) { /* the schema says what is wrong with another one */
        json_add(params, "chars", json_copy(value));
        return 0;
    }
    struct buf text = BUF_INIT;
    int code = 0;
    for (const struct json *it = json_first(value); it && code == 0; it = json_next(it))
        code = captured_append_part(&text, it, captured, err);
    json_add_buf(params, "chars", &text);
    return code;
}
