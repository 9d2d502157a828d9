/* meta: owns the context of a request apart from the tool's arguments: who asks, from where,
 * with which environment. */
#include "cmd/meta.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strv.h"
#include "config/env_policy.h"
#include "wire/schema.h"
#include <stdlib.h>
#include <unistd.h>

#define WAITED_MAX_MS INT64_C(31536000000) /* a year; what follows from it can't overflow */

#define RETRY_HASH UINT64_C(0x5bd1e9955bd1e995) /* tells the second run from the first */

extern char **environ;

struct session *meta_session(struct cmd_context *ctx, const struct json *id, struct err *err)
{
    char room[SCHEMA_SESSION_ROOM];
    return registry_find(ctx->registry, schema_session(id, room), err);
}

const char *meta_str(struct request *request, const char *name)
{
    return json_get_str(schema_meta(request_params(request)), name, NULL);
}

bool meta_bool(struct request *request, const char *name)
{
    bool truth = false;
    json_get_bool(schema_meta(request_params(request)), name, &truth);
    return truth;
}

int64_t meta_waited_ns(struct request *request)
{
    int64_t waited_ms = 0;
    json_get_int(schema_meta(request_params(request)), "waited_ms", &waited_ms);
    return (waited_ms < WAITED_MAX_MS ? waited_ms : WAITED_MAX_MS) * 1000000;
}

uint64_t meta_request_hash(struct request *request)
{
    const char *id = meta_str(request, "request_id");
    if (id && request_is_marked(request))
        return meta_retry_hash(request);
    return id ? journal_hash(id) : 0;
}

uint64_t meta_retry_hash(struct request *request)
{
    const char *id = meta_str(request, "request_id");
    return id ? journal_hash(id) ^ RETRY_HASH : 0;
}

struct author meta_author(struct cmd_context *ctx, struct request *request, enum input_who who)
{
    struct peer *peer = request_peer(request);
    struct session *own = registry_of_process(ctx->registry, peer_pid(peer));
    return (struct author){.who = who,
                           .uid = peer_uid(peer),
                           .pid = peer_pid(peer),
                           .peer = peer_id(peer),
                           .from_session = own ? session_number(own) : 0,
                           .client = meta_str(request, "client"),
                           .call_id = meta_str(request, "call_id")};
}

char *meta_cwd(struct request *request, const char *workdir, struct err *err)
{
    const char *cwd = meta_str(request, "cwd"), *gone = meta_str(request, "cwd_error");
    if (workdir && workdir[0] == '/')
        return path_join("/", workdir);
    if (gone) {
        err_set(err, ERR_SPAWN, "%s", gone);
        return NULL;
    }
    char *base = cwd && cwd[0] == '/' ? xstrdup(cwd) : path_home();
    if (!workdir || !workdir[0])
        return base;
    char *joined = path_join(base, workdir);
    free(base);
    return joined;
}

mode_t meta_umask(struct request *request)
{
    int64_t mask;
    if (json_get_int(schema_meta(request_params(request)), "umask", &mask))
        return (mode_t)mask;
    return path_umask();
}

/* A person's terminal is muxd's own: TERM and COLORTERM say so. */
static void set_for_people(struct strv *env, const struct config *cfg)
{
    strv_env_set(env, "TERM", cfg->defaults.term);
    strv_env_set(env, "COLORTERM", "truecolor");
}

char **meta_env(struct cmd_context *ctx, struct request *request, enum meta_env_for whose,
                const struct json *extra, struct err *err)
{
    const struct config *cfg = ctx->config;
    const struct json *given = json_get(schema_meta(request_params(request)), "env");
    struct strv callers = {0}, env = {0};
    if (given) {
        for (const struct json *it = json_first(given); it; it = json_next(it))
            strv_addf(&callers, "%s=%s", json_key(it), json_str(it, NULL));
    } else {
        strv_add_all(&callers, (const char *const *)environ);
    }
    env_policy_filter(&cfg->env_policy, (const char *const *)callers.items, &env);
    strv_fini(&callers);
    if (whose == META_ENV_PEOPLE)
        set_for_people(&env, cfg);
    else if (whose == META_ENV_TOOLS)
        env_policy_overlay(&env, &cfg->env.vars);
    for (const struct json *it = json_first(extra); it; it = json_next(it))
        strv_env_set(&env, json_key(it), json_str(it, NULL));
    size_t bytes = strv_bytes((const char *const *)env.items);
    if (bytes > (size_t)cfg->limits.environment_bytes) {
        err_set(err, ERR_LIMIT,
                "the environment has %zu bytes, the limit is %lld; pass on fewer variables or "
                "raise [limits] environment",
                bytes, (long long)cfg->limits.environment_bytes);
        strv_fini(&env);
        return NULL;
    }
    return strv_take(&env);
}

void meta_source(struct request *request, const struct tool *tool, struct session_spec *spec)
{
    bool oneshot = tool == &tools[TOOL_SHELL_COMMAND] || tool == &tools[TOOL_SHELL];
    /* CODEX.md 12 */
    spec->source = meta_bool(request, "verb") ? "user_shell"
                   : oneshot                  ? "agent"
                                              : "unified_exec_startup";
    spec->call_id = meta_str(request, "call_id");
    spec->client = meta_str(request, "client");
}
