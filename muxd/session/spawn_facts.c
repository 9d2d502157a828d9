/* spawn_facts.c: owns what a session's journal keeps of the call that began it. */
#include "base/mem.h"
#include "base/strv.h"
#include "base/utf8.h"
#include "confine/confine.h"
#include "session/internal.h"
#include "wire/json.h"
#include <string.h>

#define FACTS_MAX (16u << 10)
#define ARGV_MAX 8192 /* bytes */
#define ENV_MAX 1024  /* of a value that a plan needs; a longer one is no usual directory */

static void add_argv(struct json *facts, char *const *argv)
{
    struct json *list = json_add_array(facts, "argv");
    size_t left = ARGV_MAX;
    for (; *argv; argv++) {
        size_t size = strlen(*argv), shown = utf8_cut(*argv, size, left);
        if (left == 0 || shown < size) {
            if (shown > 0)
                json_add_str(list, NULL, *argv, shown);
            json_add_bool(facts, "argv_cut", true);
            return;
        }
        json_add_str(list, NULL, *argv, size);
        left -= size < left ? size : left;
    }
}

/* What a plan needs of the environment, so that the same plan can be made again. */
static void add_sandbox_env(struct json *facts, char *const *env)
{
    struct json *kept = json_add_object(facts, "sandbox_env");
    for (size_t i = 0; confine_env[i]; i++) {
        const char *value = strv_env_get((const char *const *)env, confine_env[i]);
        if (value && strlen(value) < ENV_MAX)
            json_add_text(kept, confine_env[i], value);
    }
}

/* A successor knows by it what the session may do. Where the roots find no room it counts as one
 * that may do more than any policy allows (cmd/reach.c). */
static void add_sandbox(struct json *facts, const struct session_spec *spec, bool with_roots)
{
    const struct confine_wish *wish = spec->sandbox;
    struct json *one = json_add_object(facts, "sandbox");
    json_add_text(one, "mode", confine_mode_word(wish->mode));
    json_add_bool(one, "network", wish->network);
    json_add_bool(one, "temp", !wish->no_temp);
    bool any = wish->roots && *wish->roots;
    struct json *roots = with_roots && any ? json_add_array(one, "writable_roots") : NULL;
    if (wish->workspace)
        json_add_text(one, "workspace", wish->workspace);
    if (any && !with_roots)
        json_add_bool(one, "roots_cut", true);
    for (size_t i = 0; roots && wish->roots[i]; i++)
        json_add_text(roots, NULL, wish->roots[i]);
    bool hides = with_roots && wish->unreadable && *wish->unreadable &&
                 !(wish->readable && *wish->readable); /* else some of it can be read */
    struct json *hidden = hides ? json_add_array(one, "unreadable") : NULL;
    for (size_t i = 0; hidden && wish->unreadable[i]; i++)
        json_add_text(hidden, NULL, wish->unreadable[i]);
    if (with_roots)
        add_sandbox_env(facts, spec->env);
}

void spawn_facts(const struct session_spec *spec, struct buf *facts)
{
    struct json *object = json_object_new();
    for (int with_argv = 1; with_argv >= 0; with_argv--) {
        json_free(object);
        object = json_object_new();
        if (spec->call_id)
            json_add_text(object, "call_id", spec->call_id);
        json_add_text(object, "source",
                      spec->source     ? spec->source
                      : spec->declared ? "config"
                                       : "user_shell");
        if (spec->policy && *spec->policy)
            json_add_text(object, "policy", spec->policy);
        if (spec->client)
            json_add_text(object, "client", spec->client);
        if (spec->sandbox)
            add_sandbox(object, spec, with_argv);
        if (with_argv)
            add_argv(object, spec->argv);
        buf_clear(facts);
        json_print(facts, object);
        if (facts->len <= FACTS_MAX) /* control characters grow sixfold */
            break;
    }
    json_free(object);
}

char *session_policy(const struct session *session)
{
    struct err err;
    const char *text = journal_facts(session->journal);
    struct json *facts = text ? json_parse(text, strlen(text), &err) : NULL;
    const char *name = json_get_str(facts, "policy", NULL);
    char *policy = name ? xstrdup(name) : NULL;
    json_free(facts);
    return policy;
}
