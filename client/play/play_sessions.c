/* play_sessions: the sessions of a script: begun, chosen, kept, ended. */
#include "base/mem.h"
#include "base/value.h"
#include "client/play/playing.h"
#include "client/rpc/params.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TERM_OF_SCRIPTS "dumb" /* so that programs print text and no decoration */

static struct played *add_session(struct play *play, const char *name, int64_t number)
{
    play->sessions = xreallocarray(play->sessions, play->session_count + 1, sizeof *play->sessions);
    struct played *session = &play->sessions[play->session_count++];
    *session = (struct played){.name = xstrdup(name), .number = number};
    return session;
}

void play_sessions_fini(struct play *play)
{
    for (size_t i = 0; i < play->session_count; i++) {
        free(play->sessions[i].name);
        json_free(play->sessions[i].fail_on);
    }
    free(play->sessions);
    play->sessions = NULL;
    play->session_count = 0;
}

/* The last one of that name. */
static struct played *find_session(struct play *play, const char *name)
{
    for (size_t i = play->session_count; i-- > 0;)
        if (strcmp(play->sessions[i].name, name) == 0)
            return &play->sessions[i];
    return NULL;
}

/* One that the script has not begun: what it prints from now on is looked at. */
static struct played *find_living(struct play *play, const char *name, struct err *err)
{
    struct msg_answer answer;
    struct json *params = json_object_new();
    struct played *session = NULL;
    int64_t number = 0, head = 0;
    json_add_text(params, "session_id", name);
    if (value_int(name, 1, JSON_INTEGER_MAX, &number))
        params_set(params, "session_id", json_int_new(number));
    json_add_bool(params, "peek", true);
    json_add_int(params, "max_output_tokens", 0);
    json_add_bool(params, "ready", false);
    int code = play_call(play, "read_output", params, 0, 0, &answer, err);
    if (code == 0 && json_get_int(answer.result, "number", &number) &&
        json_get_int(answer.result, "to", &head)) {
        session = add_session(play, name, number);
        session->place = head;
    } else if (code == 0) {
        err_set(err, ERR_INTERNAL, "'%s': the daemon does not say which session it is", name);
    }
    msg_answer_fini(&answer);
    return session;
}

int play_session(struct play *play, const struct script_node *node, struct played **session,
                 struct err *err)
{
    struct buf name;
    buf_init(&name, PLAY_VALUE_MAX);
    int code = 0;
    *session = NULL;
    if (!node->has_session && play->current == SIZE_MAX)
        return err_set(err, ERR_USAGE,
                       "no session yet; `start` begins one, `use NAME` takes one that runs");
    if (!node->has_session) {
        *session = &play->sessions[play->current];
        return 0;
    }
    code = play_expand(play, &node->session, &name, err);
    const char *text = name.data ? name.data : "";
    if (code == 0)
        code = script_check_session(text, err);
    if (code == 0)
        *session = find_session(play, text);
    if (code == 0 && !*session)
        *session = find_living(play, text, err);
    buf_fini(&name);
    return *session ? 0 : err->code;
}

static void play_make_current(struct play *play, const struct played *session)
{
    play->current = (size_t)(session - play->sessions);
    play_set(play, "session", session->name, strlen(session->name));
}

static int play_sessions_add_options(struct play *play, const struct script_node *node,
                                     struct json *params, struct err *err)
{
    struct json *env = json_object_new();
    int code = 0, rows, cols;
    json_add_text(env, "TERM", TERM_OF_SCRIPTS);
    for (size_t i = 0; code == 0 && i < node->option_count; i++) {
        const struct script_given *given = &node->options[i];
        struct buf value;
        buf_init(&value, PLAY_VALUE_MAX);
        code = play_expand(play, &given->value, &value, err);
        const char *text = value.data ? value.data : "", *equals = strchr(text, '=');
        if (code == 0)
            code = script_check_option(given->name, text, err);
        if (code == 0 && strcmp(given->name, "size") == 0 && value_size(text, &rows, &cols)) {
            params_set(params, "rows", json_int_new(rows));
            params_set(params, "cols", json_int_new(cols));
        } else if (code == 0 && strcmp(given->name, "dir") == 0) {
            params_set(params, "workdir", json_string_new(text, value.len));
        } else if (code == 0 && equals) {
            char *name = xstrndup(text, (size_t)(equals - text));
            params_set(env, name, json_string_new(equals + 1, strlen(equals + 1)));
            free(name);
        }
        buf_fini(&value);
    }
    json_add(params, "env", env);
    return code;
}

static struct json *start_params(const struct play_step *step, const char *name)
{
    struct json *params = json_object_new(), *argv = json_add_array(params, "cmd");
    for (size_t i = 1; i < step->count; i++)
        json_add_str(argv, NULL, play_text(step, i), step->values[i].len);
    json_add_text(params, "name", name);
    json_add_bool(params, "tty", true);
    json_add_int(params, "max_output_tokens", 0);
    json_add_bool(params, "ready", false);
    return params;
}

static int play_sessions_start(struct play *play, const struct play_step *step, const char *name,
                               int64_t *number, struct err *err)
{
    struct msg_answer answer = {0};
    struct json *params = start_params(step, name);
    int code = play_sessions_add_options(play, step->node, params, err);
    if (code == 0)
        code = play_call(play, "exec_command", params, 0, META_PLACE | META_ID, &answer, err);
    else
        json_free(params);
    if (code == 0 && !json_get_int(answer.result, "number", number))
        code = err_set(err, ERR_INTERNAL, "'%s': the daemon does not say its number", name);
    msg_answer_fini(&answer);
    return code;
}

enum play_flow play_START(struct play *play, const struct play_step *step)
{
    struct err err = {0};
    int64_t number = 0;
    const char *name = play_text(step, 0);
    play->ue->conn.cancelled = 0;
    int code = play_sessions_start(play, step, name, &number, &err);
    for (int round = 0; code == ERR_NAME_TAKEN && round < 2; round++) {
        /* the script runs twice, or begins several of that name */
        char *other = round == 0
                          ? xasprintf("%.30s-%d", name, (int)getpid())
                          : xasprintf("%.30s-%d-%zu", name, (int)getpid(), play->session_count);
        code = play_sessions_start(play, step, other, &number, &err);
        free(other);
    }
    if (code == ERR_CANCELLED) /* it may run: ^C has ended the wait for it */
        number = play->ue->conn.cancelled;
    if (code < 0 && number == 0)
        return play_fail_err(play, &err);
    struct played *session = add_session(play, name, number);
    session->own = true;
    if (code < 0)
        return play_fail_err(play, &err);
    play_make_current(play, session);
    if (play->report)
        json_add_int(play->report, "session_id", number);
    return PLAY_NEXT;
}

enum play_flow play_USE(struct play *play, const struct play_step *step)
{
    struct err err = {0};
    struct played *session = find_session(play, play_text(step, 0));
    if (!session)
        session = find_living(play, play_text(step, 0), &err);
    if (!session)
        return play_fail_err(play, &err);
    play_make_current(play, session);
    return PLAY_NEXT;
}

enum play_flow play_KEEP(struct play *play, const struct play_step *step)
{
    (void)play;
    step->session->kept = true;
    return PLAY_NEXT;
}

static enum play_flow kill_it(struct play *play, const struct play_step *step, const char *signal)
{
    struct msg_answer answer;
    struct err err = {0};
    struct json *params = play_params(step->session);
    if (signal)
        json_add_text(params, "signal", signal);
    int code = play_call(play, "kill_session", params, -1, 0, &answer, &err);
    msg_answer_fini(&answer);
    return code < 0 ? play_fail_err(play, &err) : PLAY_NEXT;
}

enum play_flow play_CLOSE(struct play *play, const struct play_step *step)
{
    enum play_flow flow = kill_it(play, step, NULL);
    step->session->closed = flow == PLAY_NEXT;
    return flow;
}

enum play_flow play_KILL(struct play *play, const struct play_step *step)
{
    return kill_it(play, step, play_text(step, 0));
}
