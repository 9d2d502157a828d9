/* attach_start: owns the way from the request `attach` to a session that can be shown. A
 * declared session may have to start first. */
#include "base/mem.h"
#include "base/strv.h"
#include "cmd/attachment.h"
#include "cmd/meta.h"
#include "cmd/people.h"
#include "wire/schema.h"
#include <stdlib.h>

/* A declared session with start = demand starts when a request names it. */
struct start {
    struct cmd_context *ctx;
    struct request *request; /* NULL: cancelled */
    enum input_who who;
};

static void on_started(void *arg, uint64_t number, const struct err *why)
{
    struct start *start = arg;
    struct err err = *why;
    struct session *session = registry_by_number(start->ctx->registry, number);
    if (start->request)
        request_on_cancel(start->request, NULL, NULL);
    if (!err.code && !session)
        err_set(&err, ERR_ENDED, "session %llu has ended already", (unsigned long long)number);
    if (start->request && err.code)
        request_fail(start->request, &err);
    else if (start->request)
        attachment_begin(start->ctx, start->request, session, start->who);
    free(start);
}

static void attach_start_on_cancel(void *arg)
{
    struct start *start = arg;
    start->request = NULL;
}

static int begin_declared(struct cmd_context *ctx, struct request *request, const char *name,
                          enum input_who who, struct err *err)
{
    struct session *session;
    char **env = meta_env(ctx, request, META_ENV_PEOPLE, NULL, err);
    if (!env)
        return err->code;
    struct start *start = xcalloc(1, sizeof *start);
    *start = (struct start){.ctx = ctx, .request = request, .who = who};
    request_on_cancel(request, attach_start_on_cancel, start);
    err->code = 0;
    int code = registry_start_declared(ctx->registry, name, env, on_started, start, &session, err);
    if (code < 0) {
        request_on_cancel(request, NULL, NULL);
        free(start);
    }
    strv_free(env);
    return code;
}

/* As whom the client types: a person, or a script that may attach, which is an agent unless it may
 * have the keyboard, too. Who only looks is neither. */
static int who_types(struct cmd_context *ctx, struct request *request, enum input_who *who,
                     struct err *err)
{
    *who = INPUT_BY_PERSON;
    if (schema_bool(&tools[TOOL_ATTACH], request_params(request), "read_only", false) ||
        people_is_person(ctx, request))
        return 0;
    if (!people_may_script(ctx, CONFIG_SCRIPTS_KEYBOARD))
        *who = INPUT_BY_AGENT;
    return people_check(ctx, request, "attach", CONFIG_SCRIPTS_ATTACH, err);
}

void cmd_ATTACH(struct cmd_context *ctx, struct request *request)
{
    char room[SCHEMA_SESSION_ROOM];
    struct err err;
    bool on_demand = false;
    enum input_who who;
    const char *name = schema_session(json_get(request_params(request), "session_id"), room);
    struct session *session = registry_find(ctx->registry, name, &err);
    bool begins = !(session && session_is_live(session)) &&
                  registry_is_declared(ctx->registry, name, &on_demand) && on_demand;
    if (who_types(ctx, request, &who, &err) < 0 ||
        (begins ? begin_declared(ctx, request, name, who, &err) < 0 : !session))
        request_fail(request, &err);
    else if (!begins)
        attachment_begin(ctx, request, session, who);
}
