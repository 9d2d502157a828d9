/* params_map: owns the mapping of the command line to a tool's arguments, by the rows of
 * commands.def and tools.def alone. */
#include "base/bug.h"
#include "client/rpc/params.h"
#include "wire/tool.h"
#include <string.h>

static void params_map_set_number(struct json *params, const struct tool_arg *arg, int64_t number)
{
    if (strcmp(arg->name, "yield_time_ms") == 0) /* may be inf */
        params_wait(params, number);
    else
        params_set(params, arg->name, json_int_new(number));
}

static void params_map_set_text(struct json *params, const struct tool_arg *arg, const char *text)
{
    params_set(params, arg->name, json_string_new(text, strlen(text)));
}

/* The first item creates the list or object. */
static void params_map_add_item(struct json *params, const struct tool_arg *arg, const char *key,
                                const char *text)
{
    struct json *list = json_detach(params, arg->name);
    if (!list)
        list = key ? json_object_new() : json_array_new();
    if (key)
        params_set(list, key, json_string_new(text, strlen(text)));
    else
        json_add_text(list, NULL, text);
    json_add(params, arg->name, list);
}

static void set_variable(struct json *params, const struct tool_arg *arg, const char *pair)
{
    struct buf name = BUF_INIT;
    const char *equals = strchr(pair, '=');
    BUG_UNLESS(equals);
    buf_append(&name, pair, (size_t)(equals - pair));
    params_map_add_item(params, arg, name.data, equals + 1);
    buf_fini(&name);
}

/* One pattern is a text, several are a list. */
static void set_pattern(struct json *params, const struct tool_arg *arg, const char *text)
{
    struct json *before = json_detach(params, arg->name);
    if (json_type(before) == JSON_STRING) {
        struct json *list = json_array_new();
        json_add(list, NULL, before);
        before = list;
    }
    if (!before) {
        params_map_set_text(params, arg, text);
        return;
    }
    json_add_text(before, NULL, text);
    json_add(params, arg->name, before);
}

static void set_word(struct json *params, const struct tool_arg *arg, const char *word)
{
    if (arg->type == ARG_STRINGS || arg->type == ARG_SESSIONS)
        params_map_add_item(params, arg, NULL, word);
    else if (arg->type == ARG_PATTERNS)
        set_pattern(params, arg, word);
    else
        params_map_set_text(params, arg, word);
}

static void params_map_set_flag(struct json *params, const struct tool_arg *arg, const char *sets)
{
    BUG_UNLESS(sets || arg->type == ARG_BOOL);
    if (arg->type == ARG_BOOL)
        params_set(params, arg->name, json_bool_new(!sets || strcmp(sets, "false") != 0));
    else
        set_word(params, arg, sets);
}

static void set_option(struct json *params, const struct args_option *option,
                       const struct tool_arg *arg)
{
    switch (option->type) {
    case OPTION_FLAG:
        params_map_set_flag(params, arg, option->row->sets);
        break;
    case OPTION_UINT:
    case OPTION_MS:
        params_map_set_number(params, arg, option->number);
        break;
    case OPTION_SIZE:
        params_set(params, "rows", json_int_new(option->rows));
        params_set(params, "cols", json_int_new(option->cols));
        break;
    case OPTION_ENV: set_variable(params, arg, option->value); break;
    case OPTION_TEXT:
    case OPTION_SIGNAL: set_word(params, arg, option->value); break;
    }
}

static void map_operands(struct json *params, const struct args *args)
{
    const struct verb *verb = args->verb;
    for (size_t i = 0; i < args->operand_count; i++) {
        size_t at = i < VERB_OPERANDS_MAX ? i : VERB_OPERANDS_MAX - 1;
        const char *name = verb->arguments[verb->operands_max < 0 ? 0 : at];
        const struct tool_arg *arg = verb_argument(verb, name);
        bool text = arg && (arg->type == ARG_STRING || arg->type == ARG_COMMAND);
        if (text && verb->operands_max < 0) {
            params_joined(args, params, name);
            return;
        }
        if (arg)
            set_word(params, arg, args->operands[i]);
    }
}

/* In the order of the rows: --line comes before each --key, wherever they were given. */
struct json *params_map(const struct args *args)
{
    BUG_UNLESS(args->verb);
    struct json *params = json_object_new();
    map_operands(params, args);
    for (const struct verb_option *row = args->verb->options; row->name; row++) {
        const struct tool_arg *arg = verb_argument(args->verb, row->argument);
        const struct args_option *o = arg ? args_next(args, row->name, NULL) : NULL;
        for (; o; o = args_next(args, row->name, o))
            set_option(params, o, arg);
    }
    return params;
}
