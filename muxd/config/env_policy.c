/* env_policy: the filter between a caller's environment and a session's. */
#include "config/env_policy.h"
#include <string.h>

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* Only the last * is tried again, so the time is at most that of pattern times name. */
bool env_policy_match(const char *pattern, const char *name, size_t len)
{
    const char *at = name, *end = name + len, *star = NULL, *retry = NULL;
    while (at < end) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = at;
        } else if (*pattern && (*pattern == '?' || lower(*pattern) == lower(*at))) {
            pattern++;
            at++;
        } else if (star) {
            pattern = star;
            at = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static bool match_any(const char *const *patterns, const char *name, size_t len)
{
    for (; patterns && *patterns; patterns++)
        if (env_policy_match(*patterns, name, len))
            return true;
    return false;
}

static const char *const core[] = {"PATH", "SHELL",  "TMPDIR",   "TEMP",    "TMP",  "HOME",
                                   "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER", NULL};
static const char *const secret[] = {"*KEY*", "*SECRET*", "*TOKEN*", NULL};
/* Through the last three, systemd would take a program's notifications for the daemon's. */
static const char *const never[] = {"OPENAI_FEDERATION_RULE_ID",
                                    "OPENAI_IDENTITY_TOKEN_FILE",
                                    "OPENAI_WORKLOAD_IDENTITY_CONTEXT",
                                    "NOTIFY_SOCKET",
                                    "WATCHDOG_PID",
                                    "WATCHDOG_USEC",
                                    NULL};

static bool inherited(const struct config_env_policy *policy, const char *name, size_t len)
{
    if (policy->inherit == CONFIG_INHERIT_NONE ||
        (policy->inherit == CONFIG_INHERIT_CORE && !match_any(core, name, len)))
        return false;
    if (!policy->ignore_default_excludes && match_any(secret, name, len))
        return false;
    return !match_any((const char *const *)policy->exclude.items, name, len);
}

/* The last check, of inherited and set variables alike. */
static bool passed_on(const struct config_env_policy *policy, const char *name, size_t len)
{
    if (policy->include_only.count > 0 &&
        !match_any((const char *const *)policy->include_only.items, name, len))
        return false;
    return !match_any(never, name, len);
}

static bool is_set(const struct config_vars *vars, const char *name, size_t len)
{
    for (size_t i = 0; i < vars->count; i++)
        if (strncmp(vars->items[i].name, name, len) == 0 && vars->items[i].name[len] == '\0')
            return true;
    return false;
}

void env_policy_filter(const struct config_env_policy *policy, const char *const *env,
                       struct strv *out)
{
    for (size_t i = 0; i < policy->set.count; i++) {
        const struct config_var *var = &policy->set.items[i];
        if (passed_on(policy, var->name, strlen(var->name)))
            strv_addf(out, "%s=%s", var->name, var->value);
    }
    for (; env && *env; env++) {
        const char *equals = strchr(*env, '=');
        size_t len = equals ? (size_t)(equals - *env) : 0;
        if (len > 0 && !is_set(&policy->set, *env, len) && inherited(policy, *env, len) &&
            passed_on(policy, *env, len))
            strv_add(out, *env);
    }
}

void env_policy_overlay(struct strv *env, const struct config_vars *vars)
{
    for (size_t i = 0; i < vars->count; i++)
        strv_env_set(env, vars->items[i].name, vars->items[i].value);
}
