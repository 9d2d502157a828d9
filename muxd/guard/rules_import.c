/* rules_import: owns the calls of prefix_rule and host_executable, and what they come to. */
#include "guard/rules_import.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/strv.h"
#include "guard/literal.h"
#include "guard/rules_write.h"
#include "guard/starlark.h"
#include <stdlib.h>
#include <string.h>

struct import {
    struct literal in;
    struct import_rule *rules;
    size_t count, refused;
};

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

static bool text_is_seen(const char *text)
{
    return text[strspn(text, " \t")] != '\0';
}

/* What the calls take, in the order of what stands there without a name. */
static const char *const rule_names[] = {"pattern", "decision", "match", "not_match",
                                         "justification", NULL};
static const char *const host_names[] = {"name", "paths", NULL};

static int import_text(struct literal *in, const char *name, char **text)
{
    static const char *const decisions[] = {"allow", "prompt", "forbidden"};
    int result = literal_string(in, text);
    if (result == 0 && strcmp(name, "justification") == 0 && !text_is_seen(*text))
        return literal_fail(in, in->line, "invalid rule: justification cannot be empty");
    bool known = strcmp(name, "decision") != 0;
    for (size_t i = 0; *text && i < sizeof decisions / sizeof *decisions; i++)
        known |= strcmp(*text, decisions[i]) == 0;
    return result < 0 || known ? result
                               : literal_fail(in, in->line, "invalid decision: %s", *text);
}

static int import_argument(struct literal *in, const char *name, struct import_rule *rule)
{
    if (strcmp(name, "pattern") == 0)
        return literal_list(in, &rule->prefix, '|');
    if (strcmp(name, "match") == 0)
        return literal_examples(in, &rule->match);
    if (strcmp(name, "not_match") == 0)
        return literal_examples(in, &rule->not_match);
    if (strcmp(name, "paths") == 0)
        return literal_list(in, &rule->paths, '\0');
    return import_text(in, name, strcmp(name, "decision") == 0        ? &rule->decision
                                 : strcmp(name, "justification") == 0 ? &rule->justification
                                                                      : &rule->program);
}

static char *import_name(struct literal *in)
{
    literal_skip_space(in);
    size_t len = strspn(in->at, "abcdefghijklmnopqrstuvwxyz_");
    char *name = xstrndup(in->at, len);
    in->at += len;
    return name;
}

/* Which of the names the next argument is for: its own, or the one whose turn it is; -1: refused.
 * *named: it, or one before it, has a name. */
static int argument_index(struct literal *in, const char *const *names, int turn, bool *named)
{
    literal_skip_space(in);
    int count = 0, found = -1;
    if (!*named && *in->at && strchr("[\"'", *in->at)) {
        while (names[count])
            count++;
        return turn < count ? turn : literal_fail(in, in->line, "too many arguments");
    }
    *named = true;
    char *name = import_name(in);
    for (int i = 0; names[i]; i++)
        found = strcmp(name, names[i]) == 0 ? i : found;
    if (literal_expect(in, '=', "behind the name of an argument") < 0)
        found = -1;
    else if (found < 0)
        literal_fail(in, in->line, "'%s': no such argument", name);
    free(name);
    return found;
}

static int import_arguments(struct literal *in, const char *const *names, struct import_rule *rule)
{
    unsigned seen = 0;
    bool named = false;
    int result = literal_expect(in, '(', "behind the name");
    for (int turn = 0; result == 0 && !literal_takes(in, ')'); turn++) {
        int at = argument_index(in, names, turn, &named);
        if (at < 0)
            result = ERR_CONFIG;
        else if (seen & 1u << at)
            result = literal_fail(in, in->line, "'%s' is there twice", names[at]);
        else
            result = import_argument(in, names[at], rule);
        seen |= at < 0 ? 0 : 1u << at;
        if (result == 0 && !literal_takes(in, ',')) {
            result = literal_expect(in, ')', "or ',' behind an argument");
            break;
        }
    }
    if (result == 0 && names == host_names && seen != 3)
        result = literal_fail(in, rule->line, "host_executable needs a name and paths");
    return result;
}

static int check_host(struct literal *in, const struct import_rule *rule)
{
    if (!*rule->program)
        return literal_fail(in, rule->line, "invalid rule: host_executable name cannot be empty");
    if (strchr(rule->program, '/'))
        return literal_fail(in, rule->line,
                            "invalid rule: host_executable name must be a bare executable name "
                            "(got %s)", rule->program);
    for (size_t i = 0; i < rule->paths.count; i++) {
        const char *path = rule->paths.items[i];
        if (*path != '/')
            return literal_fail(in, rule->line,
                                "invalid rule: host_executable paths must be absolute (got %s)",
                                path);
        if (strcmp(strrchr(path, '/') + 1, rule->program) != 0)
            return literal_fail(in, rule->line,
                                "invalid rule: host_executable path `%s` must have basename `%s`",
                                path, rule->program);
    }
    return 0;
}

static int fail_name(struct literal *in, const char *name)
{
    size_t rest = strcspn(in->at, "\r\n");
    if (strcmp(name, "network_rule") == 0)
        return literal_fail(in, in->line,
                           "network_rule: a sandbox here has all of the network or none ([policy] "
                           "network), so no rule of the config can say it");
    return literal_fail(in, in->line,
                       "'%s%.*s': only literal calls of prefix_rule and host_executable are taken",
                       name, (int)(rest < 20 ? rest : 20), in->at);
}

/* Top-level statements begin their line: what is indented belongs to a block. */
static int import_call(struct literal *in, struct import_rule *rule)
{
    bool indented = in->at > in->text && in->at[-1] != '\n';
    char *name = import_name(in);
    bool host = strcmp(name, "host_executable") == 0;
    int result;
    if (indented)
        result = literal_fail(in, in->line,
                             "'%s': it does not begin its line; only calls that depend on nothing "
                             "are taken",
                             name);
    else if (host || strcmp(name, "prefix_rule") == 0)
        result = import_arguments(in, host ? host_names : rule_names, rule);
    else
        result = fail_name(in, name);
    if (result == 0 && !starlark_line_ends(in->at))
        result = literal_fail(in, in->line,
                             "something follows the call; write one in each line");
    if (result == 0)
        result = host                    ? check_host(in, rule)
                 : rule->prefix.count > 0 ? 0
                                          : literal_fail(in, rule->line, "pattern cannot be empty");
    free(name);
    return result;
}

/* Goes behind the statement. False: it has no end. */
static bool skip_statement(struct literal *in)
{
    bool whole;
    const char *end = starlark_end(in->at, &whole);
    for (; in->at < end; in->at++)
        in->line += *in->at == '\n';
    return whole;
}

/* Takes one statement, or refuses it and goes on behind it. False: nothing behind it is read. */
static bool import_statement(struct import *import, rules_import_refused *refused, void *arg)
{
    const char *begin = import->in.at;
    struct import_rule rule = {.line = import->in.line};
    bool full = import->count + import->refused >= RULES_IMPORT_MAX_CALLS;
    int result = full ? literal_fail(&import->in, import->in.line,
                                    "more than %d statements; nothing from here on is read, split "
                                    "the file",
                                    RULES_IMPORT_MAX_CALLS)
                      : import_call(&import->in, &rule);
    if (result == 0) {
        import->rules = xreallocarray(import->rules, import->count + 1, sizeof *import->rules);
        import->rules[import->count++] = rule;
        return true;
    }
    import->in.at = begin;
    import->in.line = rule.line;
    import_rule_fini(&rule);
    bool goes_on = !full && skip_statement(&import->in);
    struct buf why = BUF_INIT;
    buf_printf(&why, "%s%s", import->in.err.text,
               goes_on || full ? "" : "; the statement has no end: nothing behind it is read");
    refused(arg, import->in.err_line, why.data);
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
    struct import import = {.in = {.text = text, .at = text, .line = 1}};
    size_t taken = 0;
    for (literal_skip_space(&import.in); *import.in.at; literal_skip_space(&import.in))
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
