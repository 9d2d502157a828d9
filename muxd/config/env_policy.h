/* env_policy: which variables a session gets (CODEX.md 11, items 1, 2 and 4). Pure: vectors in,
 * vectors out. */
#ifndef MUXD_CONFIG_ENV_POLICY_H
#define MUXD_CONFIG_ENV_POLICY_H
#include "base/strv.h"
#include "config/config.h"

/* Appends to out the variables that the policy sets, then those of env (NULL-terminated,
 * NAME=VALUE; borrowed) that it lets through. Entries without a name or without '=' are dropped.
 * Names match in either case. */
void env_policy_filter(const struct config_env_policy *policy, const char *const *env,
                       struct strv *out);
/* Sets each variable, which replaces every entry of its name. */
void env_policy_overlay(struct strv *env, const struct config_vars *vars);
/* Whether the first len bytes of name match the pattern: * any bytes, ? any one byte, else the byte
 * in either case. */
bool env_policy_match(const char *pattern, const char *name, size_t len);
#endif
