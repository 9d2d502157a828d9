/* failure: owns the words of a refusal for models (CODEX.md 4 and 9), beside the plain error. */
#include "cmd/failure.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/strv.h"
#include "cmd/cmd.h"
#include "wire/schema.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *failure_command_of(const struct json *cmd)
{
    struct strv words = {0};
    if (json_str(cmd, NULL))
        return xstrdup(json_str(cmd, NULL));
    if (!json_first(cmd))
        return NULL;
    for (const struct json *it = json_first(cmd); it; it = json_next(it))
        strv_add(&words, json_str(it, NULL));
    char *shown = strv_quoted(words.items);
    strv_fini(&words);
    return shown;
}

static char *words_of(struct request *request, const struct tool *tool, const struct err *err)
{
    const struct json *params = request_params(request), *id = json_get(params, "session_id");
    if (err->code == ERR_ARGUMENTS)
        return xstrdup(err->text);
    if (tool == &tools[TOOL_EXEC_COMMAND]) {
        char *cmd = failure_command_of(json_get(params, "cmd"));
        char *words = cmd ? xasprintf("exec_command failed for `%s`: %s", cmd, err->text)
                          : xasprintf("exec_command failed: %s", err->text);
        free(cmd);
        return words;
    }
    if (tool == &tools[TOOL_SHELL_COMMAND] || tool == &tools[TOOL_SHELL])
        return xasprintf("execution error: %s", err->text);
    if (err->code == ERR_NO_SUCH_SESSION && id) {
        int64_t number = 0;
        return json_int(id, &number)
                   ? xasprintf("%s failed: Unknown process id %lld", tool->name, (long long)number)
                   : xasprintf("%s failed: Unknown process id %s", tool->name, json_str(id, NULL));
    }
    if (err->code == ERR_STDIN_CLOSED)
        return xasprintf("%s failed: stdin is closed for this session; rerun exec_command with "
                         "tty=true to keep stdin open",
                         tool->name);
    return xasprintf("%s failed: %s", tool->name, err->text);
}

void failure_reply(struct request *request, const struct tool *tool, const struct err *err)
{
    BUG_UNLESS(err->code < 0);
    struct json *data = NULL;
    if (tool->kind == TOOL_MODEL) {
        char *words = words_of(request, tool, err);
        data = json_object_new();
        json_add_text(data, "content", words);
        free(words);
    }
    request_fail_with(request, err, data);
}

int failure_removed(struct err *err, uint64_t number)
{
    return err_set(err, ERR_NO_SUCH_SESSION,
                   "session %" PRIu64 " was removed while this call waited for it", number);
}
