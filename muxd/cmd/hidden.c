/* hidden: owns the requests that wait until what their sandbox hides is found. */
#include "cmd/hidden.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/approvals.h"
#include "cmd/gate_policy.h"
#include "cmd/meta.h"
#include "wire/schema.h"
#include <stdlib.h>
#include <string.h>

/* For as long as the request is handled. */
struct hidden_ahead {
    const struct request *request;
    const struct strv *wanted;
    const struct strv *found; /* NULL: it was not found, and is looked for when it is needed */
};

struct hidden_search {
    struct cmd_context *ctx;
    struct request *request; /* NULL: cancelled */
    void (*again)(struct cmd_context *ctx, struct request *request);
    struct approval_grant grant; /* the yes by which it is handled */
    /* the thread's, until it is done */
    struct strv wanted, found;
    int code;
};

static void search_free(struct hidden_search *search)
{
    strv_fini(&search->wanted);
    strv_fini(&search->found);
    free(search);
}

static void hidden_work(void *arg)
{
    struct hidden_search *search = arg;
    struct err unused; /* whoever makes the plan looks a little itself, and tells */
    search->code = confine_find((const char *const *)search->wanted.items, &search->found, &unused);
}

static void hidden_done(void *arg)
{
    struct hidden_search *search = arg;
    struct cmd_context *ctx = search->ctx;
    const struct hidden_ahead ahead = {.request = search->request,
                                       .wanted = &search->wanted,
                                       .found = search->code ? NULL : &search->found};
    if (search->request) {
        request_on_cancel(search->request, NULL, NULL);
        ctx->hidden = &ahead;
        if (search->grant.approval)
            approvals_go_on(ctx, search->request, &search->grant);
        else
            search->again(ctx, search->request);
        ctx->hidden = NULL;
    }
    search_free(search);
}

static void hidden_on_cancel(void *arg)
{
    struct hidden_search *search = arg;
    search->request = NULL;
    if (search->grant.approval)
        approvals_drop(&search->grant);
}

/* What has to be looked for; empty: nothing, or its handler will tell what is wrong. */
static void hidden_wanted(struct cmd_context *ctx, struct request *request,
                          const struct tool *tool, struct strv *wanted)
{
    struct sandboxing sandboxing = {.confined = false};
    struct err err;
    const char *name;
    const struct config_policy *policy = gate_policy(ctx, request, &name, &err);
    char *cwd = err.code ? NULL
                         : meta_cwd(request, schema_str(tool, request_params(request), "workdir",
                                                        NULL),
                                    &err);
    if (cwd && sandboxing_decide(&sandboxing, policy, request, tool, cwd, &err) == 0 &&
        sandboxing.confined)
        strv_add_all(wanted, sandboxing.wish.unreadable);
    sandboxing_fini(&sandboxing);
    free(cwd);
}

bool hidden_search(struct cmd_context *ctx, struct request *request, const char *const *unreadable,
                   void (*again)(struct cmd_context *ctx, struct request *request))
{
    if ((ctx->hidden && ctx->hidden->request == request) || !confine_has_pattern(unreadable))
        return false;
    struct hidden_search *search = xcalloc(1, sizeof *search);
    *search = (struct hidden_search){.ctx = ctx, .request = request, .again = again};
    strv_add_all(&search->wanted, unreadable);
    if (loop_offload(ctx->loop, hidden_work, hidden_done, search) != 0) {
        log_warn("no thread looks for what is hidden: it is looked for in between");
        search_free(search);
        return false;
    }
    approvals_hold(ctx, request, &search->grant);
    request_on_cancel(request, hidden_on_cancel, search);
    return true;
}

bool hidden_waits(struct cmd_context *ctx, struct request *request, const struct tool *tool,
                  void (*again)(struct cmd_context *ctx, struct request *request))
{
    struct strv wanted = {0};
    if (ctx->hidden && ctx->hidden->request == request)
        return false;
    hidden_wanted(ctx, request, tool, &wanted);
    bool waits = hidden_search(ctx, request, (const char *const *)wanted.items, again);
    strv_fini(&wanted);
    return waits;
}

void hidden_give(const struct cmd_context *ctx, const struct request *request,
                 struct sandboxing *sandboxing)
{
    const struct hidden_ahead *ahead = ctx->hidden;
    const char *const *names = sandboxing->wish.unreadable;
    if (!ahead || ahead->request != request || !ahead->found || !names)
        return;
    for (size_t i = 0; i <= ahead->wanted->count; i++)
        if (!names[i] || !ahead->wanted->items[i]
                ? names[i] != ahead->wanted->items[i]
                : strcmp(names[i], ahead->wanted->items[i]) != 0)
            return; /* it hides something else */
    strv_fini(&sandboxing->found);
    strv_add(&sandboxing->found, "/proc/none"); /* never NULL, and never there */
    strv_add_all(&sandboxing->found, (const char *const *)ahead->found->items);
    sandboxing->wish.found = (const char *const *)sandboxing->found.items;
}
