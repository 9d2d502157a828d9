/* config_row: one value of any type: parsing, formatting, resetting to the default, freeing.
 * Lists of words are handled in config_words. */
#include "config/config_row.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "base/value.h"
#include "config/config_words.h"
#include <stdlib.h>
#include <string.h>

static void *member(const struct config_row *row, void *base)
{
    return (char *)base + row->offset;
}

static void append_bytes(struct buf *out, int64_t size)
{
    static const struct { int shift; char unit; } units[] = {{30, 'G'}, {20, 'M'}, {10, 'k'}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (size > 0 && size % ((int64_t)1 << units[i].shift) == 0) {
            buf_printf(out, "%lld%c", (long long)(size >> units[i].shift), units[i].unit);
            return;
        }
    buf_printf(out, "%lld", (long long)size);
}

static void append_ms(struct buf *out, int64_t ms)
{
    static const struct {
        int64_t ms;
        char unit;
    } units[] = {{86400000, 'd'}, {3600000, 'h'}, {60000, 'm'}, {1000, 's'}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (ms > 0 && ms % units[i].ms == 0) {
            buf_printf(out, "%lld%c", (long long)(ms / units[i].ms), units[i].unit);
            return;
        }
    buf_printf(out, ms > 0 ? "%lldms" : "%lld", (long long)ms);
}

void config_row_allowed(const struct config_row *row, struct buf *out)
{
    switch (row->type) {
    case CONFIG_INT:
        buf_printf(out, "%lld to %lld", (long long)row->min, (long long)row->max);
        break;
    case CONFIG_BOOL: buf_append_text(out, "yes or no"); break;
    case CONFIG_BYTES:
    case CONFIG_MS: {
        void (*append)(struct buf *, int64_t) = row->type == CONFIG_MS ? append_ms : append_bytes;
        append(out, row->min);
        buf_append_text(out, " to ");
        append(out, row->max);
        break;
    }
    case CONFIG_ENUM:
        for (size_t i = 0; row->words[i]; i++)
            buf_printf(out, "%s%s", i == 0 ? "" : row->words[i + 1] ? ", " : " or ", row->words[i]);
        break;
    case CONFIG_TEXT: buf_append_text(out, "any text"); break;
    case CONFIG_PATH:
        buf_append_text(out, "an absolute path or ~/PATH");
        for (size_t i = 0; row->words && row->words[i]; i++)
            buf_printf(out, " or %s", row->words[i]);
        break;
    case CONFIG_WORDS:
        buf_append_text(out, row->words ? "" : "words separated by blanks, none twice");
        for (size_t i = 0; row->words && row->words[i]; i++)
            buf_printf(out, "%s%s", i == 0 ? "" : " ", row->words[i]);
        buf_append_text(out, row->words ? ", none twice" : "");
        break;
    case CONFIG_GLOBS:
        buf_append_text(out,
                        "patterns of letters, digits, _, * and ?, separated by blanks, none twice");
        break;
    case CONFIG_ARGV:
        buf_append_text(out, "words separated by blanks, quoted as in a shell");
        break;
    case CONFIG_TYPED: buf_append_text(out, "text with the escapes of C"); break;
    case CONFIG_VARS: buf_append_text(out, "NAME = VALUE"); break;
    }
}

static bool set_number(const struct config_row *row, void *at, const char *text)
{
    int64_t number;
    bool ok = row->type == CONFIG_INT ? value_int(text, INT64_MIN, INT64_MAX, &number)
              : row->type == CONFIG_MS ? value_ms(text, &number) : value_bytes(text, &number);
    if (!ok || number < row->min || number > row->max)
        return false;
    if (row->type == CONFIG_INT)
        *(int *)at = (int)number;
    else
        *(int64_t *)at = number;
    return true;
}

static bool set_enum(const struct config_row *row, int *at, const char *text)
{
    for (int i = 0; row->words[i]; i++)
        if (strcmp(row->words[i], text) == 0) {
            *at = i;
            return true;
        }
    return false;
}

static void set_text(char **at, const char *text)
{
    free(*at);
    *at = *text ? xstrdup(text) : NULL;
}

static bool config_row_set_path(const struct config_row *row, char **at, const char *text)
{
    bool word = false;
    for (size_t i = 0; row->words && row->words[i]; i++)
        word = word || strcmp(row->words[i], text) == 0;
    if (text[0] != '~') {
        if (*text && *text != '/' && !word)
            return false;
        set_text(at, text);
        return true;
    }
    if (text[1] && text[1] != '/')
        return false;
    char *home = path_home();
    const char *rest = text + 1 + strspn(text + 1, "/");
    free(*at);
    *at = *rest ? path_join(home, rest) : xstrdup(home);
    free(home);
    return true;
}

static bool set_typed(struct config_typed *at, const char *text)
{
    const char *bad;
    char *data = xmalloc(strlen(text) + 1);
    long size = value_unescape(text, data, &bad);
    if (size <= 0) {
        free(data);
        data = NULL;
        if (size < 0)
            return false;
    }
    free(at->data);
    *at = (struct config_typed){data, (size_t)size};
    return true;
}

static bool config_row_has_word(const char *const *words, const char *word)
{
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static bool set_words(const struct config_row *row, struct config_words *at, const char *text)
{
    struct config_words found = {0};
    bool ok = config_words_split(&found, text);
    for (size_t i = 0; ok && row->words && i < found.count; i++)
        ok = config_row_has_word(row->words, found.items[i]);
    config_words_fini(ok ? at : &found);
    if (ok)
        *at = found;
    return ok;
}

static bool config_row_parse(const struct config_row *row, void *at, const char *text)
{
    switch (row->type) {
    case CONFIG_INT:
    case CONFIG_BYTES:
    case CONFIG_MS: return set_number(row, at, text);
    case CONFIG_BOOL: return value_bool(text, at);
    case CONFIG_ENUM: return set_enum(row, at, text);
    case CONFIG_TEXT: set_text(at, text); return true;
    case CONFIG_PATH: return config_row_set_path(row, at, text);
    case CONFIG_WORDS: return set_words(row, at, text);
    case CONFIG_GLOBS: return config_words_split_globs(at, text);
    case CONFIG_ARGV: return config_words_split_quoted(at, text);
    case CONFIG_TYPED: return set_typed(at, text);
    case CONFIG_VARS: break;
    }
    BUG("'%s' is set variable by variable", row->key);
}

/* In many ini files a comment may stand behind a value; here it would be a part of the value. */
static bool looks_commented(const struct config_row *row, const char *text)
{
    return row->type != CONFIG_TEXT &&
           (strstr(text, " ;") || strstr(text, " #") || strstr(text, "\t;") || strstr(text, "\t#"));
}

bool config_row_set(const struct config_row *row, void *base, const char *text, struct buf *why)
{
    if (config_row_parse(row, member(row, base), text))
        return true;
    size_t size = strlen(text), shown = utf8_cut(text, size, 60);
    buf_append_text(why, "'");
    utf8_append_escaped(why, text, shown, false);
    buf_printf(why, "%s' is not allowed here%s; allowed: ", shown < size ? "..." : "",
               looks_commented(row, text) ? " (a comment needs a line of its own)" : "");
    config_row_allowed(row, why);
    return false;
}

void config_row_format(const struct config_row *row, const void *base, struct buf *out)
{
    const void *at = (const char *)base + row->offset;
    switch (row->type) {
    case CONFIG_INT: buf_printf(out, "%d", *(const int *)at); return;
    case CONFIG_BOOL: buf_append_text(out, *(const bool *)at ? "yes" : "no"); return;
    case CONFIG_BYTES: append_bytes(out, *(const int64_t *)at); return;
    case CONFIG_MS: append_ms(out, *(const int64_t *)at); return;
    case CONFIG_ENUM:
        BUG_UNLESS(*(const int *)at >= 0 && row->words[*(const int *)at]);
        buf_append_text(out, row->words[*(const int *)at]);
        return;
    case CONFIG_TEXT:
    case CONFIG_PATH: buf_append_text(out, *(char *const *)at ? *(char *const *)at : ""); return;
    case CONFIG_WORDS:
    case CONFIG_GLOBS: config_words_format(at, out); return;
    case CONFIG_ARGV: config_words_format_quoted(at, out); return;
    case CONFIG_TYPED: config_words_format_typed(at, out); return;
    case CONFIG_VARS: break;
    }
    BUG("'%s' is shown variable by variable", row->key);
}

static void fini_vars(struct config_vars *vars)
{
    for (size_t i = 0; i < vars->count; i++) {
        free(vars->items[i].name);
        free(vars->items[i].value);
    }
    free(vars->items);
    *vars = (struct config_vars){0};
}

void config_row_fini(const struct config_row *row, void *base)
{
    void *at = member(row, base);
    switch (row->type) {
    case CONFIG_INT:
    case CONFIG_BOOL:
    case CONFIG_BYTES:
    case CONFIG_MS:
    case CONFIG_ENUM: return;
    case CONFIG_TEXT:
    case CONFIG_PATH: set_text(at, ""); return;
    case CONFIG_WORDS:
    case CONFIG_GLOBS:
    case CONFIG_ARGV: config_words_fini(at); return;
    case CONFIG_TYPED:
        free(((struct config_typed *)at)->data);
        *(struct config_typed *)at = (struct config_typed){0};
        return;
    case CONFIG_VARS: fini_vars(at); return;
    }
}

bool config_row_add_var(struct config_vars *vars, const char *name, const char *value, int line,
                        struct buf *why)
{
    if (!value_env_name(name, strlen(name))) {
        buf_printf(why,
                   "'%s' is no variable's name; allowed: letters, digits and _, no digit in front",
                   name);
        return false;
    }
    for (size_t i = 0; i < vars->count; i++)
        if (strcmp(vars->items[i].name, name) == 0) {
            buf_printf(why, "it is there already, in line %d; remove one of them",
                       vars->items[i].line);
            return false;
        }
    if (vars->count == CONFIG_MAX_VARS) {
        buf_printf(why, "too many variables; allowed: %d in a section", CONFIG_MAX_VARS);
        return false;
    }
    BUG_UNLESS(vars->count < CONFIG_MAX_VARS);
    vars->items = xreallocarray(vars->items, vars->count + 1, sizeof(*vars->items));
    vars->items[vars->count++] = (struct config_var){xstrdup(name), xstrdup(value), line};
    return true;
}

static void reset_vars(const struct config_row *row, struct config_vars *vars, struct buf *why)
{
    struct config_words pairs = {0};
    bool ok = config_words_split(&pairs, row->fallback);
    for (size_t i = 0; ok && i < pairs.count; i++) {
        char *equals = strchr(pairs.items[i], '=');
        BUG_UNLESS(equals);
        *equals = '\0';
        ok = config_row_add_var(vars, pairs.items[i], equals + 1, 0, why);
    }
    config_words_fini(&pairs);
    BUG_UNLESS(ok);
}

void config_row_reset(const struct config_row *row, void *base)
{
    struct buf why = BUF_INIT;
    config_row_fini(row, base);
    if (row->type == CONFIG_VARS)
        reset_vars(row, member(row, base), &why);
    else if (row->from == 0 && !config_row_set(row, base, row->fallback, &why))
        BUG("the default of [%s] %s: %s", row->section, row->key, why.data);
    buf_fini(&why);
}
