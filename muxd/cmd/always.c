/* always: owns the appending of rules, and the making of a config beside which they can stand. */
#include "cmd/always.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strv.h"
#include "guard/rules.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALWAYS_HEAD                                                                                \
    "# Rules that a person has approved with ue approve --always. muxd reads this file with its\n" \
    "# config; remove what is no longer wanted, then ue reload.\n"

#define ALWAYS_CONFIG                                                                              \
    "# The config of muxd, in which nothing is changed yet; muxd.ini(5) tells what may stand "     \
    "here.\n"

static bool has_rule(const struct config *cfg, char *const *prefix)
{
    for (size_t i = 0; i < cfg->nrules; i++) {
        const struct config_rule *rule = &cfg->rules[i];
        if (rule_decision_of(rule) == RULE_ALLOW &&
            rule->prefix.count == strv_len((const char *const *)prefix) &&
            rule_matches_exactly(rule, prefix))
            return true;
    }
    return false;
}

static bool always_is_taken(const struct config *cfg, const char *name)
{
    for (size_t i = 0; i < cfg->nrules; i++)
        if (strcmp(cfg->rules[i].name, name) == 0)
            return true;
    return false;
}

/* Words in double quotes, as config.def's ARGV reads them. */
static void always_print(const struct config *cfg, char *const *prefix, struct buf *out)
{
    char name[32];
    int number = 1;
    do
        snprintf(name, sizeof name, "approved-%d", number++);
    while (always_is_taken(cfg, name));
    buf_printf(out, "\n[rule %s]\nprefix =", name);
    for (; *prefix; prefix++) {
        buf_append_text(out, " \"");
        for (const char *at = *prefix; *at; at++) {
            if (*at == '"' || *at == '\\')
                buf_append_byte(out, '\\');
            buf_append_byte(out, *at);
        }
        buf_append_byte(out, '"');
    }
    buf_append_text(out, "\ndecision = allow\n");
}

static int always_fail(const char *path, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "'%s': %s; make its directory writable, or add the rule to the "
                                    "config", path, strerror(errno));
}

static int read_whole(int fd, const char *path, struct buf *text, struct err *err)
{
    for (;;) {
        char *room = buf_reserve(text, 65536);
        ssize_t got = room ? read(fd, room, 65536) : 0;
        if (!room)
            return err_set(err, ERR_CONFIG, "'%s' is too large; make it smaller", path);
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR)
            return always_fail(path, err);
        if (got > 0)
            buf_commit(text, (size_t)got);
    }
}

static int always_create(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* The text goes to a file beside it, which then takes its place: the file is whole at any moment.
 * A symbolic link stays, its file is replaced. The disk is not waited for: the loop would stand. */
static int replace_file(const char *path, const struct buf *text, struct err *err)
{
    char *real = realpath(path, NULL); /* NULL: there is none yet */
    const char *place = real ? real : path;
    char *fresh = xasprintf("%s.%d.new", place, (int)getpid());
    int fd = always_create(fresh);
    if (fd < 0 && errno == EEXIST && unlink(fresh) == 0) /* of a worker that died over it */
        fd = always_create(fresh);
    bool ok = fd >= 0 && fd_write_all(fd, text->data, text->len) == (ssize_t)text->len &&
              rename(fresh, place) == 0;
    int result = ok ? 0 : always_fail(path, err);
    if (!ok && fd >= 0)
        unlink(fresh);
    fd_close(&fd);
    free(fresh);
    free(real);
    return result;
}

/* The whole config with the rule must be one that can be read again. */
static int always_check(const struct config *cfg, const struct buf *rules, struct err *err)
{
    struct buf image = BUF_INIT;
    buf_append(&image, cfg->text ? cfg->text : "", cfg->text_size);
    buf_append_byte(&image, '\0');
    buf_append(&image, rules->data, rules->len);
    struct config *fresh = config_from_image(cfg->path, image.data, image.len, err);
    buf_fini(&image);
    config_free(fresh);
    return fresh ? 0 : err->code;
}

static int always_write(const struct config *cfg, char *const *prefix, struct err *err)
{
    const char *path = cfg->rules_path;
    BUG_UNLESS(path);
    struct buf text;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), result = 0;
    buf_init(&text, CONFIG_MAX_FILE);
    struct stat st;
    if (fd < 0 && (errno != ENOENT || lstat(path, &st) == 0)) /* a link to nothing stays */
        return always_fail(path, err);
    if (fd >= 0)
        result = read_whole(fd, path, &text, err);
    else
        buf_append_text(&text, ALWAYS_HEAD);
    if (result == 0 && text.len > 0 && text.data[text.len - 1] != '\n')
        buf_append_byte(&text, '\n');
    always_print(cfg, prefix, &text);
    if (result == 0)
        result = always_check(cfg, &text, err);
    if (result == 0)
        result = replace_file(path, &text, err);
    fd_close(&fd);
    buf_fini(&text);
    return result;
}

/* The config that is looked for first; one that is there by now is read as it is. */
static int make_config(struct cmd_context *ctx, struct err *err)
{
    char *path = path_own_config(), *dir = path_dirname(path);
    int fd = path_make_dir(dir) == 0 ? always_create(path) : -1, size = sizeof ALWAYS_CONFIG - 1;
    bool made = fd >= 0 ? fd_write_all(fd, ALWAYS_CONFIG, (size_t)size) == size : errno == EEXIST;
    struct json *unused = json_object_new();
    int result = made ? ctx->ops->reload(ctx->server, unused, err) : always_fail(path, err);
    if (result == 0 && !ctx->config->rules_path) {
        errno = ENOENT; /* a link to nothing */
        result = always_fail(path, err);
    }
    json_free(unused);
    fd_close(&fd);
    free(dir);
    free(path);
    return result;
}

int always_add(struct cmd_context *ctx, char *const *prefix, struct err *err)
{
    int code = ctx->config->rules_path ? 0 : make_config(ctx, err);
    if (code || has_rule(ctx->config, prefix))
        return code;
    return always_write(ctx->config, prefix, err);
}
