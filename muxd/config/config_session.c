/* config_session: the [session NAME] sections: finding one, and what it inherits. */
#include "base/bug.h"
#include "config/config_row.h"
#include <string.h>

const struct config_session *config_session_find(const struct config *cfg, const char *name)
{
    for (size_t i = 0; i < cfg->nsessions; i++)
        if (strcmp(cfg->sessions[i].name, name) == 0)
            return &cfg->sessions[i];
    return NULL;
}

static void inherit(const struct config *cfg, struct config_session *session,
                    const struct config_row *row)
{
    struct buf value = BUF_INIT, why = BUF_INIT;
    BUG_UNLESS(row->type == config_rows[row->from].type && row->type != CONFIG_VARS);
    config_row_format(&config_rows[row->from], cfg, &value);
    if (!config_row_set(row, session, value.data ? value.data : "", &why))
        BUG("[session] %s can't take the value of [%s] %s: %s", row->key,
            config_rows[row->from].section, config_rows[row->from].key, why.data);
    buf_fini(&value);
    buf_fini(&why);
}

bool config_session_finish(struct config *cfg, struct config_session *session, struct buf *why)
{
    size_t first, end;
    config_section_rows("session", &first, &end);
    for (size_t i = first; i < end; i++)
        if (config_rows[i].from != 0 && session->lines[i] == 0)
            inherit(cfg, session, &config_rows[i]);
    if (session->cmd && session->argv.count > 0)
        return buf_append_text(why, "it has both 'cmd' and 'argv'; remove one of them"), false;
    if (!session->cmd && session->argv.count == 0)
        return buf_append_text(why, "it has no command; add 'cmd' or 'argv'"), false;
    if (session->profile && !config_policy_find(cfg, session->profile))
        return buf_printf(why, "there is no [policy %s], which 'profile' names; add it",
                          session->profile),
               false;
    return true;
}
