/* attach_nested: owns the question whether an attach would show a session within itself. */
#include "cmd/attachment.h"

#define CHAIN_MAX 64 /* sessions shown in sessions */

/* Whether something that runs in `from` shows `inside`, directly or through other sessions. A
 * chain that is too long counts as one that does. */
static bool attach_leads_to(const struct cmd_context *ctx, uint64_t from, uint64_t inside,
                            int depth)
{
    if (from == inside || depth >= CHAIN_MAX)
        return true;
    for (struct attachment *at = ctx->attachments; at; at = at->next) {
        if (at->host != from || at->followed)
            continue;
        at->followed = true;
        if (attach_leads_to(ctx, at->number, inside, depth + 1))
            return true;
    }
    return false;
}

static bool attach_shows(const struct cmd_context *ctx, uint64_t from, uint64_t inside)
{
    for (struct attachment *at = ctx->attachments; at; at = at->next)
        at->followed = false;
    return attach_leads_to(ctx, from, inside, 0);
}

int attach_nested_check(struct cmd_context *ctx, struct session *session, const struct session *own,
                        struct err *err)
{
    if (!session_is_tty(session))
        return err_set(err, ERR_NOT_AVAILABLE,
                       "'%s' has no terminal to attach to; follow its output with `ue logs -f %s`",
                       session_name(session), session_name(session));
    if (!session_is_live(session))
        return err_set(err, ERR_ENDED, "'%s': has ended; `ue screen %s` shows its last screen",
                       session_name(session), session_name(session));
    if (own == session)
        return err_set(
            err, ERR_SELF,
            "'%s': you are inside this session already; to show it in itself would never end",
            session_name(session));
    if (own && attach_shows(ctx, session_number(session), session_number(own)))
        return err_set(
            err, ERR_SELF,
            "'%s': shows the session '%s' that you are in; one in the other would never end",
            session_name(session), session_name(own));
    return 0;
}
