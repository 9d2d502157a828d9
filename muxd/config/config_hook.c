/* config_hook: the [hook NAME] sections: what one must have. */
#include "config/config_row.h"
#include "wire/event.h"

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
    if (hook->sandbox == CONFIG_SANDBOX_WORKSPACE_WRITE && !hook->workdir)
        return buf_append_text(why, "sandbox = workspace-write lets it write below 'workdir', "
                                    "which it lacks; add that, or use read-only"),
               false;
    return true;
}
