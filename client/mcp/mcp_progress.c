/* mcp_progress: owns the progress notifications of long calls. Clients that give a progressToken
 * may restart their time-out with each of them. Others get none. */
#include "base/bug.h"
#include "base/clock.h"
#include "client/mcp/mcp.h"

#define BEAT_MS 5000

void mcp_progress_begin(struct mcp_call *call, const struct json *params)
{
    const struct json *token = json_get(json_get(params, "_meta"), "progressToken");
    int64_t number;
    BUG_UNLESS(!call->token);
    call->beat_ms = INT64_MAX;
    call->progress = -1;
    if (!json_str(token, NULL) && !json_int(token, &number))
        return;
    call->token = json_copy(token);
    call->beat_ms = clock_mono_ms() + BEAT_MS;
}

void mcp_progress_end(struct mcp_call *call)
{
    json_free(call->token);
    call->token = NULL;
    call->beat_ms = INT64_MAX;
}

int64_t mcp_progress_due(const struct mcp *mcp)
{
    int64_t due = INT64_MAX;
    for (size_t i = 0; i < mcp->count; i++)
        due = mcp->calls[i]->beat_ms < due ? mcp->calls[i]->beat_ms : due;
    return due;
}

static void beat(struct mcp_out *out, struct mcp_call *call, int64_t now_ms)
{
    struct buf line = BUF_INIT, text = BUF_INIT;
    BUG_UNLESS(call->token); /* without one beat_ms is never due */
    struct json *params = json_object_new();
    int64_t seconds = (now_ms - call->begun_ms) / 1000;
    call->progress = seconds > call->progress ? seconds : call->progress + 1; /* it always grows */
    json_add(params, "progressToken", json_copy(call->token));
    json_add_int(params, "progress", call->progress);
    if (call->approval[0])
        buf_printf(&text, "a person is asked to approve this command (%s): `ue approvals` at a "
                          "terminal shows it, `ue approve -i` asks about it", call->approval);
    else
        buf_append_text(&text, "waiting; the session goes on");
    if (call->to.version >= MCP_2025_03_26)
        json_add_text(params, "message", text.data);
    buf_fini(&text);
    call->beat_ms = now_ms + BEAT_MS;
    msg_notification(&line, "notifications/progress", params);
    json_free(params);
    mcp_out_add(out, line.data, line.len);
    buf_fini(&line);
}

void mcp_progress(struct mcp *mcp)
{
    int64_t now_ms = clock_mono_ms();
    for (size_t i = 0; i < mcp->count; i++) {
        struct mcp_call *call = mcp->calls[i];
        if (call->beat_ms > now_ms)
            continue;
        beat(&mcp->out, call, now_ms);
    }
}

void mcp_progress_now(struct mcp *mcp, struct mcp_call *call)
{
    if (call->token)
        beat(&mcp->out, call, clock_mono_ms());
}
