/* params: owns the argument object, and what each request tells about the caller: client, working
 * directory, environment. */
#include "client/rpc/params.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "client/rpc/input.h"
#include "wire/schema.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHERE_BYTES 512               /* of a directory's name in an error */
#define OBJECT_BYTES_MAX (64u << 20) /* the daemon's own cap is lower and says so */

extern char **environ;

void params_set(struct json *params, const char *key, struct json *value)
{
    BUG_UNLESS(json_type(params) == JSON_OBJECT && value);
    json_free(json_detach(params, key));
    json_add(params, key, value);
}

static void add_absent(struct json *object, const char *key, struct json *value)
{
    if (json_get(object, key))
        json_free(value);
    else
        json_add(object, key, value);
}

static struct json *text_json(const char *text)
{
    return json_string_new(text, strlen(text));
}

/* Of a name that comes twice, getenv's value counts. A value that is no UTF-8 would arrive changed
 * and is left out. */
static void add_environment(struct json *meta)
{
    if (json_get(meta, "env"))
        return;
    struct json *env = json_add_object(meta, "env");
    for (char **at = environ; at && *at; at++) {
        const char *equals = strchr(*at, '=');
        if (!equals || equals == *at || !utf8_valid(*at, strlen(*at)))
            continue;
        char *name = xstrndup(*at, (size_t)(equals - *at));
        if (getenv(name) == equals + 1)
            json_add_text(env, name, equals + 1);
        free(name);
    }
}

/* The daemon answers with this text when a call needs the working directory: without it the
 * command would run elsewhere. */
static void add_no_place(struct json *meta, const char *dir, const char *why)
{
    static const char deleted[] = " (deleted)";
    char link[PATH_MAX];
    struct buf shown = BUF_INIT;
    if (!dir) { /* what getcwd can't tell, the kernel still knows, with a word behind it */
        ssize_t len = readlink("/proc/self/cwd", link, sizeof link - 1);
        link[len > 0 ? len : 0] = 0;
        size_t kept = strlen(link), tail = strlen(deleted);
        if (kept > tail && strcmp(link + kept - tail, deleted) == 0)
            link[kept - tail] = 0;
        dir = link[0] ? link : ".";
    }
    size_t size = strlen(dir);
    buf_append_byte(&shown, '\'');
    utf8_append_escaped(&shown, dir, size < WHERE_BYTES ? size : WHERE_BYTES, false);
    buf_printf(&shown, "': this working directory %s; cd to another one, or name one (-C, workdir)",
               why);
    add_absent(meta, "cwd_error", text_json(shown.data));
    buf_fini(&shown);
}

static void add_place(struct json *meta)
{
    char dir[PATH_MAX];
    mode_t mask = umask(077);
    umask(mask);
    if (json_get(meta, "cwd"))
        ; /* as given */
    else if (!getcwd(dir, sizeof dir) || dir[0] != '/')
        add_no_place(meta, NULL, errno == ERANGE ? "has too long a path" : "is gone");
    else if (!utf8_valid(dir, strlen(dir)))
        add_no_place(meta, dir, "has a name that is no UTF-8");
    else
        add_absent(meta, "cwd", text_json(dir));
    add_absent(meta, "umask", json_int_new(mask));
    add_environment(meta);
}

static void add_request_id(struct json *meta)
{
    uint64_t random;
    char id[17];
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return; /* can't happen for eight bytes; without an id a retry may be done twice */
    snprintf(id, sizeof id, "%016" PRIx64, random);
    add_absent(meta, "request_id", text_json(id));
}

void params_meta(const struct ue *ue, struct json *params, unsigned flags)
{
    BUG_UNLESS(!(flags & ~(unsigned)(META_VERB | META_PLACE | META_HUMAN | META_ID | META_MCP)));
    BUG_UNLESS(json_type(params) == JSON_OBJECT);
    struct json *meta = json_detach(params, "_meta");
    /* not an object: left as it is, for the daemon to refuse */
    if (json_type(meta) != JSON_OBJECT && json_type(meta) != JSON_ABSENT) {
        json_add(params, "_meta", meta);
        return;
    }
    meta = json_add(params, "_meta", meta ? meta : json_object_new());
    add_absent(meta, "client", text_json("ue/" MUXD_VERSION));
    if (flags & META_ID) {
        add_request_id(meta);
        json_add_bool(meta, "notify", true);
    }
    if (flags & META_VERB)
        json_add_bool(meta, "verb", true);
    if (flags & META_MCP)
        json_add_bool(meta, "mcp", true);
    if (flags & META_HUMAN)
        json_add_bool(meta, "human", true);
    if (flags & META_PLACE)
        add_place(meta);
    const struct args_option *profile = args_next(&ue->args, "profile", NULL);
    if (profile)
        add_absent(meta, "profile", text_json(profile->value));
    const struct args_option *reader = args_next(&ue->args, "reader", NULL);
    for (const struct args_option *o = reader; o; o = args_next(&ue->args, "reader", o))
        params_set(meta, "reader", text_json(o->value));
}

void params_wait(struct json *params, int64_t yield_ms)
{
    BUG_UNLESS(yield_ms >= 0);
    struct json *meta = json_detach(params, "_meta");
    bool endless = yield_ms > JSON_INTEGER_MAX;
    if (!meta && endless)
        meta = json_object_new();
    json_free(json_detach(meta, "no_deadline"));
    json_free(json_detach(params, "yield_time_ms"));
    if (endless)
        json_add_bool(meta, "no_deadline", true);
    else
        json_add_int(params, "yield_time_ms", yield_ms);
    if (json_first(meta))
        json_add(params, "_meta", meta);
    else
        json_free(meta);
}

void params_joined(const struct args *args, struct json *params, const char *key)
{
    struct buf joined = BUF_INIT;
    BUG_UNLESS(!json_get(params, key));
    if (args->operand_count == 0)
        return;
    for (size_t i = 0; i < args->operand_count; i++)
        buf_printf(&joined, "%s%s", i ? " " : "", args->operands[i]);
    json_add_str(params, key, joined.data ? joined.data : "", joined.len);
    buf_fini(&joined);
}

void params_operands(const struct ue *ue, struct json *params, const char *key)
{
    struct json *list = json_array_new();
    params_set(params, key, list);
    for (size_t i = 0; i < ue->args.operand_count; i++)
        json_add_text(list, NULL, ue->args.operands[i]);
}

static bool params_is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r\n", text[i]) || !text[i])
            return false;
    return true;
}

struct json *params_parse(const char *text, bool blank_is_empty, struct err *err)
{
    struct buf input;
    buf_init(&input, OBJECT_BYTES_MAX);
    struct json *params = NULL;
    if (strcmp(text, "-") != 0)
        buf_append_text(&input, text);
    else if (input_all(&input, err) < 0)
        goto out;
    if (!blank_is_empty && params_is_blank(input.data ? input.data : "", input.len))
        err_set(err, ERR_ARGUMENTS,
                "failed to parse function arguments: nothing there, expected an object");
    else
        params = schema_parse(input.data ? input.data : "", input.len, err);
out:
    buf_fini(&input);
    return params;
}

struct json *params_from_args(const struct ue *ue, struct err *err)
{
    BUG_UNLESS(args_has(&ue->args, "args"));
    return params_parse(args_get(&ue->args, "args"), false, err);
}

void params_shell(struct json *params)
{
    const char *shell = getenv("SHELL");
    struct json *argv = json_array_new();
    if (!shell || shell[0] != '/')
        shell = "/bin/sh";
    json_add_text(argv, NULL, shell);
    params_set(params, "cmd", argv);
}
