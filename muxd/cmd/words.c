/* words: check_words: whether patterns and names of keys are any, for who will use them later. */
#include "cmd/cmd.h"
#include "sys/pattern.h"
#include "term/keys.h"
#include "wire/tool.h"
#include <string.h>

static void add_wrong(struct json *list, const char *kind, int64_t index, const struct err *err)
{
    struct json *one = json_add_object(list, NULL);
    json_add_int(one, kind, index);
    json_add_text(one, "code", err_name(err->code));
    json_add_text(one, "error", err->text);
}

static void check_pattern_words(const struct json *patterns, struct json *wrong)
{
    int64_t index = 0;
    for (const struct json *it = json_first(patterns); it; it = json_next(it), index++) {
        struct err err = {0};
        size_t len = 0;
        const char *text = json_str(it, &len);
        struct pattern *pattern = pattern_new(text, len, &err);
        if (!pattern)
            add_wrong(wrong, "pattern", index, &err);
        pattern_free(pattern);
    }
}

static void check_key_words(const struct json *keys, struct json *wrong)
{
    int64_t index = 0;
    for (const struct json *it = json_first(keys); it; it = json_next(it), index++) {
        struct err err = {0};
        struct buf bytes = BUF_INIT;
        if (keys_append(&bytes, json_str(it, NULL), &err) < 0)
            add_wrong(wrong, "key", index, &err);
        buf_fini(&bytes);
    }
}

void cmd_CHECK_WORDS(struct cmd_context *ctx, struct request *request)
{
    (void)ctx;
    const struct json *params = request_params(request);
    struct json *result = json_object_new(), *wrong = json_add_array(result, "wrong");
    check_pattern_words(json_get(params, "patterns"), wrong);
    check_key_words(json_get(params, "keys"), wrong);
    request_reply(request, result);
}
