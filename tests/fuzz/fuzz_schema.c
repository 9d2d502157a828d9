/* The first byte chooses a tool, the rest is its argument object. What is taken is taken again, unchanged, and can be read. */
#include "base/utf8.h"
#include "wire/schema.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const struct tool *tool, const struct json *params)
{
    char room[SCHEMA_SESSION_ROOM];
    for (const struct tool_arg *arg = tool->args; arg->name != NULL; arg++) {
        const struct json *value = json_get(params, arg->name);
        if (json_type(value) == JSON_NULL)
            abort();
        if (arg->type == ARG_UINT && value != NULL) {
            int64_t number = schema_int(tool, params, arg->name, -1);
            if (number < arg->min || number > (arg->max ? arg->max : JSON_INTEGER_MAX))
                abort();
        }
        if (arg->type == ARG_SESSION && value != NULL && schema_session(value, room)[0] == '\0')
            abort();
        if (arg->type == ARG_STRING && value != NULL && schema_str(tool, params, arg->name, NULL) == NULL)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const ignore[] = {"description", NULL};
    struct err err = {0};
    if (size == 0)
        return 0;
    const struct tool *tool = &tools[data[0] % TOOL_COUNT_];
    struct json *params = schema_parse((const char *)data + 1, size - 1, &err);
    if (params == NULL) {
        if (err.code != ERR_ARGUMENTS)
            abort();
        return 0;
    }
    if (schema_check(tool, params, ignore, &err) == 0) {
        struct json *before = json_copy(params);
        if (schema_check(tool, params, NULL, &err) != 0 || !json_equal(before, params))
            abort();
        json_free(before);
        read_all(tool, params);
        if (schema_meta(params) != NULL && tool->kind != TOOL_INNER)
            read_all(&tools[TOOL_META], schema_meta(params));
    } else if ((err.code != ERR_ARGUMENTS && err.code != ERR_NOT_AVAILABLE) || !utf8_valid(err.text, strlen(err.text))) {
        abort();
    }
    json_free(params);
    return 0;
}
