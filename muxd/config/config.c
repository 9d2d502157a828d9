/* config: from text to a struct config. Owns what sections and keys mean, and the freeing. */
#include "config/config.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/value.h"
#include "config/config_row.h"
#include "config/ini_lines.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct load {
    struct config *cfg;
    struct err *err;
    const char *name;
    const struct config_section *section; /* the section that is being read */
    /* the struct of the [SECTION NAME] that is being read; NULL: the section has no name */
    struct config_named *named;
    bool beside; /* the rules file is being read, not the config itself */
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

static void append_nearest_section(struct buf *out, const char *word)
{
    const char *names[CONFIG_SECTION_COUNT];
    for (size_t i = 0; i < CONFIG_SECTION_COUNT; i++)
        names[i] = config_sections[i].name;
    append_nearest(out, word, names, CONFIG_SECTION_COUNT);
}

int config_check_section(const char *section, struct err *err)
{
    struct buf hint = BUF_INIT;
    for (size_t i = 0; i < CONFIG_SECTION_COUNT; i++)
        if (strcmp(section, config_sections[i].name) == 0)
            return 0;
    append_nearest_section(&hint, section);
    err_set(err, ERR_ARGUMENTS, "'%s': the config has no section of that name%s", section,
            hint.data);
    buf_fini(&hint);
    return ERR_ARGUMENTS;
}

static bool unknown_section(struct load *load, const char *word, int line)
{
    struct buf hint = BUF_INIT;
    append_nearest_section(&hint, word);
    config_fail(load, line, NULL, "unknown section%s", hint.data);
    buf_fini(&hint);
    return false;
}

/* Begins a [SECTION NAME]: the keys that follow belong to it. */
static bool open_named(struct load *load, const char *name, int line)
{
    const struct config_kind *kind = config_kind_of(load->section);
    const char *word = load->section->name;
    bool session = load->section == &config_sections[CONFIG_SECTION_session];
    if (!(load->section->optional && !*name) && !value_session_name(name))
        return config_fail(load, line, NULL,
                           session ? "not a %s's name; allowed: up to 64 letters, digits, '_', '.' "
                                     "and '-', not only digits, no '.' or '-' in front"
                                   : "not a %s's name; allowed: as for a session, letters, digits, "
                                     "'_', '.' and '-'",
                           word);
    const struct config_named *old = config_named_find(kind, load->cfg, name);
    if (old && load->beside && !old->beside)
        return config_fail(load, line, NULL,
                           "the section is there already, in line %d of '%s'; rename one of them",
                           old->line, load->cfg->path);
    if (old)
        return config_fail(load, line, NULL,
                           "the section is there already, in line %d; put its keys together",
                           old->line);
    if (config_named_is_full(kind, load->cfg))
        return config_fail(load, line, NULL, session ? "too many %ss; allowed: %d" : "too many %ss",
                           word, (int)kind->max);
    load->named = config_named_add(kind, load->cfg, name, line);
    load->named->beside = load->beside;
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
    else if (load->beside && section != &config_sections[CONFIG_SECTION_rule])
        ok = config_fail(load, line, NULL, "only [rule NAME] sections may stand in this file");
    else if (section->named && !section->optional && !*name)
        ok = config_fail(load, line, NULL, "the section needs a name; write [%s NAME]", word);
    else if (!section->named && *name)
        ok = config_fail(load, line, NULL, "the section has no name of its own; write [%s]", word);
    else if (!section->named) {
        int *seen = &load->section_lines[section - config_sections];
        ok = !*seen ||
             config_fail(load, line, NULL,
                         "the section is there already, in line %d; put its keys together", *seen);
        *seen = line;
    } else
        ok = open_named(load, name, line);
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
    void *base = load->named ? (void *)load->named : load->cfg;
    int *seen = load->named ? &load->named->lines[row - config_rows]
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
        load->name = config_rule_path(load->cfg, rule);
        ok = config_rule_finish(rule, &why) || config_fail(load, rule->line, NULL, "%s", why.data);
    }
    load->name = load->cfg->path;
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

int config_check_lost(const struct config *cfg, struct err *err)
{
    if (!cfg->lost)
        return 0;
    return err_set(err, ERR_CONFIG,
                   "nothing is started: after a crash muxd can't read its config, nor what was in "
                   "force, and doesn't know what is refused; mend the file (its log says where) "
                   "and run ue reload");
}

void config_free(struct config *cfg)
{
    if (!cfg)
        return;
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++)
        if (!config_row_is_named(&config_rows[i]))
            config_row_fini(&config_rows[i], cfg);
    config_named_free(cfg);
    free(cfg->path);
    free(cfg->text);
    free(cfg->rules_path);
    free(cfg->rules_text);
    free(cfg);
}

struct config *config_parse_both(const char *name, const struct buf *text, const struct buf *rules,
                                 struct err *err)
{
    struct load load = {.cfg = config_default(), .err = err, .name = name};
    struct ini_lines_events events = {on_section, on_value, &load};
    const char *data = text->data ? text->data : "",
               *more = rules && rules->data ? rules->data : "";
    struct config *cfg = load.cfg;
    cfg->path = xstrdup(name);
    cfg->text = xmemdup(data, text->len);
    cfg->text_size = text->len;
    cfg->rules_path = config_rules_path(name);
    bool ok = ini_lines_read(name, data, text->len, &events, err) == 0;
    if (ok && rules) {
        load.beside = true;
        load.section = NULL;
        cfg->rules_text = xmemdup(more, rules->len);
        cfg->rules_text_size = rules->len;
        load.name = cfg->rules_path;
        ok = ini_lines_read(cfg->rules_path, more, rules->len, &events, err) == 0;
        load.name = name;
    }
    if (ok && finish_named(&load) && check_together(&load))
        return cfg;
    config_free(cfg);
    return NULL;
}

struct config *config_parse(const char *name, const char *data, size_t size, struct err *err)
{
    struct buf text = BUF_INIT;
    buf_append(&text, data, size);
    struct config *cfg = config_parse_both(name, &text, NULL, err);
    buf_fini(&text);
    return cfg;
}

void config_image(const struct config *cfg, struct buf *out)
{
    buf_append(out, cfg->text ? cfg->text : "", cfg->text_size);
    if (!cfg->rules_text)
        return;
    buf_append_byte(out, '\0'); /* no text of a config has one */
    buf_append(out, cfg->rules_text, cfg->rules_text_size);
}

struct config *config_from_image(const char *name, const char *data, size_t size, struct err *err)
{
    const char *split = memchr(data, '\0', size);
    struct buf text = BUF_INIT, rules = BUF_INIT;
    buf_append(&text, data, split ? (size_t)(split - data) : size);
    if (split)
        buf_append(&rules, split + 1, (size_t)(data + size - split) - 1);
    struct config *cfg = config_parse_both(name, &text, split ? &rules : NULL, err);
    buf_fini(&text);
    buf_fini(&rules);
    return cfg;
}
