/* tool: tools.def as tables, and the search in them. */
#include "wire/tool.h"
#include "base/value.h"
#include <string.h>

#define TOOL(ident, ...) static const struct tool_arg args_of_##ident[] = {
#define ARG(...) {__VA_ARGS__},
#define END(ident) {.name = NULL}};
#include "wire/tools.def"
#undef TOOL
#undef ARG
#undef END

const struct tool tools[TOOL_COUNT_] = {
#define TOOL(ident, ...) [TOOL_##ident] = {.args = args_of_##ident, __VA_ARGS__},
#define ARG(...)
#define END(ident)
#include "wire/tools.def"
#undef TOOL
#undef ARG
#undef END
};

const struct tool *tool_by_name(const char *name)
{
    for (size_t i = 0; i < TOOL_COUNT_; i++) {
        if (tools[i].kind != TOOL_INNER && strcmp(tools[i].name, name) == 0)
            return &tools[i];
    }
    return NULL;
}

const char *tool_nearest(const char *name)
{
    const char *names[TOOL_COUNT_];
    size_t count = 0;
    for (size_t i = 0; i < TOOL_COUNT_; i++) {
        if (tools[i].kind != TOOL_INNER)
            names[count++] = tools[i].name;
    }
    return value_nearest(name, names, count);
}

const struct tool_arg *tool_arg_by_name(const struct tool *tool, const char *name)
{
    for (const struct tool_arg *arg = tool->args; arg->name != NULL; arg++) {
        if (strcmp(arg->name, name) == 0 || (arg->alias != NULL && strcmp(arg->alias, name) == 0))
            return arg;
    }
    return NULL;
}
