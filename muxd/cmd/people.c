/* people: owns the decision whether a request may do what is for people. The facts are
 * peer/person's. */
#include "cmd/people.h"
#include "cmd/meta.h"
#include "peer/person.h"
#include <string.h>

struct search {
    pid_t sid;
    bool found;
};

static bool people_compare(void *arg, struct session *session)
{
    struct search *search = arg;
    search->found |= session_terminal_sid(session) == search->sid;
    return !search->found;
}

static bool made_for_session(void *arg, pid_t sid)
{
    struct search search = {.sid = sid};
    registry_each(arg, true, people_compare, &search);
    return search.found;
}

int people_why_not(struct cmd_context *ctx, struct request *request, struct err *err)
{
    return person_check(request_peer(request), made_for_session, ctx->registry, err);
}

bool people_is_person(struct cmd_context *ctx, struct request *request)
{
    struct err unused;
    return people_why_not(ctx, request, &unused) == 0;
}

bool people_may_script(const struct cmd_context *ctx, const char *word)
{
    const struct config_words *words = &ctx->config->defaults.scripts_may;
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->items[i], word) == 0)
            return true;
    return false;
}

int people_check(struct cmd_context *ctx, struct request *request, const char *what,
                 const char *word, struct err *err)
{
    struct err why;
    if (people_may_script(ctx, word) || people_why_not(ctx, request, &why) == 0)
        return 0;
    struct session *own = registry_of_process(ctx->registry, peer_pid(request_peer(request)));
    if (own)
        return err_set(err, ERR_DENIED,
                       "'%s' is for a person at a terminal, and this runs inside the session '%s'; "
                       "who is attached uses the keys of ue attach (C-\\ ? shows them), "
                       "`[defaults] scripts_may = %s` allows it to scripts",
                       what, session_name(own), word);
    return err_set(err, ERR_DENIED,
                   "'%s' is for a person at a terminal, not for agents: %s; `[defaults] "
                   "scripts_may = %s` allows it to scripts",
                   what, why.text, word);
}

int people_check_evidence(struct cmd_context *ctx, struct request *request, const char *what,
                          struct err *err)
{
    struct err why;
    if (people_why_not(ctx, request, &why) == 0)
        return 0;
    struct session *own = registry_of_process(ctx->registry, peer_pid(request_peer(request)));
    if (own)
        return err_set(err, ERR_DENIED,
                       "'%s' is for a person at a terminal outside of all sessions, and this runs "
                       "inside the session '%s'; who is attached to it answers with C-\\ a",
                       what, session_name(own));
    return err_set(err, ERR_DENIED,
                   "'%s' is for a person at a terminal outside of all sessions: %s; use ue %s "
                   "there",
                   what, why.text, what);
}

int people_check_steal(struct cmd_context *ctx, struct request *request, struct err *err)
{
    if (!ctx->config->defaults.keyboard_steal)
        return err_set(err, ERR_DENIED,
                       "'steal' is not allowed; [defaults] keyboard_steal = yes allows it");
    return people_check(ctx, request, "steal", CONFIG_SCRIPTS_STEAL, err);
}

int people_check_keyboard(struct cmd_context *ctx, struct request *request,
                          struct session *session, struct err *err)
{
    const struct author author = meta_author(ctx, request, INPUT_BY_AGENT);
    int code = keyboard_check(session, &author, err);
    return code && people_is_person(ctx, request) ? 0 : code;
}
