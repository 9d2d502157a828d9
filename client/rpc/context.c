/* context: owns what each request tells about the caller. */
#include "client/rpc/context.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define WHERE_BYTES 512 /* of a directory's name in an error */

extern char **environ;

void context_add(struct json *object, const char *key, struct json *value)
{
    if (json_get(object, key))
        json_free(value);
    else
        json_add(object, key, value);
}

static struct json *context_text(const char *text)
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
    context_add(meta, "cwd_error", context_text(shown.data));
    buf_fini(&shown);
}

void context_add_place(struct json *meta)
{
    char dir[PATH_MAX];
    if (json_get(meta, "cwd"))
        ; /* as given */
    else if (!getcwd(dir, sizeof dir) || dir[0] != '/')
        add_no_place(meta, NULL, errno == ERANGE ? "has too long a path" : "is gone");
    else if (!utf8_valid(dir, strlen(dir)))
        add_no_place(meta, dir, "has a name that is no UTF-8");
    else
        context_add(meta, "cwd", context_text(dir));
    if (!json_get(meta, "umask"))
        json_add_int(meta, "umask", path_umask());
    add_environment(meta);
}

void context_add_request_id(struct json *meta)
{
    uint64_t random;
    char id[17];
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return; /* can't happen for eight bytes; without an id a retry may be done twice */
    snprintf(id, sizeof id, "%016" PRIx64, random);
    context_add(meta, "request_id", context_text(id));
}
