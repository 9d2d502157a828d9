/* admin: the verbs about the daemon itself: start, reload, upgrade, --version. */
#include "base/clock.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include "client/verbs/run.h"
#include "client/print/say.h"
#include "wire/msg.h"
#include <inttypes.h>

static void append_late(struct buf *out, const struct json *keys, const char *when)
{
    for (const struct json *it = json_first(keys); it; it = json_next(it))
        buf_printf(out, "%s %s\n", json_str(it, NULL), when);
}

static void print_reloaded(struct ue *ue, const struct json *params, const struct json *result)
{
    (void)params;
    struct buf out = BUF_INIT;
    const char *path = json_get_str(result, "path", NULL);
    (void)ue;
    if (path)
        buf_printf(&out, "config read from %s\n", path);
    else
        buf_append_text(&out, "no config file: the defaults are in effect\n");
    append_late(&out, json_get(result, "new_sessions"),
                "holds for sessions that start from now on");
    append_late(&out, json_get(result, "after_restart"),
                "holds when the daemon has been stopped and started again (ue stop)");
    say_text(out.data, out.len);
    buf_fini(&out);
}

int verb_RELOAD(struct ue *ue)
{
    return run_verb(ue, &(struct run){.call = CALL_AGAIN, .print = print_reloaded});
}

static void append_hello(struct buf *out, const struct ue *ue, const struct json *hello)
{
    int64_t pid = 0;
    const char *version = json_get_str(hello, "version", NULL);
    json_get_int(hello, "pid", &pid);
    buf_printf(out, "muxd %s listens on %s (pid %" PRId64 ")\n", version ? version : "?",
               ue->conn.path, pid);
}

static void print_hello(struct ue *ue, const struct json *params, const struct json *result)
{
    (void)params;
    struct buf out = BUF_INIT;
    append_hello(&out, ue, result);
    say_text(out.data, out.len);
    buf_fini(&out);
}

static int say_hello(struct ue *ue)
{
    return run_verb(ue, &(struct run){.tool = "hello", .call = CALL_AGAIN, .print = print_hello});
}

int verb_START(struct ue *ue)
{
    return say_hello(ue);
}

static void append_protocol(struct buf *out, const struct json *hello)
{
    int64_t theirs = MSG_PROTOCOL;
    json_get_int(hello, "protocol", &theirs);
    buf_printf(out, "protocol %d\n", MSG_PROTOCOL);
    if (theirs != MSG_PROTOCOL)
        buf_printf(out, "muxd speaks protocol %" PRId64 ": `ue upgrade` brings it up to date\n",
                   theirs);
}

int admin_version(struct ue *ue)
{
    struct msg_answer answer = {0};
    struct err err = {0};
    struct buf out = BUF_INIT;
    ue->conn.may_start = false;
    int result = call_run(&ue->conn, "hello", NULL, CALL_ONCE, &answer, &err);
    buf_append_text(&out, "ue " MUXD_VERSION "\n");
    if (result == 0)
        append_hello(&out, ue, answer.result);
    else if (err.code == ERR_NO_DAEMON)
        buf_printf(&out, "muxd does not run (%s)\n", ue->conn.path);
    else
        buf_printf(&out, "muxd: %s\n", err.text);
    append_protocol(&out, answer.result);
    say_text(out.data, out.len);
    buf_fini(&out);
    msg_answer_fini(&answer);
    return 0;
}

/* After a failed upgrade the daemon that answers is the old program, and its status says why. */
static int look_for_failure(struct ue *ue, struct err *err)
{
    struct msg_answer answer = {0};
    int result = call_run(&ue->conn, "status", NULL, CALL_AGAIN, &answer, err);
    const char *why = result == 0 ? json_get_str(answer.result, "upgrade_failed", NULL) : NULL;
    if (why)
        result = err_set(err, ERR_SYSTEM, "%s", why);
    msg_answer_fini(&answer);
    return result;
}

/* When all goes well the worker exits without an answer; the hello of its successor is printed. The
 * request has no arguments at all, so that no release refuses them. */
int verb_UPGRADE(struct ue *ue)
{
    struct msg_answer answer;
    struct err err = {0};
    int status = 0;
    ue->conn.may_start = false; /* one that would start now needs no upgrade */
    int result = connection_open(&ue->conn, &err);
    if (result == ERR_NO_DAEMON)
        err_set(&err, ERR_NO_DAEMON,
                "'%s': no daemon runs that could be upgraded; `ue start` starts the new muxd",
                ue->conn.path);
    if (result == 0) {
        result = call_run(&ue->conn, "upgrade", NULL, CALL_WAITS | CALL_ONCE, &answer, &err);
        bool left = result == ERR_NO_DAEMON && ue->conn.fd < 0;
        msg_answer_fini(&answer);
        if (left)
            result = connection_reopen(&ue->conn, clock_mono_ms() + CONNECTION_RESTART_MS, &err);
        if (left && result == 0)
            result = look_for_failure(ue, &err);
    }
    if (result == 0)
        status = say_hello(ue);
    else
        status = ue_fail(ue, &err);
    return status;
}
