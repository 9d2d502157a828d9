/* additional: owns what the argument additional_permissions may say, and what it adds to a plan. */
#include "cmd/additional.h"
#include "base/mem.h"
#include "base/path.h"
#include "session/sandbox.h"
#include "wire/schema.h"
#include <stdlib.h>
#include <string.h>

#define PATHS_MAX 32

bool additional_wanted(struct request *request, const struct tool *tool)
{
    const char *word = schema_str(tool, request_params(request), "sandbox_permissions", NULL);
    return word && strcmp(word, ADDITIONAL_WORD) == 0;
}

/* A member that is none of the two words, in one line; NULL: there is none. */
static char *unknown_member(const struct json *object, const char *one, const char *other)
{
    for (const struct json *it = json_first(object); it; it = json_next(it))
        if (strcmp(json_key(it), one) != 0 && strcmp(json_key(it), other) != 0)
            return xasprintf("failed to parse function arguments: unknown field `%s` in "
                             "`additional_permissions`, expected `%s` or `%s`",
                             json_key(it), one, other);
    return NULL;
}

static char *wrong_type(const char *field, const char *wanted)
{
    return xasprintf("failed to parse function arguments: `additional_permissions.%s`: expected %s",
                     field, wanted);
}

/* A list of texts that can be paths, or nothing. */
static bool is_path_list(const struct json *list)
{
    size_t count = json_count(list);
    if (!list || json_type(list) == JSON_NULL)
        return true;
    bool right = json_type(list) == JSON_ARRAY && count <= PATHS_MAX;
    for (const struct json *it = json_first(list); it && right; it = json_next(it)) {
        size_t len = 0;
        const char *text = json_str(it, &len);
        right = text && len > 0 && strlen(text) == len;
    }
    return right;
}

static bool is_absent(const struct json *value)
{
    return !value || json_type(value) == JSON_NULL;
}

static char *additional_malformed(const struct json *given)
{
    const struct json *network = json_get(given, "network"),
                      *files = json_get(given, "file_system");
    bool unused;
    if (!is_absent(network) && json_type(network) != JSON_OBJECT)
        return wrong_type("network", "an object");
    if (!is_absent(files) && json_type(files) != JSON_OBJECT)
        return wrong_type("file_system", "an object");
    char *text = unknown_member(given, "network", "file_system");
    text = text ? text : unknown_member(network, "enabled", "enabled");
    text = text ? text : unknown_member(files, "read", "write");
    if (text)
        return text;
    if (!is_absent(json_get(network, "enabled")) &&
        !json_bool(json_get(network, "enabled"), &unused))
        return wrong_type("network.enabled", "a boolean");
    if (!is_path_list(json_get(files, "read")))
        return wrong_type("file_system.read", "at most 32 paths");
    return is_path_list(json_get(files, "write"))
               ? NULL
               : wrong_type("file_system.write", "at most 32 paths");
}

static bool wants_network(const struct json *given)
{
    bool enabled = false;
    json_get_bool(json_get(given, "network"), "enabled", &enabled);
    return enabled;
}

char *additional_refusal(const struct json *given)
{
    const struct json *files = json_get(given, "file_system");
    if (is_absent(given))
        return xstrdup("missing `additional_permissions`; provide at least one of `network` or "
                       "`file_system` when using `" ADDITIONAL_WORD "`");
    char *text = additional_malformed(given);
    if (!text && !wants_network(given) && json_count(json_get(files, "read")) == 0 &&
        json_count(json_get(files, "write")) == 0)
        text = xstrdup("`additional_permissions` must include at least one requested permission in "
                       "`network` or `file_system`");
    return text;
}

static void add_paths(const struct json *list, const char *cwd, struct strv *out)
{
    for (const struct json *it = json_first(list); it; it = json_next(it))
        strv_add_owned(out, path_join(cwd, json_str(it, NULL)));
}

/* In a sandbox that writes nothing the first of them becomes what may be written, and nothing else
 * does: neither the directory that the client works in nor those for temporary files. */
static void add_writable(struct sandboxing *sandboxing, struct strv *paths)
{
    struct confine_wish *wish = &sandboxing->wish;
    size_t first = 0;
    if (paths->count > 0 && wish->mode == CONFINE_READ_ONLY) {
        wish->mode = CONFINE_WORKSPACE_WRITE;
        wish->no_temp = true;
        free(sandboxing->workspace);
        sandboxing->workspace = xstrdup(paths->items[first++]);
        wish->workspace = sandboxing->workspace;
    }
    for (size_t i = first; i < paths->count; i++)
        strv_add(&sandboxing->roots, paths->items[i]);
    wish->roots = (const char *const *)sandboxing->roots.items;
}

/* What no plan can have is refused before a person is asked. */
static int check_plan(const struct sandboxing *sandboxing, struct cmd_context *ctx, const char *cwd,
                      char *const *env, struct err *err)
{
    struct confine_plan plan;
    struct confine_place place = sandbox_place(ctx->registry, sandboxing->workspace, env);
    place.begin = cwd;
    int code = confine_plan_make(&plan, &sandboxing->wish, &place, err);
    if (!code)
        confine_plan_fini(&plan);
    return code;
}

int additional_widen(struct sandboxing *sandboxing, struct cmd_context *ctx,
                     struct request *request, const char *cwd, char *const *env, struct err *err)
{
    const struct json *given = json_get(request_params(request), "additional_permissions"),
                      *files = json_get(given, "file_system");
    struct strv writable = {0};
    add_paths(json_get(files, "write"), cwd, &writable);
    add_writable(sandboxing, &writable);
    strv_fini(&writable);
    add_paths(json_get(files, "read"), cwd, &sandboxing->readable);
    sandboxing->wish.readable = (const char *const *)sandboxing->readable.items;
    sandboxing->wish.network = sandboxing->wish.network || wants_network(given);
    return check_plan(sandboxing, ctx, cwd, env, err);
}
