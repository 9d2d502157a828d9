/* script: `ue script`: runs a file of commands, or only checks it. */
#include "base/bug.h"
#include "client/play/play.h"
#include "client/print/say.h"
#include "client/rpc/input.h"
#include <string.h>

static int script_read(const char *name, struct buf *text, struct err *err)
{
    return strcmp(name, "-") == 0 ? input_all(text, err) : input_file(name, text, err);
}

static int parse_file(struct script *script, const char *name, struct err *err)
{
    struct buf text;
    /* one byte more, so that the parser says what the cap is */
    buf_init(&text, SCRIPT_BYTES_MAX + 1);
    int code = script_read(name, &text, err);
    if (code == 0)
        code = script_parse(script, name, text.data ? text.data : "", text.len, err);
    buf_fini(&text);
    return code;
}

static void append_commands(struct buf *out, const struct script_node *node, int depth);

static void append_command(struct buf *out, const struct script_node *node, int depth)
{
    BUG_UNLESS(node);
    for (const struct script_node *at = node; at; at = at->branch) {
        bool chained = at != node && at->id == SCRIPT_IF;
        buf_printf(out, "%6u  %*s%s%s", at->line, 4 * depth, "", at == node ? "" : "} ",
                   chained ? "else " : "");
        script_show(out, at);
        buf_append_text(out, at->has_block ? " {\n" : "\n");
        append_commands(out, at->body, depth + 1);
    }
    if (node->has_block)
        buf_printf(out, "%6s  %*s}\n", "", 4 * depth, "");
}

static void append_commands(struct buf *out, const struct script_node *node, int depth)
{
    for (; node; node = node->next)
        append_command(out, node, depth);
}

static void say_commands(const struct script_node *node)
{
    for (; node; node = node->next)
        for (const struct script_node *at = node; at; at = at->branch) {
            struct json *one = json_object_new();
            struct buf text = BUF_INIT;
            script_show(&text, at);
            json_add_int(one, "line", at->line);
            json_add_text(one, "command", script_rows[at->id].name);
            json_add_buf(one, "text", &text);
            say_json(one);
            json_free(one);
            say_commands(at->body);
        }
}

static int script_print(const struct ue *ue, const struct script *script)
{
    struct buf out = BUF_INIT;
    if (args_has(&ue->args, "json")) {
        say_commands(script->first);
        return 0;
    }
    append_commands(&out, script->first, 0);
    say_text(out.data ? out.data : "", out.len);
    buf_fini(&out);
    return 0;
}

int verb_SCRIPT(struct ue *ue)
{
    const struct args *args = &ue->args;
    struct script script = {0};
    struct err err = {0};
    unsigned flags = (args_has(args, "trace") ? PLAY_TRACE : 0) |
                     (args_has(args, "json") ? PLAY_JSON : 0);
    int status, code = parse_file(&script, args->operands[0], &err);
    if (code == ERR_TOO_LARGE)
        err.code = ERR_USAGE; /* no script, as far as the caller is concerned */
    if (code == 0)
        code = play_check(ue, &script, &err);
    if (code < 0)
        status = ue_fail(ue, &err);
    else if (args_has(args, "dry-run"))
        status = script_print(ue, &script);
    else
        status = play_run(ue, &script, args->operands + 1, args->operand_count - 1, flags);
    script_fini(&script);
    return status;
}
