/* config_named: owns the arrays of the sections with names. */
#include "base/bug.h"
#include "base/mem.h"
#include "config/config_row.h"
#include <stdlib.h>
#include <string.h>

#define KIND(sect, items_, count_, max_)                                                           \
    {CONFIG_SECTION_##sect, offsetof(struct config, items_), offsetof(struct config, count_),      \
     sizeof(struct config_##sect), max_}
const struct config_kind config_kinds[CONFIG_KINDS] = {
    KIND(session, sessions, nsessions, CONFIG_MAX_SESSIONS),
    KIND(hook, hooks, nhooks, CONFIG_MAX_HOOKS),
    KIND(rule, rules, nrules, CONFIG_MAX_RULES),
    KIND(policy, policies, npolicies, CONFIG_MAX_POLICIES),
};
#undef KIND

const struct config_kind *config_kind_of(const struct config_section *section)
{
    for (size_t i = 0; i < CONFIG_KINDS; i++)
        if (section == &config_sections[config_kinds[i].section])
            return &config_kinds[i];
    BUG("[%s] has no kind", section->name);
}

static char **items_of(const struct config_kind *kind, const struct config *cfg)
{
    return (char **)((char *)cfg + kind->items);
}

static size_t *count_of(const struct config_kind *kind, const struct config *cfg)
{
    return (size_t *)((char *)cfg + kind->count);
}

size_t config_kind_count(const struct config_kind *kind, const struct config *cfg)
{
    return *count_of(kind, cfg);
}

struct config_named *config_named_at(const struct config_kind *kind, const struct config *cfg,
                                     size_t i)
{
    BUG_UNLESS(i < *count_of(kind, cfg));
    return (struct config_named *)(void *)(*items_of(kind, cfg) + i * kind->size);
}

struct config_named *config_named_find(const struct config_kind *kind, const struct config *cfg,
                                       const char *name)
{
    for (size_t i = 0; i < *count_of(kind, cfg); i++)
        if (strcmp(config_named_at(kind, cfg, i)->name, name) == 0)
            return config_named_at(kind, cfg, i);
    return NULL;
}

const struct config_policy *config_policy_find(const struct config *cfg, const char *name)
{
    const struct config_section *section = &config_sections[CONFIG_SECTION_policy];
    return (const struct config_policy *)config_named_find(config_kind_of(section), cfg, name);
}

bool config_named_is_full(const struct config_kind *kind, const struct config *cfg)
{
    return *count_of(kind, cfg) == kind->max;
}

struct config_named *config_named_add(const struct config_kind *kind, struct config *cfg,
                                      const char *name, int line)
{
    size_t first, end, *count = count_of(kind, cfg);
    char **items = items_of(kind, cfg);
    BUG_UNLESS(*count < kind->max);
    *items = xreallocarray(*items, *count + 1, kind->size);
    memset(*items + *count * kind->size, 0, kind->size);
    (*count)++;
    struct config_named *named = config_named_at(kind, cfg, *count - 1);
    named->name = xstrdup(name);
    named->line = line;
    config_section_rows(config_sections[kind->section].name, &first, &end);
    for (size_t i = first; i < end; i++)
        config_row_reset(&config_rows[i], named);
    return named;
}

void config_named_free(struct config *cfg)
{
    for (size_t k = 0; k < CONFIG_KINDS; k++) {
        const struct config_kind *kind = &config_kinds[k];
        size_t first, end;
        config_section_rows(config_sections[kind->section].name, &first, &end);
        for (size_t i = 0; i < *count_of(kind, cfg); i++) {
            struct config_named *named = config_named_at(kind, cfg, i);
            for (size_t row = first; row < end; row++)
                config_row_fini(&config_rows[row], named);
            free(named->name);
        }
        free(*items_of(kind, cfg));
    }
}
