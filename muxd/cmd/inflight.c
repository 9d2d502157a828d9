/* inflight: owns the order in which the spawn, the wait and the request of a call come to their
 * ends. */
#include "cmd/inflight.h"
#include "base/bug.h"
#include "base/clock.h"
#include "cmd/delivery.h"
#include "cmd/failure.h"
#include "cmd/meta.h"
#include "session/registry.h"
#include "wire/schema.h"
#include <stdlib.h>

static void inflight_release(struct inflight *call)
{
    BUG_UNLESS(call->holds > 0);
    if (--call->holds > 0)
        return;
    free(call->command);
    race_match_free(call->result.match);
    call->kind->free(call);
}

static void inflight_drop(struct inflight *call)
{
    if (call->wait)
        wait_cancel(call->wait);
    call->wait = NULL;
    if (call->kind->drop)
        call->kind->drop(call);
}

void inflight_let_go(struct inflight *call)
{
    BUG_UNLESS(!call->over && !call->request);
    inflight_drop(call);
    call->over = true;
    inflight_release(call);
}

static void inflight_on_cancel(void *arg)
{
    struct inflight *call = arg;
    BUG_UNLESS(call->request && !call->over);
    call->request = NULL;
    if (!call->kind->outlives_request)
        inflight_let_go(call);
}

void inflight_begin(struct inflight *call, const struct inflight_kind *kind,
                    struct cmd_context *ctx, struct request *request, const struct tool *tool)
{
    *call = (struct inflight){.kind = kind,
                              .ctx = ctx,
                              .request = request,
                              .tool = tool,
                              .begun_ns = clock_mono_ns() - meta_waited_ns(request),
                              .holds = 1};
    request_on_cancel(request, inflight_on_cancel, call);
}

void inflight_began_with(struct inflight *call, struct session *session)
{
    int64_t age_ms = clock_boot_ms() - session_journal(session)->header->created_boot_ms,
            begun_ns = clock_mono_ns() - age_ms * 1000000;
    char *policy = session_policy(session);
    if (policy || begun_ns < call->begun_ns)
        call->begun_ns = begun_ns;
    free(policy);
}

static void follow_now(struct inflight *call, struct session *session, uint64_t follower)
{
    struct peer *peer = request_peer(call->request);
    uint64_t before = peer_follows(peer);
    struct session *followed = before ? registry_by_number(call->ctx->registry, before) : NULL;
    if (followed == session)
        return;
    if (followed)
        session_follow(followed, false, peer_follower(peer));
    session_follow(session, true, follower);
    peer_set_follows(peer, session_number(session), follower);
}

uint64_t inflight_follower(const struct inflight *call, bool waits)
{
    return session_follower(peer_pid(request_peer(call->request)), waits);
}

void inflight_follow(struct inflight *call, struct session *session, bool waits)
{
    for (int way = 0; way < 2 && session_is_awaiting(session); way++) {
        uint64_t follower = inflight_follower(call, way == 0);
        if (session_awaits(session, follower))
            follow_now(call, session, follower);
    }
    if (tool_arg_by_name(call->tool, "follow") &&
        schema_bool(call->tool, request_params(call->request), "follow", false))
        follow_now(call, session, inflight_follower(call, waits));
}

uint64_t inflight_follows(const struct inflight *call, const struct session *session)
{
    const struct peer *peer = request_peer(call->request);
    return peer_follows(peer) == session_number(session) ? peer_follower(peer) : 0;
}

/* Takes the request from the call, which answers it. NULL: cancelled. */
static struct request *inflight_take_request(struct inflight *call)
{
    struct request *request = call->request;
    call->request = NULL;
    if (request)
        request_on_cancel(request, NULL, NULL);
    return request;
}

struct request *inflight_give_back(struct inflight *call)
{
    struct request *request = inflight_take_request(call);
    BUG_UNLESS(request && !call->wait && !call->starting);
    inflight_let_go(call);
    return request;
}

void inflight_reply(struct inflight *call, struct json *answer, const struct delivery *delivery)
{
    struct request *request = inflight_take_request(call);
    BUG_UNLESS(request && !call->over && !call->wait);
    delivery_begin(request, delivery);
    request_reply(request, answer);
    inflight_let_go(call);
}

void inflight_fail(struct inflight *call, const struct err *err)
{
    BUG_UNLESS(!call->over && err->code < 0);
    struct request *request = inflight_take_request(call);
    inflight_drop(call);
    if (request)
        failure_reply_command(request, call->tool, call->command, err);
    inflight_let_go(call);
}

static void inflight_on_wait(void *arg, const struct wait_result *result)
{
    struct inflight *call = arg;
    call->wait = NULL;
    race_match_free(call->result.match);
    call->result = *result;
    call->fired = call->starting;
    if (!call->starting)
        call->kind->finish(call);
}

/* When more than half of the places are taken, a connection gets no more than its part of the rest,
 * so that some are left for the others. */
static int inflight_check_share(const struct inflight *call, struct err *err)
{
    size_t places = (size_t)call->ctx->config->limits.waits;
    unsigned taken = registry_waits(call->ctx->registry);
    if (!call->request || taken <= places / 2 || request_is_modest(call->request, places / 2))
        return 0;
    return err_set(err, ERR_LIMIT,
                   "%u calls are waiting already, and this connection has its part of "
                   "[limits] 'waits' in flight; wait for an answer, or raise it",
                   taken);
}

int inflight_wait(struct inflight *call, struct session *session, const struct wait_spec *spec,
                  struct err *err)
{
    BUG_UNLESS(!call->wait && !call->over);
    call->number = session_number(session);
    if (call->request)
        request_set_session(call->request, call->number);
    if (inflight_check_share(call, err) != 0)
        return err->code;
    call->wait = session_wait(session, spec, inflight_on_wait, call, err);
    return call->wait ? 0 : err->code;
}

void inflight_end(struct inflight *call, struct session *session, enum wait_reason reason)
{
    const struct wait_result result = {.reason = reason};
    BUG_UNLESS(!call->wait && !call->over);
    call->number = session_number(session);
    inflight_on_wait(call, &result);
}

void inflight_starting(struct inflight *call)
{
    BUG_UNLESS(!call->starting && !call->wait);
    call->starting = true;
    call->holds++;
}

void inflight_not_starting(struct inflight *call)
{
    BUG_UNLESS(call->starting && call->holds > 1);
    call->starting = false;
    call->holds--;
}

void inflight_spawned(void *arg, uint64_t number, const struct err *err)
{
    struct inflight *call = arg;
    (void)number;
    BUG_UNLESS(call->starting);
    call->starting = false;
    if (!call->over && err->code < 0)
        inflight_fail(call, err);
    else if (!call->over && call->fired)
        call->kind->finish(call);
    inflight_release(call);
}
