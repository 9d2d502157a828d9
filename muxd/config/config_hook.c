/* config_hook: the [hook NAME] sections: adding one, and what it must have. */
#include "base/bug.h"
#include "base/mem.h"
#include "config/config_row.h"
#include "wire/event.h"
#include <stdlib.h>

struct config_hook *config_hook_add(struct config *cfg, const char *name, int line)
{
    size_t first, end;
    BUG_UNLESS(cfg->nhooks < CONFIG_MAX_HOOKS);
    cfg->hooks = xreallocarray(cfg->hooks, cfg->nhooks + 1, sizeof(*cfg->hooks));
    struct config_hook *hook = &cfg->hooks[cfg->nhooks++];
    *hook = (struct config_hook){.name = xstrdup(name), .line = line};
    config_section_rows("hook", &first, &end);
    for (size_t i = first; i < end; i++)
        config_row_reset(&config_rows[i], hook);
    return hook;
}

bool config_hook_finish(struct config_hook *hook, struct buf *why)
{
    if (!hook->run)
        return buf_append_text(why, "it has no command; add 'run'"), false;
    if (hook->on.count == 0)
        return buf_append_text(why, "it has no events; add 'on', as in 'on = end'"), false;
    for (size_t i = 0; i < hook->on.count; i++) {
        const char *word = hook->on.items[i], *nearest = event_nearest(word);
        int type = event_by_name(word);
        if (type < 0 && nearest)
            return buf_printf(why, "'%s' is no event; did you mean '%s'?", word, nearest), false;
        if (type < 0)
            return buf_printf(why, "'%s' is no event; ue help events lists them", word), false;
        hook->types |= EVENT_BIT(type);
    }
    return true;
}

void config_hook_fini(struct config_hook *hook)
{
    size_t first, end;
    config_section_rows("hook", &first, &end);
    for (size_t i = first; i < end; i++)
        config_row_fini(&config_rows[i], hook);
    free(hook->name);
}
