/* failure: owns the words of a refusal for models (CODEX.md 4 and 9), beside the plain error. */
#include "cmd/failure.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/strv.h"
#include "cmd/cmd.h"
#include "cmd/failure_words.h"
#include "wire/schema.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REJECTED "rejected by user"

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

/* command: the whole argument vector in words, or NULL: it was not made. */
static char *words_of_exec(const struct json *params, const char *command, const struct err *err)
{
    char *cmd = command ? xstrdup(command) : failure_command_of(json_get(params, "cmd")),
         *reason = command && err->code == ERR_SPAWN    ? failure_words_create_process(err->text)
                   : command && err->code == ERR_DENIED ? failure_words_rejected(err->text)
                                                        : xstrdup(err->text),
         *words = cmd ? xasprintf("exec_command failed for `%s`: %s", cmd, reason)
                      : xasprintf("exec_command failed: %s", reason);
    free(cmd);
    free(reason);
    return words;
}

static char *words_of(struct request *request, const struct tool *tool, const char *command,
                      const struct err *err)
{
    const struct json *params = request_params(request), *id = json_get(params, "session_id");
    if (err->code == ERR_ARGUMENTS)
        return xstrdup(err->text);
    if (tool == &tools[TOOL_EXEC_COMMAND])
        return words_of_exec(params, command, err);
    bool oneshot = tool == &tools[TOOL_SHELL_COMMAND] || tool == &tools[TOOL_SHELL];
    if (oneshot && command && err->code == ERR_DENIED) /* by an approval policy (CODEX.md 15.5) */
        return xasprintf("%s%s",
                         strncmp(err->text, REJECTED, strlen(REJECTED)) ? "" : "exec command ",
                         err->text);
    if (oneshot)
        return xasprintf("execution error: %s", err->text);
    if (tool == &tools[TOOL_APPLY_PATCH] && command && err->code == ERR_DENIED)
        return xasprintf("patch %s", err->text);
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
    failure_reply_command(request, tool, NULL, err);
}

void failure_reply_command(struct request *request, const struct tool *tool, const char *command,
                           const struct err *err)
{
    BUG_UNLESS(err->code < 0);
    struct json *data = NULL;
    if (tool->kind == TOOL_MODEL) {
        char *words = words_of(request, tool, command, err);
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
