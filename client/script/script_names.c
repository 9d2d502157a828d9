/* script_names: owns the question whether a variable that is read is set anywhere. */
#include "base/mem.h"
#include "base/value.h"
#include "client/script/script.h"
#include <stdlib.h>
#include <string.h>

struct names {
    struct script *script;
    const char **set; /* owned; the names are borrowed from the tree */
    size_t count;
    struct err *err;
};

static const char *name_set_by(const struct script_node *node)
{
    bool first = node->id == SCRIPT_SET || node->id == SCRIPT_CAPTURE || node->id == SCRIPT_EACH;
    if (first)
        return script_literal(&node->words[0]);
    return node->id == SCRIPT_REPEAT && node->count == 2 ? script_literal(&node->words[1]) : NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* With an array of its own the depth of the tree doesn't matter. */
static void collect_names(struct names *names, const struct script_node *node)
{
    for (; node; node = node->next)
        for (const struct script_node *at = node; at; at = at->branch) {
            const char *name = name_set_by(at);
            if (name)
                names->set[names->count++] = name;
            collect_names(names, at->body);
        }
}

static bool is_of_language(const char *name)
{
    static const char *const own[] = {"match",  "before",  "output", "status",
                                      "reason", "session", "@"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0)
            return true;
    return strspn(name, "0123456789") == strlen(name) ||
           (strncmp(name, "match.", 6) == 0 && name[6]) ||
           (strncmp(name, "env.", 4) == 0 && value_env_name(name + 4, strlen(name + 4)));
}

static int names_refuse(struct names *names, const char *name, unsigned line)
{
    const char *near = value_nearest(name, names->set, names->count);
    return err_set(names->err, ERR_USAGE, "'%.200s:%u': ${%s} is set nowhere%s%s%s",
                   names->script->name, line, name, near ? "; did you mean ${" : "",
                   near ? near : "", near ? "}?" : "; `set` and `capture` do that");
}

static int script_names_check_word(struct names *names, const struct script_word *word,
                                   const struct script_node *node)
{
    for (size_t i = 0; i < word->count; i++) {
        const char *name = word->parts[i].text;
        if (!word->parts[i].variable)
            continue;
        names->script->uses_before |= strcmp(name, "before") == 0;
        bool alone = word->count == 1 && !word->quoted &&
                     (node->id == SCRIPT_START || node->id == SCRIPT_EACH);
        if (strcmp(name, "@") == 0 && !alone)
            return err_set(names->err, ERR_USAGE,
                           "'%.200s:%u': ${@} is all operands; it stands as a word of its own in "
                           "start and each",
                           names->script->name, node->line);
        if (!is_of_language(name) &&
            !bsearch(&name, names->set, names->count, sizeof *names->set, by_name))
            return names_refuse(names, name, node->line);
    }
    return 0;
}

static int check_nodes(struct names *names, const struct script_node *node);

static int check_node(struct names *names, const struct script_node *node)
{
    int code = script_names_check_word(names, &node->session, node);
    for (size_t i = 0; code == 0 && i < node->option_count; i++)
        code = script_names_check_word(names, &node->options[i].value, node);
    for (size_t i = 0; code == 0 && i < node->count; i++)
        code = script_names_check_word(names, &node->words[i], node);
    return code ? code : check_nodes(names, node->body);
}

static int check_nodes(struct names *names, const struct script_node *node)
{
    int code = 0;
    for (; code == 0 && node; node = node->next)
        for (const struct script_node *at = node; code == 0 && at; at = at->branch)
            code = check_node(names, at);
    return code;
}

int script_check_names(struct script *script, struct err *err)
{
    struct names names = {.script = script, .err = err};
    names.set = xcalloc(script->commands + 1, sizeof *names.set);
    collect_names(&names, script->first);
    qsort(names.set, names.count, sizeof *names.set, by_name);
    int code = check_nodes(&names, script->first);
    free(names.set);
    return code;
}
