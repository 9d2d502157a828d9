/* config_print: the effective values of a config one by one, as text, and the differences between
 * two configs. */
#include "config/config_row.h"
#include <string.h>

struct walk {
    const struct config *cfg;
    void (*each)(void *ctx, const struct config_item *item);
    void *ctx;
    const char *section; /* only values of this one; NULL: all */
    bool beside;
};

static void walk_vars(const struct walk *walk, const struct config_row *row,
                      const struct config_vars *vars, const char *name)
{
    for (size_t i = 0; i < vars->count; i++) {
        struct buf key = BUF_INIT;
        buf_printf(&key, "%s%s", row->prefix, vars->items[i].name);
        walk->each(walk->ctx, &(struct config_item){row->section, name, key.data,
                                                    vars->items[i].value, vars->items[i].line,
                                                    walk->beside});
        buf_fini(&key);
    }
}

static void walk_rows(const struct walk *walk, size_t first, size_t end, const void *base,
                      const char *name, const int *lines)
{
    for (size_t i = first; i < end; i++) {
        const struct config_row *row = &config_rows[i];
        if ((!name && config_row_is_named(row)) ||
            (walk->section && strcmp(walk->section, row->section) != 0))
            continue;
        if (row->type == CONFIG_VARS) {
            walk_vars(walk, row, (const struct config_vars *)((const char *)base + row->offset),
                      name);
            continue;
        }
        struct buf value = BUF_INIT;
        config_row_format(row, base, &value);
        int line = lines[i] == 0 && row->from != 0 ? walk->cfg->lines[row->from] : lines[i];
        walk->each(walk->ctx,
                   &(struct config_item){row->section, name, row->key,
                                         value.data ? value.data : "", line, walk->beside});
        buf_fini(&value);
    }
}

void config_each(const struct config *cfg, const char *section,
                 void (*each)(void *ctx, const struct config_item *item), void *ctx)
{
    struct walk walk = {.cfg = cfg, .section = section, .each = each, .ctx = ctx};
    size_t first, end;
    walk_rows(&walk, 0, CONFIG_ROW_COUNT, cfg, NULL, cfg->lines);
    for (size_t k = 0; k < CONFIG_KINDS; k++) {
        config_section_rows(config_sections[config_kinds[k].section].name, &first, &end);
        for (size_t i = 0; i < config_kind_count(&config_kinds[k], cfg); i++) {
            const struct config_named *named = config_named_at(&config_kinds[k], cfg, i);
            walk.beside = named->beside;
            walk_rows(&walk, first, end, named, named->name, named->lines);
        }
    }
}

struct print {
    struct buf *out;
    const struct config *cfg;
    bool ok;
};

static void print_item(void *ctx, const struct config_item *item)
{
    struct print *print = ctx;
    const struct config *cfg = print->cfg;
    if (item->line)
        print->ok = print->ok &&
                    buf_printf(print->out, "%s:%d", item->beside ? cfg->rules_path : cfg->path,
                               item->line);
    else
        print->ok = print->ok && buf_append_text(print->out, "default");
    const char *name = item->name ? item->name : "";
    print->ok = print->ok && buf_printf(print->out, "\t[%s%s%s] %s =%s%s\n", item->section,
                                        *name ? " " : "", name,
                                        item->key, *item->value ? " " : "", item->value);
}

bool config_print(struct buf *out, const struct config *cfg, const char *section)
{
    struct print print = {out, cfg, true};
    config_each(cfg, section, print_item, &print);
    return print.ok;
}

struct diff {
    void (*change)(void *ctx, const struct config_change *change);
    void *ctx;
    size_t count;
};

static void config_print_tell(struct diff *diff, const struct config_change *change)
{
    diff->count++;
    if (diff->change)
        diff->change(diff->ctx, change);
}

static const struct config_var *var_find(const struct config_vars *vars, const char *name)
{
    for (size_t i = 0; i < vars->count; i++)
        if (strcmp(vars->items[i].name, name) == 0)
            return &vars->items[i];
    return NULL;
}

static void diff_var(struct diff *diff, const struct config_row *row, const char *session,
                     const char *name, const char *was, const char *is)
{
    struct buf key = BUF_INIT;
    buf_printf(&key, "%s%s", row->prefix, name);
    config_print_tell(
        diff, &(struct config_change){row->section, session, key.data, was, is, row->reload});
    buf_fini(&key);
}

static void diff_vars(struct diff *diff, const struct config_row *row, const char *session,
                      const struct config_vars *was, const struct config_vars *is)
{
    for (size_t i = 0; i < was->count; i++) {
        const struct config_var *old = &was->items[i], *new = var_find(is, old->name);
        if (!new || strcmp(old->value, new->value) != 0)
            diff_var(diff, row, session, old->name, old->value, new ? new->value : NULL);
    }
    for (size_t i = 0; i < is->count; i++)
        if (!var_find(was, is->items[i].name))
            diff_var(diff, row, session, is->items[i].name, NULL, is->items[i].value);
}

static void diff_rows(struct diff *diff, size_t first, size_t end, const void *was, const void *is,
                      const char *session)
{
    for (size_t i = first; i < end; i++) {
        const struct config_row *row = &config_rows[i];
        if (!session && config_row_is_named(row))
            continue;
        if (row->type == CONFIG_VARS) {
            diff_vars(diff, row, session,
                      (const struct config_vars *)((const char *)was + row->offset),
                      (const struct config_vars *)((const char *)is + row->offset));
            continue;
        }
        struct buf old = BUF_INIT, new = BUF_INIT;
        config_row_format(row, was, &old);
        config_row_format(row, is, &new);
        const char *old_text = old.data ? old.data : "", *new_text = new.data ? new.data : "";
        if (strcmp(old_text, new_text) != 0)
            config_print_tell(diff, &(struct config_change){row->section, session, row->key,
                                                            old_text, new_text, row->reload});
        buf_fini(&old);
        buf_fini(&new);
    }
}

static void config_print_diff_named(struct diff *diff, const struct config_kind *kind,
                                    const struct config *old_cfg, const struct config *new_cfg)
{
    const char *section = config_sections[kind->section].name;
    size_t first, end;
    config_section_rows(section, &first, &end);
    for (size_t i = 0; i < config_kind_count(kind, old_cfg); i++) {
        const struct config_named *was = config_named_at(kind, old_cfg, i),
                                  *is = config_named_find(kind, new_cfg, was->name);
        if (is)
            diff_rows(diff, first, end, was, is, was->name);
        else
            config_print_tell(diff, &(struct config_change){section, was->name, NULL, was->name,
                                                            NULL, CONFIG_NOW});
    }
    for (size_t i = 0; i < config_kind_count(kind, new_cfg); i++) {
        const struct config_named *is = config_named_at(kind, new_cfg, i);
        if (!config_named_find(kind, old_cfg, is->name))
            config_print_tell(diff, &(struct config_change){section, is->name, NULL, NULL, is->name,
                                                            CONFIG_NOW});
    }
}

size_t config_diff(const struct config *old_cfg, const struct config *new_cfg,
                   void (*change)(void *ctx, const struct config_change *change), void *ctx)
{
    struct diff diff = {change, ctx, 0};
    diff_rows(&diff, 0, CONFIG_ROW_COUNT, old_cfg, new_cfg, NULL);
    for (size_t k = 0; k < CONFIG_KINDS; k++)
        config_print_diff_named(&diff, &config_kinds[k], old_cfg, new_cfg);
    return diff.count;
}
