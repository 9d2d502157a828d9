/* config: from a file to a struct config. Owns what sections and keys mean, the loading and the
 * freeing. */
#include "config/config.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/value.h"
#include "config/config_row.h"
#include "config/ini_lines.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct load {
    struct config *cfg;
    struct err *err;
    const char *name;
    const struct config_section *section; /* the section that is being read */
    /* the struct of the [SECTION NAME] that is being read; NULL: the section has no name */
    void *named;
    int *named_lines; /* the lines in that struct */
    char heading[4 * INI_LINES_MAX_NAME + 1]; /* for messages: the text between [ and ] */
    int section_lines[CONFIG_SECTION_COUNT];  /* of sections without a name; 0: not seen yet */
};

static bool config_fail(struct load *load, int line, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static bool config_fail(struct load *load, int line, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err_vset(load->err, ERR_CONFIG, format, args);
    va_end(args);
    err_prefix(load->err, "%s:%d: [%s]%s%s", load->name, line, load->heading, key ? " " : "",
               key ? key : "");
    return false;
}

static void set_heading(struct load *load, const char *heading)
{
    struct buf shown = BUF_INIT;
    utf8_append_escaped(&shown, heading, strlen(heading), false);
    snprintf(load->heading, sizeof(load->heading), "%s", shown.data ? shown.data : "");
    buf_fini(&shown);
}

static void append_nearest(struct buf *out, const char *word, const char *const *words,
                           size_t count)
{
    const char *nearest = value_nearest(word, words, count);
    if (nearest)
        buf_printf(out, "; did you mean '%s'?", nearest);
    else
        buf_append_text(out, "; allowed: ");
    for (size_t i = 0; !nearest && i < count; i++)
        buf_printf(out, "%s%s", i ? ", " : "", words[i]);
}

static bool unknown_section(struct load *load, const char *word, int line)
{
    const char *names[CONFIG_SECTION_COUNT];
    struct buf hint = BUF_INIT;
    for (size_t i = 0; i < CONFIG_SECTION_COUNT; i++)
        names[i] = config_sections[i].name;
    append_nearest(&hint, word, names, CONFIG_SECTION_COUNT);
    config_fail(load, line, NULL, "unknown section%s", hint.data);
    buf_fini(&hint);
    return false;
}

/* Begins a [session NAME]: the keys that follow belong to it. */
static bool open_session(struct load *load, const char *name, int line)
{
    const struct config_session *old = config_session_find(load->cfg, name);
    if (!value_session_name(name))
        return config_fail(load, line, NULL,
                           "not a session's name; allowed: up to 64 letters, digits, '_', '.' and "
                           "'-', not only digits, no '.' or '-' in front");
    if (old)
        return config_fail(load, line, NULL,
                           "the section is there already, in line %d; put its keys together",
                           old->line);
    if (load->cfg->nsessions == CONFIG_MAX_SESSIONS)
        return config_fail(load, line, NULL, "too many sessions; allowed: %d", CONFIG_MAX_SESSIONS);
    struct config_session *session = config_session_add(load->cfg, name, line);
    load->named = session;
    load->named_lines = session->lines;
    return true;
}

/* Begins a [hook NAME] or a [rule NAME]; old: the section of that name that is there already, by
 * its line, or 0. */
static bool check_named(struct load *load, const char *name, int line, int old, bool full)
{
    const char *word = load->section->name;
    if (!value_session_name(name))
        return config_fail(load, line, NULL,
                           "not a %s's name; allowed: as for a session, letters, digits, '_', '.' "
                           "and '-'",
                           word);
    if (old)
        return config_fail(load, line, NULL,
                           "the section is there already, in line %d; put its keys together", old);
    return !full || config_fail(load, line, NULL, "too many %ss", word);
}

static bool open_hook(struct load *load, const char *name, int line)
{
    int old = 0;
    for (size_t i = 0; i < load->cfg->nhooks; i++)
        if (strcmp(load->cfg->hooks[i].name, name) == 0)
            old = load->cfg->hooks[i].line;
    if (!check_named(load, name, line, old, load->cfg->nhooks == CONFIG_MAX_HOOKS))
        return false;
    struct config_hook *hook = config_hook_add(load->cfg, name, line);
    load->named = hook;
    load->named_lines = hook->lines;
    return true;
}

static bool open_rule(struct load *load, const char *name, int line)
{
    int old = 0;
    for (size_t i = 0; i < load->cfg->nrules; i++)
        if (strcmp(load->cfg->rules[i].name, name) == 0)
            old = load->cfg->rules[i].line;
    if (!check_named(load, name, line, old, load->cfg->nrules == CONFIG_MAX_RULES))
        return false;
    struct config_rule *rule = config_rule_add(load->cfg, name, line);
    load->named = rule;
    load->named_lines = rule->lines;
    return true;
}

static bool on_section(void *ctx, const char *heading, int line)
{
    struct load *load = ctx;
    size_t word_len = strcspn(heading, " \t");
    const char *name = heading + word_len + strspn(heading + word_len, " \t");
    char *word = xstrndup(heading, word_len);
    const struct config_section *section = config_section_find(word, word_len);
    set_heading(load, heading);
    load->section = section;
    load->named = NULL;
    bool ok = true;
    if (!section)
        ok = unknown_section(load, word, line);
    else if (section->named && !*name)
        ok = config_fail(load, line, NULL, "the section needs a name; write [%s NAME]", word);
    else if (!section->named && *name)
        ok = config_fail(load, line, NULL, "the section has no name of its own; write [%s]", word);
    else if (!section->named) {
        int *seen = &load->section_lines[section - config_sections];
        ok = !*seen ||
             config_fail(load, line, NULL,
                         "the section is there already, in line %d; put its keys together", *seen);
        *seen = line;
    } else if (!section->refused)
        ok = (section == &config_sections[CONFIG_SECTION_hook]   ? open_hook
              : section == &config_sections[CONFIG_SECTION_rule] ? open_rule
                                                                 : open_session)(load, name, line);
    /* [env] replaces the built-in list, also when it is empty. */
    if (ok && strcmp(word, "env") == 0)
        config_row_fini(&config_rows[CONFIG_ROW_env_vars], load->cfg);
    free(word);
    return ok;
}

static bool unknown_key(struct load *load, const char *key, int line, size_t first, size_t end)
{
    const char *names[CONFIG_ROW_COUNT] = {0};
    char *shown[CONFIG_ROW_COUNT];
    struct buf hint = BUF_INIT;
    BUG_UNLESS(first <= end && end <= CONFIG_ROW_COUNT);
    size_t count = end - first;
    for (size_t i = 0; i < count; i++) {
        const struct config_row *row = &config_rows[first + i];
        shown[i] = xasprintf("%s%s", row->type == CONFIG_VARS ? row->prefix : row->key,
                             row->type == CONFIG_VARS ? "NAME" : "");
        names[i] = shown[i];
    }
    append_nearest(&hint, key, names, count);
    config_fail(load, line, key, "unknown key%s", hint.data);
    buf_fini(&hint);
    for (size_t i = 0; i < count; i++)
        free(shown[i]);
    return false;
}

static const struct config_row *find_row(const char *key, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct config_row *row = &config_rows[i];
        if (row->type == CONFIG_VARS ? strncmp(key, row->prefix, strlen(row->prefix)) == 0
                                     : strcmp(key, row->key) == 0)
            return row;
    }
    return NULL;
}

static bool set_row(struct load *load, const struct config_row *row, const char *key,
                    const char *value, int line)
{
    BUG_UNLESS(config_row_is_named(row) == (load->named != NULL));
    void *base = load->named ? load->named : load->cfg;
    int *seen = load->named ? &load->named_lines[row - config_rows]
                            : &load->cfg->lines[row - config_rows];
    struct buf why = BUF_INIT;
    bool ok;
    if (row->type == CONFIG_VARS)
        ok = config_row_add_var((struct config_vars *)((char *)base + row->offset),
                                key + strlen(row->prefix), value, line, &why) ||
             config_fail(load, line, key, "%s", why.data);
    else if (*seen)
        ok = config_fail(load, line, key, "it is there already, in line %d; remove one of them",
                         *seen);
    else
        ok = config_row_set(row, base, value, &why) || config_fail(load, line, key, "%s", why.data);
    if (!*seen)
        *seen = line;
    buf_fini(&why);
    return ok;
}

static bool on_value(void *ctx, const char *key, const char *value, int line)
{
    struct load *load = ctx;
    size_t first, end;
    BUG_UNLESS(load->section);
    if (load->section->refused)
        return config_fail(load, line, key, "not available in this version; remove the line");
    config_section_rows(load->section->name, &first, &end);
    const struct config_row *row = find_row(key, first, end);
    return row ? set_row(load, row, key, value, line) : unknown_key(load, key, line, first, end);
}

/* The checks that need two keys. The error names the key that stands in the file, for the
 * defaults fit each other. */
static bool check_together(struct load *load)
{
    const struct config *cfg = load->cfg;
    const struct { bool wrong; enum config_row_id row, other;
    } checks[] = {
        {cfg->limits.journal_bytes > cfg->limits.journal_total_bytes, CONFIG_ROW_limits_journal,
         CONFIG_ROW_limits_journal_total},
        {cfg->defaults.max_output_tokens > cfg->limits.max_output_tokens,
         CONFIG_ROW_defaults_max_output_tokens, CONFIG_ROW_limits_max_output_tokens},
        {cfg->defaults.yield_exec_ms > cfg->limits.max_wait_ms, CONFIG_ROW_defaults_yield_exec,
         CONFIG_ROW_limits_max_wait},
        {cfg->defaults.yield_write_ms > cfg->limits.max_wait_ms, CONFIG_ROW_defaults_yield_write,
         CONFIG_ROW_limits_max_wait},
    };
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        if (!checks[i].wrong)
            continue;
        const struct config_row *row = &config_rows[checks[i].row],
                                *other = &config_rows[checks[i].other];
        bool blame_row = cfg->lines[checks[i].row] != 0;
        const struct config_row *blamed = blame_row ? row : other,
                                *partner = blame_row ? other : row;
        struct buf value = BUF_INIT;
        config_row_format(partner, cfg, &value);
        BUG_UNLESS(cfg->lines[blamed - config_rows] > 0);
        set_heading(load, blamed->section);
        config_fail(load, cfg->lines[blamed - config_rows], blamed->key,
                    "it does not fit '[%s] %s'; allowed: at %s %s", partner->section, partner->key,
                    blame_row ? "most" : "least", value.data);
        buf_fini(&value);
        return false;
    }
    return true;
}

static bool finish_named(struct load *load)
{
    struct buf why = BUF_INIT;
    bool ok = true;
    for (size_t i = 0; ok && i < load->cfg->nsessions; i++) {
        struct config_session *session = &load->cfg->sessions[i];
        snprintf(load->heading, sizeof(load->heading), "session %s", session->name);
        ok = config_session_finish(load->cfg, session, &why) ||
             config_fail(load, session->line, NULL, "%s", why.data);
    }
    for (size_t i = 0; ok && i < load->cfg->nhooks; i++) {
        struct config_hook *hook = &load->cfg->hooks[i];
        snprintf(load->heading, sizeof(load->heading), "hook %s", hook->name);
        bool about_on = hook->run && hook->on.count > 0; /* else a key is missing */
        ok = config_hook_finish(hook, &why) ||
             config_fail(load, about_on ? hook->lines[CONFIG_ROW_hook_on] : hook->line,
                         about_on ? "on" : NULL, "%s", why.data);
    }
    for (size_t i = 0; ok && i < load->cfg->nrules; i++) {
        struct config_rule *rule = &load->cfg->rules[i];
        snprintf(load->heading, sizeof(load->heading), "rule %s", rule->name);
        ok = config_rule_finish(rule, &why) || config_fail(load, rule->line, NULL, "%s", why.data);
    }
    buf_fini(&why);
    return ok;
}

struct config *config_default(void)
{
    struct config *cfg = xcalloc(1, sizeof(*cfg));
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++)
        if (!config_row_is_named(&config_rows[i]))
            config_row_reset(&config_rows[i], cfg);
    return cfg;
}

void config_free(struct config *cfg)
{
    if (!cfg)
        return;
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++)
        if (!config_row_is_named(&config_rows[i]))
            config_row_fini(&config_rows[i], cfg);
    for (size_t i = 0; i < cfg->nsessions; i++)
        config_session_fini(&cfg->sessions[i]);
    free(cfg->sessions);
    for (size_t i = 0; i < cfg->nhooks; i++)
        config_hook_fini(&cfg->hooks[i]);
    free(cfg->hooks);
    for (size_t i = 0; i < cfg->nrules; i++)
        config_rule_fini(&cfg->rules[i]);
    free(cfg->rules);
    free(cfg->path);
    free(cfg->text);
    free(cfg);
}

struct config *config_parse(const char *name, const char *data, size_t size, struct err *err)
{
    struct load load = {.cfg = config_default(), .err = err, .name = name};
    struct ini_lines_events events = {on_section, on_value, &load};
    load.cfg->path = xstrdup(name);
    load.cfg->text = xmemdup(data, size);
    load.cfg->text_size = size;
    if (ini_lines_read(name, data, size, &events, err) == 0 && finish_named(&load) &&
        check_together(&load))
        return load.cfg;
    config_free(load.cfg);
    return NULL;
}

/* Reads the whole file into out; 0 or an error. Pipes and devices are refused: they could block the
 * daemon, and a reload could not read them again. */
static int config_read_file(const char *path, struct buf *out, struct err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), result = 0;
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "'%s': %s; check the path or start without a configuration",
                       path, strerror(errno));
    if (fstat(fd, &st) != 0)
        result = err_set(err, ERR_SYSTEM, "'%s': %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode) && !(S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)))
        result = err_set(err, ERR_CONFIG, "'%s' is no regular file; name an ini file", path);
    while (result == 0) {
        char *room = buf_reserve(out, 65536);
        ssize_t got = room ? read(fd, room, 65536) : 0;
        if (!room || (got > 0 && out->len + (size_t)got > CONFIG_MAX_FILE))
            result = err_set(err, ERR_CONFIG, "'%s' is larger than %u bytes; make it smaller", path,
                             CONFIG_MAX_FILE);
        else if (got < 0 && errno != EINTR)
            result = err_set(err, ERR_SYSTEM, "'%s': %s", path, strerror(errno));
        else if (got == 0)
            break;
        else if (got > 0)
            buf_commit(out, (size_t)got);
    }
    close(fd);
    return result;
}

struct config *config_load(const char *path, struct err *err)
{
    if (!path)
        return config_default();
    struct buf text;
    buf_init(&text, CONFIG_MAX_FILE + 65536);
    struct config *cfg = config_read_file(path, &text, err) == 0
                             ? config_parse(path, text.data ? text.data : "", text.len, err)
                             : NULL;
    buf_fini(&text);
    return cfg;
}
