/* kill: `ue kill`: ends or signals sessions, and prints how each one ended. */
#include "client/rpc/call.h"
#include "client/verbs/run.h"
#include "client/print/say.h"
#include <inttypes.h>

void run_append_session(struct buf *out, const struct json *session)
{
    int64_t number = 0;
    const char *name = json_get_str(session, "name", NULL);
    json_get_int(session, "session_id", &number);
    if (name)
        buf_printf(out, "%s (%" PRId64 ")", name, number);
    else
        buf_printf(out, "%" PRId64, number);
}

void run_append_survivors(struct buf *out, const struct json *result)
{
    int64_t pid = 0, count = 0;
    const struct json *processes = json_get(result, "survivor_processes");
    if (!json_get_int(result, "survivors", &count) || count == 0)
        return;
    buf_printf(out, ", %" PRId64 " process%s could not be ended:", count, count == 1 ? "" : "es");
    for (const struct json *it = json_first(processes); it; it = json_next(it), count--) {
        const char *command = json_get_str(it, "command", NULL);
        json_get_int(it, "pid", &pid);
        buf_printf(out, " %" PRId64 " (%s)", pid, command ? command : "?");
    }
    if (count > 0)
        buf_printf(out, " and %" PRId64 " more", count);
}

static void append_one(struct buf *out, const struct json *one, const char *signal)
{
    int64_t code = 0;
    const char *state = json_get_str(one, "state", NULL);
    const char *ended_by = json_get_str(one, "ended_by", NULL);
    run_append_session(out, one);
    buf_append_text(out, ": ");
    if (signal && !ended_by && !json_get_int(one, "exit_code", &code))
        buf_printf(out, "signal %s sent", signal);
    else if (ended_by)
        buf_printf(out, "ended by %s", ended_by);
    else
        buf_append_text(out, state ? state : "ended");
    if (json_get_int(one, "exit_code", &code))
        buf_printf(out, ", exit status %" PRId64, code);
    run_append_survivors(out, one);
    buf_append_byte(out, '\n');
}

static void kill_print(struct ue *ue, const struct json *params, const struct json *result)
{
    struct buf out = BUF_INIT;
    const char *signal = json_get_str(params, "signal", NULL);
    (void)ue;
    for (const struct json *it = json_first(json_get(result, "sessions")); it; it = json_next(it))
        append_one(&out, it, signal);
    say_buf(&out);
}

int run_survivors_status(struct ue *ue, const struct json *result)
{
    int64_t survivors = 0;
    (void)ue;
    for (const struct json *it = json_first(json_get(result, "sessions")); it; it = json_next(it))
        if (json_get_int(it, "survivors", &survivors) && survivors > 0)
            return UE_FAILED;
    return 0;
}

static int kill_fail(struct ue *ue, const struct json *params, const struct err *err)
{
    (void)params;
    if (err->code != ERR_CANCELLED)
        return ue_fail(ue, err);
    say_note(
        "interrupted; the daemon goes on ending the sessions, `ue list` shows which are left");
    return UE_INTERRUPTED;
}

/* A signal may mean something else when it is sent twice. */
int verb_KILL(struct ue *ue)
{
    unsigned again = args_has(&ue->args, "signal") || args_has(&ue->args, "args") ? CALL_ONCE
                                                                                  : CALL_AGAIN;
    ue->conn.shows_person = again == CALL_ONCE; /* who has the keyboard may send signals */
    return run_verb(ue, &(struct run){.call = CALL_WAITS | again,
                                      .print = kill_print,
                                      .status = run_survivors_status,
                                      .fail = kill_fail});
}
