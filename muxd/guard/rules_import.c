/* rules_import: owns the reading of the literal part of Starlark. */
#include "guard/rules_import.h"
#include "base/bug.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strv.h"
#include "base/value.h"
#include "guard/rules_write.h"
#include "guard/starlark.h"
#include <stdlib.h>
#include <string.h>

struct import {
    const char *text, *at; /* at: what is read next */
    int line;
    struct err err; /* why the statement is refused */
    int err_line;
    struct import_rule *rules;
    size_t count, refused;
};

static int import_fail(struct import *import, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int import_fail(struct import *import, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err_vset(&import->err, ERR_CONFIG, format, args);
    va_end(args);
    import->err_line = line;
    return ERR_CONFIG;
}

static void import_rule_fini(struct import_rule *rule)
{
    strv_fini(&rule->prefix);
    strv_fini(&rule->match);
    strv_fini(&rule->not_match);
    strv_fini(&rule->paths);
    free(rule->decision);
    free(rule->justification);
    free(rule->program);
}

static void skip_space(struct import *import)
{
    for (;; import->at++) {
        if (*import->at == '#')
            import->at += strcspn(import->at, "\n");
        if (*import->at == '\n')
            import->line++;
        if (!*import->at || !strchr(" \t\r\n", *import->at))
            return;
    }
}

static bool import_takes(struct import *import, char c)
{
    skip_space(import);
    if (*import->at != c)
        return false;
    import->at++;
    return true;
}

static int import_expect(struct import *import, char c, const char *where)
{
    return import_takes(import, c)
               ? 0
               : import_fail(import, import->line, "expected '%c' %s; only literal calls of "
                                                   "prefix_rule and host_executable are taken",
                             c, where);
}

/* A string in single or double quotes on one line; the caller's. */
static int import_string(struct import *import, char **out)
{
    char *decoded;
    const char *bad;
    skip_space(import);
    char quote = *import->at;
    if ((quote != '"' && quote != '\'') || (import->at[1] == quote && import->at[2] == quote))
        return import_fail(import, import->line,
                           "not a string in simple quotes; write it as one");
    const char *begin = ++import->at;
    while (*import->at && *import->at != quote && *import->at != '\n')
        import->at += *import->at == '\\' && import->at[1] ? 2 : 1;
    if (*import->at != quote)
        return import_fail(import, import->line, "the string has no end in its line");
    char *raw = xstrndup(begin, (size_t)(import->at++ - begin));
    decoded = xstrdup(raw);
    long size = value_unescape(raw, decoded, &bad);
    bool fits = size >= 0 && (size_t)size == strlen(decoded) && !strpbrk(decoded, "\n\r");
    if (!fits) {
        import_fail(import, import->line, "'%s': muxd.ini has no way to say this string", raw);
        free(decoded);
    } else {
        *out = decoded;
    }
    free(raw);
    return fits ? 0 : ERR_CONFIG;
}

/* [ITEM, …]; each item is a string, or, where alternatives is set, a list of strings that is
 * joined by it. */
static int import_list(struct import *import, struct strv *into, char alternatives)
{
    int result = import_expect(import, '[', "before a list");
    while (result == 0 && !import_takes(import, ']')) {
        char *text = NULL;
        struct strv inner = {0};
        skip_space(import);
        if (alternatives && *import->at == '[') {
            result = import_list(import, &inner, '\0');
            struct buf joined = BUF_INIT;
            for (size_t i = 0; i < inner.count; i++) {
                if (i > 0)
                    buf_append_byte(&joined, alternatives);
                buf_append_text(&joined, inner.items[i]);
            }
            text = buf_take(&joined);
        } else {
            result = import_string(import, &text);
        }
        if (result == 0)
            strv_add(into, text);
        free(text);
        strv_fini(&inner);
        if (result == 0 && !import_takes(import, ',')) {
            result = import_expect(import, ']', "or ',' in a list");
            break;
        }
    }
    return result;
}

/* Words with '|' would be taken for alternatives. */
static int check_words(struct import *import, const struct import_rule *rule)
{
    for (size_t i = 0; i < rule->prefix.count; i++) {
        const char *word = rule->prefix.items[i];
        size_t len = strlen(word);
        if (len == 0 || word[0] == '|' || word[len - 1] == '|' || strstr(word, "||"))
            return import_fail(import, rule->line,
                               "pattern alternatives cannot be empty, and a word can't hold '|'");
    }
    return rule->prefix.count > 0 || rule->program
               ? 0
               : import_fail(import, rule->line, "pattern cannot be empty");
}

/* match and not_match: a list of strings or of lists of words. */
static int import_examples(struct import *import, struct strv *into)
{
    int result = import_expect(import, '[', "before the examples");
    while (result == 0 && !import_takes(import, ']')) {
        struct strv words = {0};
        char *text = NULL;
        skip_space(import);
        if (*import->at == '[') {
            result = import_list(import, &words, '\0');
            text = words.items ? strv_quoted(words.items) : xstrdup("");
        } else {
            result = import_string(import, &text);
        }
        if (result == 0)
            strv_add(into, text);
        free(text);
        strv_fini(&words);
        if (result == 0 && !import_takes(import, ',')) {
            result = import_expect(import, ']', "or ',' in the examples");
            break;
        }
    }
    return result;
}

static bool text_is_seen(const char *text)
{
    return text[strspn(text, " \t")] != '\0';
}

static int import_argument(struct import *import, const char *name, struct import_rule *rule)
{
    static const char *const decisions[] = {"allow", "prompt", "forbidden"};
    if (strcmp(name, "pattern") == 0)
        return import_list(import, &rule->prefix, '|');
    if (strcmp(name, "match") == 0)
        return import_examples(import, &rule->match);
    if (strcmp(name, "not_match") == 0)
        return import_examples(import, &rule->not_match);
    if (strcmp(name, "paths") == 0)
        return import_list(import, &rule->paths, '\0');
    char **text = strcmp(name, "decision") == 0        ? &rule->decision
                  : strcmp(name, "justification") == 0 ? &rule->justification
                  : strcmp(name, "name") == 0          ? &rule->program
                                                       : NULL;
    if (!text)
        return import_fail(import, import->line, "'%s': no such argument", name);
    if (*text)
        return import_fail(import, import->line, "'%s' is there twice", name);
    int result = import_string(import, text);
    if (result == 0 && text == &rule->justification && !text_is_seen(*text))
        return import_fail(import, import->line, "invalid rule: justification cannot be empty");
    bool known = text != &rule->decision;
    for (size_t i = 0; *text && i < sizeof decisions / sizeof *decisions; i++)
        known |= strcmp(*text, decisions[i]) == 0;
    return result < 0 || known ? result
                               : import_fail(import, import->line, "invalid decision: %s", *text);
}

static char *import_name(struct import *import)
{
    skip_space(import);
    size_t len = strspn(import->at, "abcdefghijklmnopqrstuvwxyz_");
    char *name = xstrndup(import->at, len);
    import->at += len;
    return name;
}

static int import_arguments(struct import *import, struct import_rule *rule)
{
    int result = import_expect(import, '(', "behind the name");
    while (result == 0 && !import_takes(import, ')')) {
        char *name = import_name(import);
        result = import_expect(import, '=', "behind the name of an argument");
        if (result == 0)
            result = import_argument(import, name, rule);
        free(name);
        if (result == 0 && !import_takes(import, ',')) {
            result = import_expect(import, ')', "or ',' behind an argument");
            break;
        }
    }
    return result;
}

static int fail_name(struct import *import, const char *name)
{
    size_t rest = strcspn(import->at, "\r\n");
    if (strcmp(name, "network_rule") == 0)
        return import_fail(import, import->line,
                           "network_rule: a sandbox here has all of the network or none ([policy] "
                           "network), so no rule of the config can say it");
    return import_fail(import, import->line,
                       "'%s%.*s': only literal calls of prefix_rule and host_executable are taken",
                       name, (int)(rest < 20 ? rest : 20), import->at);
}

/* Top-level statements begin their line: what is indented belongs to a block. */
static int import_call(struct import *import, struct import_rule *rule)
{
    bool indented = import->at > import->text && import->at[-1] != '\n';
    char *name = import_name(import);
    bool host = strcmp(name, "host_executable") == 0;
    int result;
    if (indented)
        result = import_fail(import, import->line,
                             "'%s': it does not begin its line; only calls that depend on nothing "
                             "are taken",
                             name);
    else if (host || strcmp(name, "prefix_rule") == 0)
        result = import_arguments(import, rule);
    else
        result = fail_name(import, name);
    if (result == 0 && !starlark_line_ends(import->at))
        result = import_fail(import, import->line,
                             "something follows the call; write one in each line");
    if (result == 0 && host && !rule->program)
        result = import_fail(import, rule->line, "host_executable has no name");
    if (result == 0)
        result = check_words(import, rule);
    free(name);
    return result;
}

/* Goes behind the statement. False: it has no end. */
static bool skip_statement(struct import *import)
{
    bool whole;
    const char *end = starlark_end(import->at, &whole);
    for (; import->at < end; import->at++)
        import->line += *import->at == '\n';
    return whole;
}

/* Takes one statement, or refuses it and goes on behind it. False: nothing behind it is read. */
static bool import_statement(struct import *import, rules_import_refused *refused, void *arg)
{
    const char *begin = import->at;
    struct import_rule rule = {.line = import->line};
    bool full = import->count + import->refused >= RULES_IMPORT_MAX_CALLS;
    int result = full ? import_fail(import, import->line,
                                    "more than %d statements; nothing from here on is read, split "
                                    "the file",
                                    RULES_IMPORT_MAX_CALLS)
                      : import_call(import, &rule);
    if (result == 0) {
        import->rules = xreallocarray(import->rules, import->count + 1, sizeof *import->rules);
        import->rules[import->count++] = rule;
        return true;
    }
    import->at = begin;
    import->line = rule.line;
    import_rule_fini(&rule);
    bool goes_on = !full && skip_statement(import);
    struct buf why = BUF_INIT;
    buf_printf(&why, "%s%s", import->err.text,
               goes_on || full ? "" : "; the statement has no end: nothing behind it is read");
    refused(arg, import->err_line, why.data);
    buf_fini(&why);
    import->refused++;
    return goes_on;
}

/* The paths of all programs that the first word of the rule may be; borrowed by paths. */
static void find_paths(const struct import *import, const char *first, struct strv *paths)
{
    for (const char *at = first; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        const struct import_rule *last = NULL; /* the last definition wins */
        size_t len = strcspn(at, "|");
        for (size_t i = 0; i < import->count; i++) {
            const char *program = import->rules[i].program;
            if (program && strlen(program) == len && memcmp(program, at, len) == 0)
                last = &import->rules[i];
        }
        for (size_t i = 0; last && i < last->paths.count; i++)
            strv_add(paths, last->paths.items[i]);
    }
}

/* Writes the section, or refuses its line. */
static bool import_write(const struct import *import, const struct import_rule *rule,
                         struct buf *out, rules_import_refused *refused, void *arg)
{
    struct strv paths = {0};
    struct buf why = BUF_INIT;
    find_paths(import, rule->prefix.items[0], &paths);
    bool written = rules_write(rule, &paths, out, &why);
    if (!written)
        refused(arg, rule->line, why.data);
    strv_fini(&paths);
    buf_fini(&why);
    return written;
}

size_t rules_import(const char *name, const char *text, struct buf *out,
                    rules_import_refused *refused, void *arg)
{
    struct import import = {.text = text, .at = text, .line = 1};
    size_t taken = 0;
    for (skip_space(&import); *import.at; skip_space(&import))
        if (!import_statement(&import, refused, arg))
            break;
    buf_printf(out, "# Rules of '%s', read by ue policy import.\n", name);
    for (size_t i = 0; i < import.count; i++)
        if (!import.rules[i].program)
            taken += import_write(&import, &import.rules[i], out, refused, arg);
    for (size_t i = 0; i < import.count; i++)
        import_rule_fini(&import.rules[i]);
    free(import.rules);
    return taken;
}
