/* tools: `ue tools`: prints the schemas of the tools that the daemon offers to models. */
#include "client/print/say.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include "client/rpc/schemas.h"
#include <string.h>

static int format_of(const char *word, enum schema_format *format, struct err *err)
{
    *format = SCHEMA_OPENAI;
    for (size_t i = 0; word && i < sizeof schemas_formats / sizeof *schemas_formats; i++)
        if (strcmp(word, schemas_formats[i]) == 0) {
            *format = (enum schema_format)i;
            return 0;
        }
    return word
               ? err_set(err, ERR_USAGE,
                         "'--format %s': no such format; use openai, openai-chat, anthropic or mcp",
                         word)
               : 0;
}

/* One tool on each line, for people. */
static void tools_print(const struct json *schemas)
{
    struct buf out = BUF_INIT;
    for (const struct json *it = json_first(schemas); it; it = json_next(it)) {
        buf_append_text(&out, out.len ? ",\n" : "[\n");
        json_print(&out, it);
    }
    buf_append_text(&out, out.len ? "\n]\n" : "[]\n");
    say_buf(&out);
}

static void print_schemas(struct ue *ue, const struct json *offered, enum schema_format format)
{
    enum schema_view view = args_has(&ue->args, "extended") ? SCHEMA_ALL : SCHEMA_CODEX;
    struct json *schemas = schemas_offered(offered, view, format);
    if (args_has(&ue->args, "json"))
        say_json(schemas);
    else
        tools_print(schemas);
    json_free(schemas);
}

int verb_TOOLS(struct ue *ue)
{
    struct msg_answer answer = {0};
    struct err err = {0};
    enum schema_format format;
    if (format_of(args_get(&ue->args, "format"), &format, &err) < 0)
        return ue_fail(ue, &err);
    struct json *params = json_object_new();
    params_meta(ue, params, 0); /* as a model's calls are judged, not those of a verb */
    int result = call_run(&ue->conn, "tools", params, CALL_AGAIN, &answer, &err);
    if (result == 0)
        print_schemas(ue, answer.result, format);
    msg_answer_fini(&answer);
    json_free(params);
    return result == 0 ? 0 : ue_fail(ue, &err);
}
