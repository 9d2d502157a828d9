/* talk: owns what an answer about a session means for ue: its exit status, and how it is
 * printed. */
#include "client/rpc/talk.h"
#include "base/bug.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_true(const struct json *object, const char *key)
{
    bool truth = false;
    return json_get_bool(object, key, &truth) && truth;
}

static bool talk_is_word(const struct json *object, const char *key, const char *word)
{
    const char *text = json_get_str(object, key, NULL);
    return text && word && strcmp(text, word) == 0;
}

static int64_t talk_number_of(const struct json *result)
{
    int64_t number = 0;
    if (!json_get_int(result, "number", &number))
        json_get_int(result, "session_id", &number);
    return number;
}

/* Whether the call waited for something that may never come true; a program's end (`exit` alone)
 * always does. */
static bool waits_early(const struct json *wanted)
{
    return json_get(wanted, "until") || is_true(wanted, "ready") || json_get(wanted, "quiet_ms");
}

/* With --exit alone a program that still runs is late: the last of several answers (--raw) may give
 * another reason. */
static bool is_late(const struct json *wanted, const struct json *result)
{
    if (waits_early(wanted))
        return talk_is_word(result, "reason", "deadline");
    return is_true(wanted, "exit") && !talk_is_word(result, "reason", "stopping");
}

static int status_of_running(struct ue *ue, const struct json *wanted, const struct json *result)
{
    int64_t number = talk_number_of(result);
    if (is_late(wanted, result)) {
        ue_tell_status(ue, "deadline %" PRId64, number);
        return UE_NOT_TRUE;
    }
    if (talk_is_word(result, "reason", "stopping")) {
        ue_tell_status(ue, "stopping %" PRId64, number);
        return UE_NO_DAEMON;
    }
    ue_tell_status(ue, "running %" PRId64, number);
    return 0;
}

int talk_status(struct ue *ue, const struct json *wanted, const struct json *result)
{
    const char *state = json_get_str(result, "state", NULL);
    int64_t code;
    if (!state) /* the answer is not about one session, as of list_sessions */
        return 0;
    if (strcmp(state, "running") == 0)
        return status_of_running(ue, wanted, result);
    if (!json_get_int(result, "exit_code", &code)) {
        ue_tell_status(ue, "%s %" PRId64, state, talk_number_of(result));
        say_note("'%s': has ended (%s), its exit status is not known",
                 json_get_str(result, "name", NULL), state);
        return UE_FAILED;
    }
    ue_tell_status(ue, "%s %" PRId64, state, code);
    bool ended_first = waits_early(wanted) && !is_true(wanted, "exit") &&
                       talk_is_word(result, "reason", "exit");
    return ended_first ? UE_NOT_TRUE : (int)code;
}

int talk_show(struct ue *ue, const struct json *wanted, const struct json *result)
{
    size_t len;
    const char *content = json_get_str(result, "content", &len),
               *replaced = json_get_str(result, "replaced_reader", NULL);
    if (replaced)
        say_note("'%s': this reader's position is forgotten: there are as many as [limits] readers "
                 "allows",
                 replaced);
    if (content && !args_next(&ue->args, "json", NULL))
        say_text(content, len);
    else
        say_json(result);
    return talk_status(ue, wanted, result);
}

int talk_ask(struct ue *ue, const char *tool, struct json *params, struct msg_answer *answer,
             struct err *err)
{
    return call_run(&ue->conn, tool, params, CALL_WAITS, answer, err);
}

int talk(struct ue *ue, const char *tool, struct json *params, talk_ask_fn *ask)
{
    struct msg_answer answer;
    struct err err = {0};
    if (args_next(&ue->args, "raw", NULL))
        return raw_talk(ue, tool, params, ask);
    int result = ask(ue, tool, params, &answer, &err);
    int status = result < 0 ? talk_fail(ue, params, &err) : talk_show(ue, params, answer.result);
    msg_answer_fini(&answer);
    return status;
}

/* The name of the live session that runs cmd; "" when none or several do, as nothing tells these
 * apart. */
static const char *name_of_command(struct ue *ue, const struct json *cmd, struct msg_answer *answer)
{
    struct err err = {0};
    struct json *params = json_object_new();
    const char *found = "", *text = json_str(cmd, NULL);
    params_meta(ue, params, META_VERB);
    int result = text ? call_run(&ue->conn, "list_sessions", params, CALL_ONCE, answer, &err) : -1;
    const struct json *first = json_first(result < 0 ? NULL : json_get(answer->result, "sessions"));
    for (const struct json *it = first; it; it = json_next(it)) {
        if (!talk_is_word(it, "cmd", text))
            continue;
        if (*found) {
            found = "";
            break;
        }
        found = json_get_str(it, "name", NULL);
    }
    json_free(params);
    return found;
}

/* name: of the session; NULL: the daemon is asked which one runs cmd. */
static int talk_interrupted(struct ue *ue, const char *name, const struct json *cmd)
{
    struct msg_answer answer = {0};
    if (!name)
        name = name_of_command(ue, cmd, &answer);
    if (*name)
        say_note("interrupted; session '%s' goes on", name);
    else
        say_note("interrupted; the session goes on, `ue list` shows it");
    ue_tell_status(ue, "interrupted");
    msg_answer_fini(&answer);
    return UE_INTERRUPTED;
}

int talk_fail(struct ue *ue, const struct json *params, const struct err *err)
{
    int64_t number;
    char word[32];
    BUG_UNLESS(err->code < 0);
    if (err->code != ERR_CANCELLED)
        return ue_fail(ue, err);
    const char *name = json_get_str(params, "name", NULL);
    if (!name)
        name = json_get_str(params, "session_id", NULL);
    if (!name && json_get_int(params, "session_id", &number)) {
        snprintf(word, sizeof word, "%" PRId64, number);
        name = word;
    }
    return talk_interrupted(ue, name, json_get(params, "cmd"));
}
