/* wish.c: owns how the keys of a section become the wish for a sandbox. */
#include "session/wish.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/config.h"
#include <stdlib.h>

static void wish_add_roots(struct wish *wish, const struct config_words *roots)
{
    for (size_t i = 0; i < roots->count; i++)
        strv_add_owned(&wish->roots, path_at_home(roots->items[i]));
    wish->confine.roots = (const char *const *)wish->roots.items;
}

void wish_of_session(struct wish *wish, const struct config_session *session)
{
    *wish = (struct wish){.confine = {.mode = (enum confine_mode)session->sandbox,
                                      .network = session->network,
                                      .no_temp = !session->temp},
                          .cwd = session->workdir ? path_at_home(session->workdir) : path_home()};
    wish_add_roots(wish, &session->writable_roots);
}

void wish_of_hook(struct wish *wish, const struct config_hook *hook)
{
    *wish = (struct wish){.confine = {.mode = (enum confine_mode)hook->sandbox,
                                      .network = hook->network,
                                      .no_temp = !hook->temp},
                          .cwd = hook->workdir ? path_at_home(hook->workdir) : xstrdup("/")};
    wish_add_roots(wish, &hook->writable_roots);
}

void wish_fini(struct wish *wish)
{
    strv_fini(&wish->roots);
    free(wish->cwd);
    *wish = (struct wish){.cwd = NULL};
}

bool wish_confines(const struct wish *wish)
{
    return wish->confine.mode != CONFINE_FULL_ACCESS;
}
