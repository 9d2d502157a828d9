/* approvals: owns the parked calls, and what ends their waiting. */
#include "cmd/approvals.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strv.h"
#include "cmd/approvals_told.h"
#include "cmd/failure.h"
#include "cmd/meta.h"
#include "cmd/recorded.h"
#include "cmd/yes.h"
#include "sys/proc.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define READABLE 65536 /* bytes of a question */
#define IDS (UINT32_C(1) << (5 * APPROVAL_ID_CHARS))

struct approvals {
    struct list parked; /* the oldest first */
    unsigned count;
    uint32_t next, step; /* of ids */
    struct yes *yes;
    /* the call that is handled again right now; NULL: none */
    const struct request *granted;
    struct approval_grant grant;
};

static struct approvals *approvals_of(struct cmd_context *ctx)
{
    if (ctx->approvals)
        return ctx->approvals;
    struct approvals *all = ctx->approvals = xcalloc(1, sizeof *all);
    uint32_t seed[2] = {(uint32_t)clock_mono_ns(), (uint32_t)clock_real_ms()};
    list_init(&all->parked);
    if (getrandom(seed, sizeof seed, GRND_NONBLOCK) < (ssize_t)sizeof seed)
        log_debug("ids of approvals begin with the clock");
    all->next = seed[0] % IDS;
    all->step = seed[1] | 1;
    return all;
}

/* No id comes back in the life of a worker, so that a yes can't meet another command than the one
 * that was shown. */
static void name_it(struct approvals *all, char id[APPROVAL_ID_CHARS + 1])
{
    static const char digits[] = "abcdefghijkmnpqrstuvwxyz23456789";
    uint32_t value = all->next = (all->next + all->step) % IDS;
    for (int i = 0; i < APPROVAL_ID_CHARS; i++, value /= 32)
        id[i] = digits[value % 32];
    id[APPROVAL_ID_CHARS] = '\0';
}

static void approval_free(struct approval *approval)
{
    loop_timer_stop(&approval->timer);
    list_remove(&approval->link);
    strv_free(approval->argv);
    strv_free(approval->env);
    strv_free(approval->canonical);
    strv_free(approval->prefix);
    json_free(approval->record);
    char *const texts[] = {approval->cwd,    approval->shown,       approval->reason,
                           approval->policy, approval->permissions, approval->client,
                           approval->added,  approval->scope,       approval->sandbox};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    free(approval);
}

/* Takes it off the list and gives its request back to whom it ends. */
static struct request *approval_settle(struct approval *approval, const char *state,
                                       const char *by)
{
    struct request *request = approval->request;
    struct approvals *all = approvals_of(approval->ctx);
    BUG_UNLESS(all->count > 0);
    all->count--;
    list_remove(&approval->link);
    loop_timer_stop(&approval->timer);
    if (request)
        request_on_cancel(request, NULL, NULL);
    approvals_notify(approval, state);
    approval->request = NULL;
    approvals_tell(approval, state, by);
    return request;
}

static void approvals_on_cancel(void *arg)
{
    struct approval *approval = arg;
    struct err unused;
    approval->request = NULL;
    recorded_answer(approval, "withdrawn", "its client has gone, or has cancelled the call",
                    &unused);
    approval_settle(approval, "gone", NULL);
    approval_free(approval);
}

static void approval_fail(struct approval *approval, const char *state, enum err_code code,
                          const char *text)
{
    struct err err;
    /* it does not run, on record or not */
    recorded_answer(approval, code == ERR_DENIED ? "denied" : "withdrawn", text, &err);
    struct request *request = approval_settle(approval, state, NULL);
    err_set(&err, code, "%s", text);
    failure_reply_command(request, approval->tool, approval->shown, &err);
    approval_free(approval);
}

static void approvals_on_timeout(void *arg)
{
    struct approval *approval = arg;
    char *text = xasprintf("nobody has approved it within %" PRId64 " s ([policy%s%s] ask_timeout)",
                           approval->timeout_ms / 1000, *approval->policy ? " " : "",
                           approval->policy);
    approval_fail(approval, "timeout", ERR_DENIED, text);
    free(text);
}

/* What "for this session" means: the session of ours that the call comes from, else the process
 * session (setsid(2)) of the client, else the client's process. */
static char *scope_of(struct cmd_context *ctx, struct request *request)
{
    pid_t pid = peer_pid(request_peer(request));
    struct session *own = registry_of_process(ctx->registry, pid);
    struct proc_stat stat, leader;
    if (own)
        return xasprintf("session %" PRIu64, session_number(own));
    if (!proc_stat(pid, &stat))
        return xasprintf("peer %" PRIu64, peer_id(request_peer(request)));
    if (!meta_bool(request, "verb") || !proc_stat(stat.session, &leader))
        leader = stat;
    return xasprintf("process %d %" PRIu64, (int)leader.pid, leader.start_ticks);
}

static char *added_variables(struct request *request)
{
    struct strv words = {0};
    const struct json *extra = json_get(request_params(request), "env");
    for (const struct json *it = json_first(extra); it; it = json_next(it))
        strv_addf(&words, "%s=%s", json_key(it), json_str(it, NULL));
    char *shown = words.count ? strv_quoted(words.items) : NULL;
    strv_fini(&words);
    return shown;
}

static int check_question(struct cmd_context *ctx, const struct approval_question *question,
                          const char *added, struct err *err)
{
    size_t size = strlen(question->shown) + strlen(question->reason) + (added ? strlen(added) : 0);
    if (approvals_of(ctx)->count >= (unsigned)ctx->config->limits.approvals)
        return err_set(err, ERR_LIMIT,
                       "too many commands wait for an approval; answer some of them (ue approvals "
                       "lists them) or raise [limits] approvals");
    if (size > READABLE)
        return err_set(err, ERR_LIMIT,
                       "to approve it a person would have to read %zu bytes, more than the %d "
                       "that are shown; put the command into a file and run that",
                       size, READABLE);
    return 0;
}

int approvals_ask(struct cmd_context *ctx, struct request *request,
                  const struct approval_question *question, struct err *err)
{
    struct approvals *all = approvals_of(ctx);
    struct session *own = registry_of_process(ctx->registry, peer_pid(request_peer(request)));
    const char *client = meta_str(request, "client");
    char *added = added_variables(request);
    if (check_question(ctx, question, added, err) < 0) {
        strv_free(question->canonical);
        strv_free(question->prefix);
        free(added);
        return err->code;
    }
    struct approval *approval = xcalloc(1, sizeof *approval);
    *approval = (struct approval){.ctx = ctx,
                                  .request = request,
                                  .tool = question->tool,
                                  .again = question->again,
                                  .argv = strv_dup((const char *const *)question->argv),
                                  .env = strv_dup((const char *const *)question->env),
                                  .canonical = question->canonical,
                                  .prefix = question->prefix,
                                  .cwd = xstrdup(question->cwd),
                                  .shown = xstrdup(question->shown),
                                  .reason = xstrdup(question->reason),
                                  .policy = xstrdup(question->policy),
                                  .permissions = xstrdup(question->permissions),
                                  .sandbox = xstrdup(question->sandbox),
                                  .client = client ? xstrdup(client) : NULL,
                                  .added = added,
                                  .tty = question->tty,
                                  .record = json_copy(question->record),
                                  .elicits = question->elicits,
                                  .scope = scope_of(ctx, request),
                                  .from_session = own ? session_number(own) : 0,
                                  .uid = peer_uid(request_peer(request)),
                                  .pid = peer_pid(request_peer(request)),
                                  .asked_ms = clock_real_ms(),
                                  .timeout_ms = question->timeout_ms};
    loop_timer_init(&approval->timer, ctx->loop, approvals_on_timeout, approval);
    name_it(all, approval->id);
    list_init(&approval->link);
    if (recorded_question(approval, err) < 0) {
        approval_free(approval);
        return err->code;
    }
    list_append(&all->parked, &approval->link);
    all->count++;
    return 0;
}

void approvals_park(struct cmd_context *ctx, struct request *request)
{
    struct approvals *all = approvals_of(ctx);
    struct approval *approval = LIST_OWNER(all->parked.prev, struct approval, link);
    BUG_UNLESS(!list_is_empty(&all->parked) && approval->request == request);
    request_on_cancel(request, approvals_on_cancel, approval);
    loop_timer_set_ms(&approval->timer, approval->timeout_ms);
    approvals_tell(approval, "asked", NULL);
    approvals_notify(approval, "asked");
}

bool approvals_is_elicited(const struct approval *approval, const struct request *request)
{
    return approval->elicits && approval->request &&
           request_peer(approval->request) == request_peer(request);
}

/* Everything that runs, to the byte. */
static char *exact_key(char *const *argv, const struct approval_key *key)
{
    char *words = strv_quoted(argv), *env = strv_quoted(key->env),
         *text = xasprintf("%s\n%s\n%s\n%d\n%s\n%s", words, env, key->cwd, key->tty,
                           key->permissions, key->sandbox);
    free(words);
    free(env);
    return text;
}

static char *session_key(const char *scope, const struct approval_key *key)
{
    char *exact = exact_key(key->canonical, key), *text = xasprintf("%s\n%s", scope, exact);
    free(exact);
    return text;
}

bool approvals_has_yes(struct cmd_context *ctx, struct request *request, char *const *argv,
                       const struct approval_key *key)
{
    struct approvals *all = approvals_of(ctx);
    if (approvals_granted(ctx, request)) {
        char *exact = exact_key(argv, key);
        bool same = strcmp(exact, all->grant.key) == 0;
        free(exact);
        return same; /* else it has changed since it was shown, and asks again */
    }
    if (!all->yes)
        return false;
    char *scope = scope_of(ctx, request), *text = session_key(scope, key);
    bool found = yes_has(all->yes, text);
    free(scope);
    free(text);
    return found;
}

const struct approval *approvals_granted(const struct cmd_context *ctx,
                                         const struct request *request)
{
    const struct approvals *all = ctx->approvals;
    return all && all->granted == request ? all->grant.approval : NULL;
}

const struct approval *approvals_take(struct cmd_context *ctx, const struct request *request)
{
    if (!approvals_granted(ctx, request))
        return NULL;
    ctx->approvals->grant.approval->taken = true;
    return ctx->approvals->grant.approval;
}

struct approval *approvals_find(struct cmd_context *ctx, const char *id)
{
    struct list *head = &approvals_of(ctx)->parked;
    for (struct list *at = head->next; at != head; at = at->next)
        if (strcmp(LIST_OWNER(at, struct approval, link)->id, id) == 0)
            return LIST_OWNER(at, struct approval, link);
    return NULL;
}

void approvals_each(struct cmd_context *ctx, void (*fn)(void *arg, const struct approval *approval),
                    void *arg)
{
    struct list *head = &approvals_of(ctx)->parked;
    for (struct list *at = head->next; at != head; at = at->next)
        fn(arg, LIST_OWNER(at, struct approval, link));
}

static void grant_end(struct approval_grant *grant, const char *failed)
{
    struct err unused;
    if (!grant->approval->taken)
        recorded_answer(grant->approval, "failed", failed, &unused);
    approval_free(grant->approval);
    free(grant->key);
    *grant = (struct approval_grant){.approval = NULL};
}

void approvals_go_on(struct cmd_context *ctx, struct request *request,
                     struct approval_grant *grant)
{
    struct approvals *all = approvals_of(ctx);
    BUG_UNLESS(!all->granted && !all->grant.approval);
    all->granted = request;
    all->grant = *grant;
    grant->approval->again(ctx, request);
    all->granted = NULL;
    if (all->grant.approval) /* else it was put off */
        grant_end(&all->grant, "it did not begin, and its caller was told why");
    *grant = (struct approval_grant){.approval = NULL};
}

void approvals_hold(struct cmd_context *ctx, const struct request *request,
                    struct approval_grant *grant)
{
    *grant = (struct approval_grant){.approval = NULL};
    if (!approvals_granted(ctx, request))
        return;
    *grant = ctx->approvals->grant;
    ctx->approvals->grant = (struct approval_grant){.approval = NULL};
}

void approvals_drop(struct approval_grant *grant)
{
    grant_end(grant, "its client has gone");
}

void approvals_grant(struct approval *approval, enum approval_span span)
{
    struct cmd_context *ctx = approval->ctx;
    struct approvals *all = approvals_of(ctx);
    const struct approval_key key = {approval->canonical, approval->env, approval->cwd,
                                     approval->tty, approval->permissions, approval->sandbox};
    if (span == APPROVAL_SESSION) {
        char *text = session_key(approval->scope, &key);
        yes_add(&all->yes, text);
        free(text);
    }
    struct request *request = approval_settle(approval, "approved",
                                              span == APPROVAL_SESSION ? "session" : "once");
    /* the call begins now: the wait for a person is not its own, also not that before a crash */
    struct json *meta = json_detach(request_params(request), "_meta");
    if (meta) {
        json_free(json_detach(meta, "waited_ms"));
        json_add(request_params(request), "_meta", meta);
    }
    struct approval_grant grant = {approval, exact_key(approval->argv, &key)};
    approvals_go_on(ctx, request, &grant);
}

void approvals_deny(struct approval *approval, const char *because)
{
    char *text = because ? xasprintf("rejected by user: %s", because) : xstrdup("rejected by user");
    approval_fail(approval, "denied", ERR_DENIED, text);
    free(text);
}

void approvals_stop(struct cmd_context *ctx)
{
    struct approvals *all = approvals_of(ctx);
    while (!list_is_empty(&all->parked))
        approval_fail(LIST_OWNER(all->parked.next, struct approval, link), "gone", ERR_STOPPING,
                      "the daemon is being stopped; nothing was started");
}

void approvals_free(struct cmd_context *ctx)
{
    struct approvals *all = ctx->approvals;
    if (!all)
        return;
    BUG_UNLESS(list_is_empty(&all->parked));
    yes_free(all->yes);
    free(all);
    ctx->approvals = NULL;
}
