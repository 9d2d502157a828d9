/* doctor: `ue doctor`: asks the daemon, or, where none runs, muxd itself, and adds what only the
 * caller's side can see. It never starts a daemon. */
#include "client/print/checks.h"
#include "client/print/render.h"
#include "client/print/say.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include "client/rpc/ue.h"
#include "client/verbs/doctor_here.h"
#include "wire/doctor.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define STATUS_BAD 1

static void add_running(struct json *rows, const struct ue *ue, const struct json *told)
{
    const char *version = json_get_str(told, "version", NULL);
    int64_t pid = 0;
    struct doctor_say say = DOCTOR_FINE;
    json_get_int(told, "pid", &pid);
    if (!version || strcmp(version, MUXD_VERSION) != 0)
        say = (struct doctor_say){DOCTOR_ADVICE,
                                  "the one that runs is not the one that is installed",
                                  "ue upgrade, which keeps all sessions"};
    doctor_add(rows, DOCTOR_DAEMON, say,
               "muxd %s listens on %s (pid %" PRId64 "); ue is " MUXD_VERSION,
               version ? version : "?", ue->conn.path, pid);
}

/* No daemon has answered. */
static void add_silent(struct json *rows, const struct ue *ue, const struct err *err)
{
    bool none = err->code == ERR_NO_DAEMON &&
                (ue->conn.why == ENOENT || ue->conn.why == ECONNREFUSED);
    if (none)
        doctor_add(rows, DOCTOR_DAEMON, DOCTOR_FINE,
                   "none runs at %s: the first call starts it; ue is " MUXD_VERSION, ue->conn.path);
    else if (err->code == ERR_NO_SUCH_METHOD)
        doctor_add(rows, DOCTOR_DAEMON,
                   (struct doctor_say){DOCTOR_ADVICE, "the rows below are those of a new one",
                                       "ue upgrade, which keeps all sessions"},
                   "the muxd that runs is older than ue " MUXD_VERSION);
    else
        doctor_add(rows, DOCTOR_DAEMON,
                   (struct doctor_say){DOCTOR_BAD, "no verb of ue works here",
                                       "what the text says; ue status tries again"},
                   "%s", err->text);
}

/* What muxd finds here without a daemon; NULL: it does not run, which is a row. */
static struct json *ask_program(struct ue *ue, struct json *rows)
{
    struct buf text = BUF_INIT;
    struct err err = {0};
    struct json *told = NULL;
    if (launch_ask(&ue->conn, "--doctor", &text, &err) == 0)
        told = json_parse(text.data ? text.data : "", text.len, &err);
    if (!told)
        doctor_add(rows, DOCTOR_DAEMON,
                   (struct doctor_say){DOCTOR_BAD, "no daemon can be started",
                                       "make install, or put muxd beside ue"},
                   "%s", err.text);
    buf_fini(&text);
    return told;
}

static void doctor_show(const struct ue *ue, const struct json *told)
{
    const struct json *rows = json_get(told, "rows");
    struct buf out = BUF_INIT;
    bool people = say_is_tty(STDOUT_FILENO);
    if (args_has(&ue->args, "json")) {
        say_json(told);
        return;
    }
    if (people)
        checks_people(&out, rows, render_width_of(STDOUT_FILENO), render_wants_colors());
    else
        checks_tabs(&out, rows);
    say_buf(&out);
}

int verb_DOCTOR(struct ue *ue)
{
    struct msg_answer answer = {0};
    struct err err = {0};
    struct json *params = json_object_new(), *rows = json_array_new(), *all = json_object_new(),
                *program = NULL;
    params_meta(ue, params, META_VERB);
    ue->conn.may_start = false;
    ue->conn.shows_person = true;
    int code = call_run(&ue->conn, "doctor", params, CALL_AGAIN, &answer, &err);
    if (code == 0) {
        add_running(rows, ue, answer.result);
    } else {
        add_silent(rows, ue, &err);
        program = ask_program(ue, rows);
    }
    doctor_here(rows, code == 0);
    struct json *sorted = doctor_sorted(rows,
                                        json_get(code == 0 ? answer.result : program, "rows"));
    bool bad = doctor_count(sorted, DOCTOR_BAD) > 0;
    json_add_text(all, "version", MUXD_VERSION);
    json_add_bool(all, "running", code == 0);
    json_add(all, "rows", sorted);
    doctor_show(ue, all);
    json_free(params);
    json_free(rows);
    json_free(all);
    json_free(program);
    msg_answer_fini(&answer);
    return bad ? STATUS_BAD : 0;
}
