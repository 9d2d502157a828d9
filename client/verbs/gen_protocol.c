/* gen_protocol: owns the generated parts of conf/muxd.7: methods, events and errors, between lines
 * `.\" begin NAME` and `.\" end NAME`. The rest of that page is written by hand. */
#include "client/verbs/gen.h"
#include "wire/tool.h"

static const char *type_words(enum arg_type type)
{
    static const char *const words[] = {
        [ARG_STRING] = "string",
        [ARG_UINT] = "integer",
        [ARG_BOOL] = "boolean",
        [ARG_COMMAND] = "string, or array of strings",
        [ARG_SESSION] = "number or name",
        [ARG_SESSIONS] = "array of numbers or names",
        [ARG_PATTERNS] = "string, array of strings or object of strings",
        [ARG_STRINGS] = "array of strings",
        [ARG_ENV] = "object of strings",
        [ARG_OBJECTS] = "array of objects",
        [ARG_OBJECT] = "object",
        [ARG_ID] = "integer or string",
    };
    return words[type];
}

static void append_range(struct buf *out, const struct tool_arg *arg)
{
    if (arg->type == ARG_UINT && (arg->min || arg->max))
        buf_printf(out, ", %lld to %lld", (long long)arg->min, (long long)arg->max);
    else if (arg->type != ARG_UINT && arg->max)
        buf_printf(out, ", at most %lld", (long long)arg->max);
}

static void append_arg(struct buf *out, const struct tool_arg *arg)
{
    buf_append_text(out, ".TP\n\\fB");
    gen_roff(out, arg->name);
    buf_append_text(out, "\\fR (");
    gen_roff(out, type_words(arg->type));
    append_range(out, arg);
    if (arg->flags & ARG_REQUIRED)
        buf_append_text(out, ", required");
    if (arg->fallback && *arg->fallback) {
        buf_append_text(out, ", default ");
        gen_roff(out, arg->fallback);
    }
    buf_append_text(out, ")\n");
    gen_roff(out, arg->help);
    if (arg->choices) {
        buf_append_text(out, "; one of: ");
        gen_roff(out, arg->choices);
    }
    if (arg->alias) {
        buf_append_text(out, "; also as ");
        gen_roff(out, arg->alias);
    }
    buf_append_byte(out, '\n');
}

static void append_tool(struct buf *out, const struct tool *tool)
{
    buf_printf(out, ".SS %s\n", tool->name);
    gen_roff(out, tool->description);
    buf_append_byte(out, '\n');
    for (const struct tool_arg *arg = tool->args; arg->name; arg++)
        append_arg(out, arg);
}

static void append_methods(struct buf *out)
{
    for (int i = 0; i < TOOL_COUNT_; i++)
        append_tool(out, &tools[i]);
}

int gen_protocol(struct buf *out, const char *dir, struct err *err)
{
    static const struct gen_part parts[] = {
        {"methods", append_methods}, {"events", gen_event_list}, {"errors", gen_error_list}, {0}};
    return gen_fill(out, dir, GEN_PROTOCOL_PAGE, &(struct gen_marks){".\\\" ", ""}, parts, err);
}
