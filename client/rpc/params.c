/* params: owns the argument object of a verb, and which context goes with it. */
#include "client/rpc/params.h"
#include "base/bug.h"
#include "client/rpc/context.h"
#include "client/rpc/input.h"
#include "wire/schema.h"
#include <stdlib.h>
#include <string.h>

#define OBJECT_BYTES_MAX (64u << 20) /* the daemon's own cap is lower and says so */

void params_set(struct json *params, const char *key, struct json *value)
{
    BUG_UNLESS(json_type(params) == JSON_OBJECT && value);
    json_free(json_detach(params, key));
    json_add(params, key, value);
}

static struct json *text_json(const char *text)
{
    return json_string_new(text, strlen(text));
}

void params_meta(const struct ue *ue, struct json *params, unsigned flags)
{
    BUG_UNLESS(!(flags & ~(unsigned)(META_VERB | META_PLACE | META_HUMAN | META_ID | META_MCP)));
    BUG_UNLESS(json_type(params) == JSON_OBJECT);
    struct json *meta = json_detach(params, "_meta");
    /* not an object: left as it is, for the daemon to refuse */
    if (json_type(meta) != JSON_OBJECT && json_type(meta) != JSON_ABSENT) {
        json_add(params, "_meta", meta);
        return;
    }
    meta = json_add(params, "_meta", meta ? meta : json_object_new());
    context_add(meta, "client", text_json("ue/" MUXD_VERSION));
    if (flags & META_ID) {
        context_add_request_id(meta);
        json_add_bool(meta, "notify", true);
    }
    if (flags & META_VERB)
        json_add_bool(meta, "verb", true);
    if (flags & META_MCP)
        json_add_bool(meta, "mcp", true);
    if (flags & META_HUMAN)
        json_add_bool(meta, "human", true);
    if (flags & META_PLACE)
        context_add_place(meta);
    const struct args_option *profile = args_next(&ue->args, "profile", NULL);
    if (profile)
        context_add(meta, "profile", text_json(profile->value));
    const struct args_option *reader = args_next(&ue->args, "reader", NULL);
    for (const struct args_option *o = reader; o; o = args_next(&ue->args, "reader", o))
        params_set(meta, "reader", text_json(o->value));
}

void params_wait(struct json *params, int64_t yield_ms)
{
    BUG_UNLESS(yield_ms >= 0);
    struct json *meta = json_detach(params, "_meta");
    bool endless = yield_ms > JSON_INTEGER_MAX;
    if (!meta && endless)
        meta = json_object_new();
    json_free(json_detach(meta, "no_deadline"));
    json_free(json_detach(params, "yield_time_ms"));
    if (endless)
        json_add_bool(meta, "no_deadline", true);
    else
        json_add_int(params, "yield_time_ms", yield_ms);
    if (json_first(meta))
        json_add(params, "_meta", meta);
    else
        json_free(meta);
}

void params_joined(const struct args *args, struct json *params, const char *key)
{
    struct buf joined = BUF_INIT;
    BUG_UNLESS(!json_get(params, key));
    if (args->operand_count == 0)
        return;
    for (size_t i = 0; i < args->operand_count; i++)
        buf_printf(&joined, "%s%s", i ? " " : "", args->operands[i]);
    json_add_str(params, key, joined.data ? joined.data : "", joined.len);
    buf_fini(&joined);
}

void params_operands(const struct ue *ue, struct json *params, const char *key)
{
    struct json *list = json_array_new();
    params_set(params, key, list);
    for (size_t i = 0; i < ue->args.operand_count; i++)
        json_add_text(list, NULL, ue->args.operands[i]);
}

static bool params_is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r\n", text[i]) || !text[i])
            return false;
    return true;
}

struct json *params_parse(const char *text, bool blank_is_empty, struct err *err)
{
    struct buf input;
    buf_init(&input, OBJECT_BYTES_MAX);
    struct json *params = NULL;
    if (strcmp(text, "-") != 0)
        buf_append_text(&input, text);
    else if (input_all(&input, err) < 0)
        goto out;
    if (!blank_is_empty && params_is_blank(input.data ? input.data : "", input.len))
        err_set(err, ERR_ARGUMENTS,
                "failed to parse function arguments: nothing there, expected an object");
    else
        params = schema_parse(input.data ? input.data : "", input.len, err);
out:
    buf_fini(&input);
    return params;
}

struct json *params_from_args(const struct ue *ue, struct err *err)
{
    BUG_UNLESS(args_has(&ue->args, "args"));
    return params_parse(args_get(&ue->args, "args"), false, err);
}

void params_shell(struct json *params)
{
    const char *shell = getenv("SHELL");
    struct json *argv = json_array_new();
    if (!shell || shell[0] != '/')
        shell = "/bin/sh";
    json_add_text(argv, NULL, shell);
    params_set(params, "cmd", argv);
}
