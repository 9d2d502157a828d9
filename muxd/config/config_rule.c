/* config_rule: the [rule NAME] sections: what one must have, and their file. */
#include "base/bug.h"
#include "base/mem.h"
#include "config/config_row.h"
#include <stdlib.h>
#include <string.h>

/* "a|b" without an empty alternative. */
static bool are_alternatives(const char *word)
{
    return *word && *word != '|' && word[strlen(word) - 1] != '|' && !strstr(word, "||");
}

static bool check_executable(const struct config_rule *rule, const char *path, struct buf *why)
{
    const char *slash = strrchr(path, '/'), *first = rule->prefix.items[0];
    size_t len = slash ? strlen(slash + 1) : 0;
    if (*path != '/')
        return buf_printf(why, "'%s' in 'host_executable' is no absolute path", path), false;
    BUG_UNLESS(slash);
    for (const char *at = first; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == len && memcmp(at, slash + 1, len) == 0)
            return true;
    return buf_printf(why, "'%s' in 'host_executable' does not end with '%s'", path, first), false;
}

bool config_rule_finish(struct config_rule *rule, struct buf *why)
{
    if (rule->prefix.count == 0)
        return buf_append_text(why, "it has no command; add 'prefix', as in 'prefix = git push'"),
               false;
    for (size_t i = 0; i < rule->prefix.count; i++)
        if (!are_alternatives(rule->prefix.items[i]))
            return buf_printf(why, "'%s' in 'prefix' has an empty alternative; write 'a|b'",
                              rule->prefix.items[i]),
                   false;
    for (size_t i = 0; i < rule->host_executable.count; i++)
        if (!check_executable(rule, rule->host_executable.items[i], why))
            return false;
    return true;
}

char *config_rules_path(const char *path)
{
    size_t len = strlen(path);
    bool ini = len > 4 && strcmp(path + len - 4, ".ini") == 0;
    return xasprintf("%.*s.rules", (int)(ini ? len - 4 : len), path);
}

const char *config_rule_path(const struct config *cfg, const struct config_rule *rule)
{
    return rule->beside ? cfg->rules_path : cfg->path;
}
