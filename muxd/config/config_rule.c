/* config_rule: the [rule NAME] sections: adding one, and what it must have. */
#include "base/bug.h"
#include "base/mem.h"
#include "config/config_row.h"
#include <stdlib.h>
#include <string.h>

struct config_rule *config_rule_add(struct config *cfg, const char *name, int line)
{
    size_t first, end;
    BUG_UNLESS(cfg->nrules < CONFIG_MAX_RULES);
    cfg->rules = xreallocarray(cfg->rules, cfg->nrules + 1, sizeof(*cfg->rules));
    struct config_rule *rule = &cfg->rules[cfg->nrules++];
    *rule = (struct config_rule){.name = xstrdup(name), .line = line};
    config_section_rows("rule", &first, &end);
    for (size_t i = first; i < end; i++)
        config_row_reset(&config_rows[i], rule);
    return rule;
}

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

void config_rule_fini(struct config_rule *rule)
{
    size_t first, end;
    config_section_rows("rule", &first, &end);
    for (size_t i = first; i < end; i++)
        config_row_fini(&config_rows[i], rule);
    free(rule->name);
}
