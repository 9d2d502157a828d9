/* command: owns the way from a tool's command argument to the argument vector that is executed. */
#include "cmd/command.h"
#include "base/mem.h"
#include "base/strv.h"
#include "cmd/meta.h"
#include "session/shell.h"
#include "wire/schema.h"
#include <stdlib.h>

#define LOGIN_FORBIDDEN "login shell is disabled by config; omit `login` or set it to false."

static int command_check(const struct command *command, const struct config *cfg, struct err *err)
{
    size_t bytes = strv_bytes((const char *const *)command->argv);
    if (bytes <= (size_t)cfg->limits.argv_bytes)
        return 0;
    return err_set(
        err, ERR_LIMIT,
        "the command has %zu bytes, the limit is %lld; put it into a file or raise [limits] argv",
        bytes, (long long)cfg->limits.argv_bytes);
}

int command_from_text(struct command *command, const struct config *cfg, const char *shell,
                      bool login, const char *text, char *const *env, struct err *err)
{
    *command = (struct command){.shown = xstrdup(text)};
    int result = shell_argv(shell ? shell : cfg->defaults.shell, login, text, env, &command->argv,
                            err);
    if (result < 0)
        return result;
    command->name = shell_default_name(text, NULL);
    return command_check(command, cfg, err);
}

int command_from_call(struct command *command, const struct config *cfg, struct request *request,
                      const struct tool *tool, const char *text, char *const *env, struct err *err)
{
    const struct json *params = request_params(request);
    const char *shell = schema_str(tool, params, "shell", NULL);
    /* people choose their shell with ue's verbs, and their environment is to hold as it is */
    bool verb = meta_bool(request, "verb"), allowed = verb || cfg->tools.allow_login,
         login = schema_bool(tool, params, "login", cfg->defaults.login && allowed && !verb);
    if (login && !allowed)
        return err_set(err, ERR_ARGUMENTS, LOGIN_FORBIDDEN);
    char *found = shell && *shell && !verb ? shell_for_tool(shell, env) : NULL;
    int result = command_from_text(command, cfg, found ? found : shell, login, text, env, err);
    free(found);
    return result;
}

int command_from_words(struct command *command, const struct config *cfg, const struct json *words,
                       struct err *err)
{
    struct strv argv = {0};
    for (const struct json *it = json_first(words); it; it = json_next(it))
        strv_add(&argv, json_str(it, NULL));
    *command = (struct command){.argv = strv_take(&argv)};
    command->shown = strv_quoted(command->argv);
    return command_check(command, cfg, err);
}

void command_fini(struct command *command)
{
    free(command->shown);
    strv_free(command->argv);
    free(command->name);
}

void command_limits(struct session_spec *spec, const struct config_limits *limits)
{
    spec->limits[SESSION_MEMORY] = limits->memory_bytes;
    spec->limits[SESSION_PROCESSES] = limits->processes;
    spec->limits[SESSION_CPU_TIME] = limits->cpu_time_ms;
    spec->limits[SESSION_OPEN_FILES] = limits->open_files;
    spec->limits[SESSION_LIFETIME] = limits->lifetime_ms;
    spec->limits[SESSION_IDLE] = limits->idle_ms;
}
