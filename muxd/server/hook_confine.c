/* hook_confine: owns what the process of a hook executes: its command, in its directory, and in the
 * sandbox that its section asks for. Where nothing can enforce that, there is no command. */
#include "base/mem.h"
#include "config/config.h"
#include "server/hooks.h"
#include "session/registry.h"
#include "session/sandbox.h"
#include "session/wish.h"
#include <stdlib.h>

extern char **environ;

bool hook_is_confined(const struct config_hook *hook)
{
    return hook->sandbox != CONFIG_SANDBOX_FULL_ACCESS;
}

static bool hook_must_wait(struct registry *registry, const struct config_hook *hook)
{
    struct wish wish;
    wish_of_hook(&wish, hook);
    const struct session_spec spec = {.env = environ, .cwd = wish.cwd, .sandbox = &wish.confine};
    bool waits = wish_confines(&wish) && sandbox_must_wait(registry, &spec);
    wish_fini(&wish);
    return waits;
}

struct hook_trial { /* freed at the end of the trial */
    void (*fn)(void *arg); /* NULL: nobody waits any more */
    void *arg;
};

static void hook_on_tried(void *arg, bool closing)
{
    struct hook_trial *trial = arg;
    if (trial->fn && !closing)
        trial->fn(trial->arg);
    free(trial);
}

struct hook_trial *hook_await_trial(struct registry *registry, const struct config_hook *hook,
                                    void (*fn)(void *arg), void *arg)
{
    if (!hook_must_wait(registry, hook))
        return NULL;
    struct hook_trial *trial = xcalloc(1, sizeof *trial);
    *trial = (struct hook_trial){.fn = fn, .arg = arg};
    if (sandbox_when_tried(registry, hook_on_tried, trial))
        return trial;
    free(trial); /* it could not even begin: the start tells why */
    return NULL;
}

void hook_trial_forget(struct hook_trial *trial)
{
    if (trial)
        trial->fn = NULL;
}

int hook_command_make(struct registry *registry, const struct config_hook *hook, struct strv *env,
                      struct hook_command *command, struct err *err)
{
    static char shell[] = "/bin/sh", option[] = "-c";
    char *const plain[] = {shell, option, hook->run, NULL};
    struct strv confined = {0};
    struct wish wish;
    int code = 0;
    wish_of_hook(&wish, hook);
    if (wish_confines(&wish) && !hook->network) /* CODEX.md 11: programs look for it */
        strv_env_set(env, "CODEX_SANDBOX_NETWORK_DISABLED", "1");
    *command = (struct hook_command){.env = strv_take(env), .cwd = xstrdup(wish.cwd)};
    const struct session_spec spec = {
        .argv = plain, .env = command->env, .cwd = command->cwd, .sandbox = &wish.confine};
    if (wish_confines(&wish))
        code = sandbox_argv(registry, &spec, &confined, err);
    else
        strv_add_all(&confined, (const char *const *)plain);
    command->argv = strv_take(&confined);
    wish_fini(&wish);
    return code;
}

void hook_command_fini(struct hook_command *command)
{
    strv_free(command->argv);
    strv_free(command->env);
    free(command->cwd);
}
