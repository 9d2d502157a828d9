/* tools: `ue tools`: owns the choice of schemas by what the daemon offers. */
#include "client/tools.h"
#include "client/call.h"
#include "client/params.h"
#include "client/say.h"
#include <string.h>

const char *const tools_formats[SCHEMA_FORMAT_COUNT] = {
    [SCHEMA_OPENAI] = "openai", [SCHEMA_OPENAI_CHAT] = "openai-chat", [SCHEMA_ANTHROPIC] = "anthropic", [SCHEMA_MCP] = "mcp"};

static bool is_shown(const struct json *listed, const char *name)
{
    for (const struct json *it = json_first(json_get(listed, "tools")); it; it = json_next(it)) {
        const char *other = json_get_str(it, "name", NULL);
        bool shown = false;
        if (other && strcmp(other, name) == 0)
            return json_get_bool(it, "shown", &shown) && shown;
    }
    return false;
}

struct json *tools_schemas(const struct json *listed, enum schema_view view, enum schema_format format)
{
    struct json *schemas = json_array_new();
    for (size_t i = 0; i < TOOL_COUNT_; i++)
        if (tools[i].kind == TOOL_MODEL && is_shown(listed, tools[i].name))
            json_add(schemas, NULL, schema_format(&tools[i], view, format));
    return schemas;
}

static int format_of(const char *word, enum schema_format *format, struct err *err)
{
    *format = SCHEMA_OPENAI;
    for (size_t i = 0; word && i < sizeof tools_formats / sizeof *tools_formats; i++)
        if (strcmp(word, tools_formats[i]) == 0) {
            *format = (enum schema_format)i;
            return 0;
        }
    return word ? err_set(err, ERR_USAGE, "'--format %s': no such format; use openai, openai-chat, anthropic or mcp", word) : 0;
}

/* A tool a line: as valid as in one line, and people can read it. */
static void show(const struct json *schemas, bool in_one_line)
{
    struct buf out = BUF_INIT;
    if (in_one_line) {
        say_json(schemas);
        return;
    }
    for (const struct json *it = json_first(schemas); it; it = json_next(it)) {
        buf_append_text(&out, out.len ? ",\n" : "[\n");
        json_print(&out, it);
    }
    buf_append_text(&out, out.len ? "\n]\n" : "[]\n");
    say_buf(&out);
}

int verb_TOOLS(struct ue *ue)
{
    struct msg_answer answer = {0};
    struct err err = {0};
    enum schema_format format;
    if (format_of(args_get(&ue->args, "format"), &format, &err) < 0)
        return ue_fail(ue, &err);
    struct json *params = json_object_new();
    params_meta(ue, params, META_VERB);
    int status = 0;
    if (call_run(&ue->conn, "tools", params, CALL_AGAIN, &answer, &err) < 0) {
        status = ue_fail(ue, &err);
    } else {
        struct json *schemas = tools_schemas(answer.result, args_has(&ue->args, "extended") ? SCHEMA_ALL : SCHEMA_CODEX, format);
        show(schemas, args_has(&ue->args, "json"));
        json_free(schemas);
    }
    msg_answer_fini(&answer);
    json_free(params);
    return status;
}
