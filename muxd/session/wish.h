/* wish: the sandbox that a section of the config asks for: [session NAME], [hook NAME]. */
#ifndef MUXD_SESSION_WISH_H
#define MUXD_SESSION_WISH_H
#include "base/strv.h"
#include "confine/confine.h"

struct config_hook;
struct config_session;

struct wish {
    struct confine_wish confine; /* borrows from this struct */
    struct strv roots;
    char *cwd; /* where it begins, absolute */
};
/* The caller owes wish_fini. */
void wish_of_session(struct wish *wish, const struct config_session *session);
void wish_of_hook(struct wish *wish, const struct config_hook *hook);
void wish_fini(struct wish *wish);
bool wish_confines(const struct wish *wish);
#endif
