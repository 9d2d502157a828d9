/* dispatch: owns the only gate: every refusal before a handler runs happens here. */
#include "base/bug.h"
#include "base/mem.h"
#include "cmd/offer.h"
#include "server/server.h"
#include "wire/schema.h"
#include <stdlib.h>

typedef void handler_fn(struct cmd_context *ctx, struct request *request);

static handler_fn *const handlers[TOOL_COUNT_] = {
#define TOOL(ident, ...) [TOOL_##ident] = cmd_##ident,
#define ARG(...)
#define END(ident)
#include "wire/tools.def"
#undef TOOL
#undef ARG
#undef END
};

static int dispatch_check(struct server *server, struct request *request, const struct tool **tool,
                          struct err *err)
{
    const char *method = request_method(request);
    *tool = tool_by_name(method);
    if (!*tool) {
        const char *nearest = tool_nearest(method);
        return nearest
                   ? err_set(err, ERR_NO_SUCH_METHOD,
                             "'%s': no method of that name; did you mean '%s'?", method, nearest)
                   : err_set(err, ERR_NO_SUCH_METHOD,
                             "'%s': no tool or method of that name; `ue tools` lists the tools, "
                             "muxd(7) the methods", method);
    }
    bool verb = false;
    json_get_bool(json_get(request_params(request), "_meta"), "verb", &verb);
    if (!verb && offer_of(&server->config->tools, *tool) == OFFER_NO)
        return err_set(err, ERR_NO_SUCH_METHOD, "unsupported call: %s", method);
    if (server->stopping && *tool != &tools[TOOL_STOP] && *tool != &tools[TOOL_HELLO] &&
        *tool != &tools[TOOL_STATUS] && *tool != &tools[TOOL_LIST_SESSIONS])
        return err_set(err, ERR_STOPPING,
                       "the daemon is being stopped; start it again and repeat the request");
    return schema_check(*tool, request_params(request),
                        (const char *const *)server->config->tools.ignore_fields.items, err);
}

/* A model's tool, and a call of none that there is, get the text for models, too. */
static void refuse(struct request *request, const struct tool *tool, const struct err *err)
{
    if (tool && tool->kind != TOOL_MODEL) {
        request_fail(request, err);
        return;
    }
    struct json *data = json_object_new();
    char *unknown = tool ? NULL : xasprintf("unsupported call: %s", request_method(request));
    json_add_text(data, "content", unknown ? unknown : err->text);
    free(unknown);
    request_fail_with(request, err, data);
}

void dispatch(struct server *server, struct request *request)
{
    struct err err = {0};
    const struct tool *tool = NULL;
    if (dispatch_check(server, request, &tool, &err) < 0) {
        refuse(request, tool, &err);
        return;
    }
    BUG_UNLESS(tool && server->cmd.config == server->config);
    handlers[tool - tools](&server->cmd, request);
    server->served = true;
}
