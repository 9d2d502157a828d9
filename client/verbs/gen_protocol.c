/* gen_protocol: owns the generated parts of conf/muxd.7: methods, answers, events and errors,
 * between lines `.\" begin NAME` and `.\" end NAME`. The rest of that page is written by hand. */
#include "client/verbs/gen.h"
#include "wire/shape.h"

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

/* The name of what is in it, where that is in ANSWERS. */
static void append_of(struct buf *out, const struct shape_member *member)
{
    gen_roff(out, shape_type_words(member->type));
    if (member->of != SHAPE_IS_ANY)
        buf_printf(out, " \\fI%s\\fR", shapes[member->of].name);
    if (member->other != SHAPE_NOT)
        buf_printf(out, " or %s", shape_type_words(member->other));
}

static void append_shape(struct buf *out, const struct shape *shape)
{
    if (shape->also != SHAPE_IS_ANY)
        buf_printf(out, ".TP\nall of\n\\fI%s\\fR\n", shapes[shape->also].name);
    for (const struct shape_member *it = shape->members; it->name; it++) {
        buf_printf(out, ".TP\n\\fB%s\\fR (", it->name);
        append_of(out, it);
        buf_append_text(out, ")\n");
        gen_roff(out, it->help);
        buf_append_byte(out, '\n');
    }
}

static void append_tool(struct buf *out, const struct tool *tool)
{
    buf_printf(out, ".SS %s\n", tool->name);
    gen_roff(out, tool->description);
    buf_append_byte(out, '\n');
    enum shape_id shape = shape_of_tool((enum tool_id)(tool - tools));
    enum shape_id other = shape_other_of_tool((enum tool_id)(tool - tools));
    if (other != SHAPE_IS_ANY)
        buf_printf(out, "Answers with\n.I %s\nor\n.IR %s .\n", shapes[shape].name,
                   shapes[other].name);
    else if (shape != SHAPE_IS_ANY)
        buf_printf(out, "Answers with\n.IR %s .\n", shapes[shape].name);
    for (const struct tool_arg *arg = tool->args; arg->name; arg++)
        append_arg(out, arg);
}

static void append_methods(struct buf *out)
{
    for (int i = 0; i < TOOL_COUNT_; i++)
        append_tool(out, &tools[i]);
}

/* Those of events stand with their types. */
static void append_answers(struct buf *out)
{
    for (int i = SHAPE_IS_ANY + 1; i < SHAPE_COUNT_; i++) {
        if (!shapes[i].help)
            continue;
        buf_printf(out, ".SS %s\n", shapes[i].name);
        gen_roff(out, shapes[i].help);
        buf_append_byte(out, '\n');
        append_shape(out, &shapes[i]);
    }
}

static void append_one_event(struct buf *out, const char *name, const char *help, bool kept,
                             const struct shape *shape)
{
    buf_printf(out, ".SS %s%s\n", name, kept ? "" : " *");
    gen_roff(out, help);
    buf_append_byte(out, '\n');
    append_shape(out, shape);
}

static void append_events(struct buf *out)
{
    for (int i = 0; i < EVENT_COUNT_; i++)
        append_one_event(out, event_rows[i].name, event_rows[i].help, event_rows[i].kept,
                         &shapes[shape_of_event((enum event_type)i)]);
    append_one_event(out, "gap", "events are missing here; it has no number", true,
                     &shapes[SHAPE_IS_EVENT_GAP]);
}

int gen_protocol(struct buf *out, const char *dir, struct err *err)
{
    static const struct gen_part parts[] = {{"methods", append_methods},
                                            {"answers", append_answers},
                                            {"events", append_events},
                                            {"errors", gen_error_list},
                                            {0}};
    return gen_fill(out, dir, GEN_PROTOCOL_PAGE, &(struct gen_marks){".\\\" ", "", 79}, parts, err);
}
