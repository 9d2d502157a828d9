/* talk: owns what an answer about a session means for ue: its exit status, and how it is
 * printed. */
#include "client/rpc/talk.h"
#include "base/bug.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const formats[] = {"model", "json", "raw", "text"};

static int talk_format_of(const char *word)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(word, formats[i]) == 0)
            return (int)i;
    return -1;
}

/* The value of $UE_FORMAT for a verb that can print in all formats; else NULL. */
static const char *wanted_format(const struct ue *ue)
{
    const char *word = getenv("UE_FORMAT");
    const struct verb *verb = ue->args.verb;
    bool counts = verb == &verbs[VERB_EXEC] || verb == &verbs[VERB_WRITE] ||
                  verb == &verbs[VERB_POLL];
    return counts && word && *word ? word : NULL;
}

int talk_check_format(const struct ue *ue, struct err *err)
{
    const char *word = wanted_format(ue);
    if (!word || talk_format_of(word) >= 0)
        return 0;
    return err_set(err, ERR_USAGE, "'UE_FORMAT=%.40s': is no format; set it to raw, text, json or "
                   "model, or unset it", word);
}

enum talk_format talk_format(const struct ue *ue)
{
    const char *word = wanted_format(ue);
    for (int i = TALK_JSON; i <= TALK_TEXT; i++)
        if (args_next(&ue->args, formats[i], NULL))
            return (enum talk_format)i;
    int format = word ? talk_format_of(word) : -1;
    if (format == TALK_RAW && args_next(&ue->args, "to", NULL)) /* refuses --raw, too */
        format = TALK_MODEL;
    return format < 0 ? TALK_MODEL : (enum talk_format)format;
}

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
    if (talk_is_word(result, "reason", "fail_on")) {
        ue_tell_status(ue, "fail_on %" PRId64, talk_number_of(result));
        return UE_FAIL_ON;
    }
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
    enum talk_format format = talk_format(ue);
    if (format == TALK_TEXT)
        content = json_get_str(result, "output", &len);
    if (content && format != TALK_JSON)
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
    if (talk_format(ue) == TALK_TEXT)
        params_set(params, "text", json_bool_new(true));
    if (talk_format(ue) == TALK_RAW)
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

#define GOES_ON "`ue poll --exit %s` waits for its end, `ue kill %s` ends it"

/* name: of the session; NULL: the daemon is asked which one runs cmd. */
static int talk_interrupted(struct ue *ue, const char *name, const struct json *cmd)
{
    struct msg_answer answer = {0};
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, ue->conn.cancelled);
    if (!name && ue->conn.cancelled == 0)
        name = name_of_command(ue, cmd, &answer);
    if (!name)
        say_note("interrupted; session %s goes on: " GOES_ON, number, number, number);
    else if (*name && ue->conn.cancelled > 0 && strcmp(name, number) != 0)
        say_note("interrupted; session '%s' (%s) goes on: " GOES_ON, name, number, number, number);
    else if (*name)
        say_note("interrupted; session '%s' goes on: " GOES_ON, name, name, name);
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
