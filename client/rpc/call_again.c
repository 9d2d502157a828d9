/* call_again: owns what becomes of a request whose connection is lost: whether it may be sent
 * again, and what it says then. */
#include "base/bug.h"
#include "base/clock.h"
#include "client/rpc/call.h"

bool call_may_repeat(const struct tool *tool, const struct json *params)
{
    BUG_UNLESS(tool >= tools && tool < tools + TOOL_COUNT_);
    switch ((enum tool_id)(tool - tools)) {
    case TOOL_EXEC_COMMAND: /* the daemon knows by their request_id what it has done already */
    case TOOL_WRITE_STDIN:
    case TOOL_RUN_COMMAND:
    case TOOL_SHELL_COMMAND:
    case TOOL_SHELL:
    case TOOL_RESIZE_SESSION:
    case TOOL_READ_INPUT:
    case TOOL_EVENTS:
    case TOOL_HELLO:
    case TOOL_TOOLS: return true;
    case TOOL_KILL_SESSION:
        return !json_get(params, "signal"); /* a signal may count */
    /* run_steps types nothing twice, but what its waits look for may have come meanwhile */
    default: return tool->hints & (TOOL_READ_ONLY | TOOL_IDEMPOTENT);
    }
}

void call_again(struct buf *line, int64_t begun_ms)
{
    struct err err;
    int64_t id = 0;
    struct json *request = json_parse(line->data, line->len, &err),
                *params = json_detach(request, "params"), *meta = json_detach(params, "_meta");
    BUG_UNLESS(json_get_int(request, "id", &id));
    if (json_type(params) == JSON_OBJECT) {
        meta = json_add(params, "_meta", meta ? meta : json_object_new());
        json_free(json_detach(meta, "waited_ms"));
        json_add_int(meta, "waited_ms", clock_mono_ms() - begun_ms);
        buf_clear(line);
        msg_request(line, id, json_get_str(request, "method", NULL), params);
    }
    json_free(params);
    json_free(request);
}
