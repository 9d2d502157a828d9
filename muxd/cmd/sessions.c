/* sessions: list, kill, rename, resize, remove. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/value.h"
#include "cmd/attach_size.h"
#include "cmd/describe.h"
#include "cmd/failure.h"
#include "cmd/meta.h"
#include "cmd/people.h"
#include "parts/reap/reap.h"
#include "wire/schema.h"
#include <signal.h>
#include <stdlib.h>

static bool list_one(void *arg, struct session *session)
{
    json_add(arg, NULL, describe_session(session));
    return true;
}

static void list_left(void *arg, uint64_t number, const pid_t *pids, size_t count)
{
    json_add(arg, NULL, describe_left(number, pids, count));
}

void cmd_LIST_SESSIONS(struct cmd_context *ctx, struct request *request)
{
    const struct json *params = request_params(request), *names = json_get(params, "names");
    bool all = schema_bool(&tools[TOOL_LIST_SESSIONS], params, "all", false);
    struct json *result = json_object_new(), *list = json_add_array(result, "sessions");
    struct err err;
    if (!names) {
        registry_each(ctx->registry, !all, list_one, list);
        if (all)
            registry_each_left(ctx->registry, list_left, list);
    }
    for (const struct json *it = json_first(names); it; it = json_next(it)) {
        struct session *session = meta_session(ctx, it, &err);
        if (!session) {
            json_free(result);
            failure_reply(request, &tools[TOOL_LIST_SESSIONS], &err);
            return;
        }
        json_add(list, NULL, describe_session(session));
    }
    request_reply(request, result);
}

/* One kill request, several sessions: answered when the last one has ended. */
struct killing {
    struct cmd_context *ctx;
    struct request *request; /* NULL: cancelled; the sessions end all the same */
    struct json *result, *list;
    size_t left;
};

static void killing_fail(struct killing *killing, const struct err *err)
{
    request_on_cancel(killing->request, NULL, NULL);
    request_fail(killing->request, err);
    json_free(killing->result);
    free(killing);
}

static void killing_release(struct killing *killing)
{
    BUG_UNLESS(killing->left > 0);
    if (--killing->left > 0)
        return;
    if (killing->request) {
        request_on_cancel(killing->request, NULL, NULL);
        request_reply(killing->request, killing->result);
    } else {
        json_free(killing->result);
    }
    free(killing);
}

static void sessions_on_killed(void *arg, const struct reap_result *result)
{
    struct killing *killing = arg;
    BUG_UNLESS(killing->left > 0);
    struct json *one = json_add_object(killing->list, NULL);
    struct session *session = registry_by_number(killing->ctx->registry, result->number);
    json_add_int(one, "session_id", (int64_t)result->number);
    if (session) {
        json_add_text(one, "name", session_name(session));
        json_add_text(one, "state", session_state_word(session_state(session)));
    }
    const char *ended_by = value_signal_name(result->ended_by),
               *signal = value_signal_name(result->signo);
    if (ended_by)
        json_add_text(one, "ended_by", ended_by);
    if (result->exit_code >= 0)
        json_add_int(one, "exit_code", result->exit_code);
    if (signal)
        json_add_text(one, "signal", signal);
    describe_survivors(one, result);
    killing_release(killing);
}

static void sessions_on_cancel(void *arg)
{
    struct killing *killing = arg;
    killing->request = NULL;
}

/* killing_release drops the first count of `left`. */
static struct killing *killing_new(struct cmd_context *ctx, struct request *request)
{
    struct killing *killing = xcalloc(1, sizeof *killing);
    *killing = (struct killing){
        .ctx = ctx, .request = request, .result = json_object_new(), .left = 1};
    killing->list = json_add_array(killing->result, "sessions");
    request_on_cancel(request, sessions_on_cancel, killing);
    return killing;
}

struct targets {
    uint64_t *numbers;
    size_t count;
};

/* A session that is named twice is a target once. */
static void add_target(struct targets *targets, uint64_t number)
{
    for (size_t i = 0; i < targets->count; i++)
        if (targets->numbers[i] == number)
            return;
    targets->numbers = xreallocarray(targets->numbers, targets->count + 1,
                                     sizeof *targets->numbers);
    targets->numbers[targets->count++] = number;
}

static bool append_target(void *arg, struct session *session)
{
    add_target(arg, session_number(session));
    return true;
}

struct left_search {
    uint64_t number;
    bool found;
};

static void compare_left(void *arg, uint64_t number, const pid_t *pids, size_t count)
{
    struct left_search *search = arg;
    (void)pids, (void)count;
    search->found |= number == search->number;
}

/* True for the number of a session that is gone, but has left processes: they can be ended, too. */
static bool is_left(struct cmd_context *ctx, const struct json *id, uint64_t *number)
{
    char room[SCHEMA_SESSION_ROOM];
    int64_t value;
    if (!value_int(schema_session(id, room), 1, INT64_MAX, &value))
        return false;
    struct left_search search = {.number = (uint64_t)value};
    registry_each_left(ctx->registry, compare_left, &search);
    *number = search.number;
    return search.found;
}

static int find_targets(struct cmd_context *ctx, struct request *request, struct targets *targets,
                        struct err *err)
{
    const struct json *params = request_params(request), *one = json_get(params, "session_id"),
                      *several = json_get(params, "sessions");
    bool all = schema_bool(&tools[TOOL_KILL_SESSION], params, "all", false);
    if (!one && !several && !all)
        return err_set(err, ERR_ARGUMENTS,
                       "failed to parse function arguments: one of `session_id`, `sessions` and "
                       "`all` is needed");
    if (all)
        registry_each(ctx->registry, true, append_target, targets);
    for (const struct json *it = one ? one : json_first(several); it;
         it = one ? NULL : json_next(it)) {
        uint64_t number = 0;
        struct session *session = meta_session(ctx, it, err);
        bool ends = !schema_has(params, "signal");
        if (!session && (err->code != ERR_NO_SUCH_SESSION || !ends || !is_left(ctx, it, &number)))
            return err->code;
        add_target(targets, session ? session_number(session) : number);
    }
    return 0;
}

static int check_self(struct cmd_context *ctx, struct request *request,
                      const struct targets *targets, struct err *err)
{
    struct session *own = registry_of_process(ctx->registry, peer_pid(request_peer(request)));
    for (size_t i = 0; own && i < targets->count; i++)
        if (targets->numbers[i] == session_number(own))
            return err_set(
                err, ERR_SELF,
                "'%s': you are running inside this session; use --self to end it all the same",
                session_name(own));
    return 0;
}

static int bad_signal(const char *word, struct err *err)
{
    const char *nearest = value_nearest_signal(word);
    if (nearest)
        return err_set(err, ERR_ARGUMENTS, "'%.40s': no signal of that name; did you mean '%s'?",
                       word, nearest);
    return err_set(err, ERR_ARGUMENTS,
                   "'%.40s': no signal of that name; use INT, TERM, KILL, … or a number", word);
}

/* A signal reaches the program as a key does, so it goes by the keyboard; what ends the session is
 * no input. */
static int check_signal(struct cmd_context *ctx, struct request *request, int signo,
                        const struct targets *targets, struct err *err)
{
    int code = 0;
    for (size_t i = 0; signo && signo != SIGTERM && signo != SIGKILL && i < targets->count && !code;
         i++) {
        struct session *session = registry_by_number(ctx->registry, targets->numbers[i]);
        code = session ? people_check_keyboard(ctx, request, session, err) : 0;
    }
    return code;
}

void cmd_KILL_SESSION(struct cmd_context *ctx, struct request *request)
{
    const struct tool *tool = &tools[TOOL_KILL_SESSION];
    const struct json *params = request_params(request);
    struct targets targets = {0};
    struct err err = {0};
    int signo = 0;
    const char *word = schema_str(tool, params, "signal", NULL);
    int result = find_targets(ctx, request, &targets, &err);
    if (result == 0 && word && !value_signal(word, &signo))
        result = bad_signal(word, &err);
    if (result == 0 && !schema_bool(tool, params, "self", false))
        result = check_self(ctx, request, &targets, &err);
    if (result == 0)
        result = check_signal(ctx, request, signo, &targets, &err);
    if (result < 0) {
        failure_reply(request, tool, &err);
    } else {
        struct killing *killing = killing_new(ctx, request);
        const struct author author = meta_author(ctx, request, INPUT_BY_AGENT);
        for (size_t i = 0; i < targets.count; i++) {
            struct session *session = registry_by_number(ctx->registry, targets.numbers[i]);
            killing->left++;
            if (session && session_is_live(session))
                session_note_input(session, INPUT_SIGNAL, &author, signo ? signo : SIGHUP);
            if (session)
                reap_kill(session, signo, KILLER_REQUEST, sessions_on_killed,
                              killing);
            else
                reap_kill_left(ctx->registry, targets.numbers[i], sessions_on_killed, killing);
        }
        killing_release(killing);
    }
    free(targets.numbers);
}

void cmd_RENAME_SESSION(struct cmd_context *ctx, struct request *request)
{
    const struct json *params = request_params(request);
    struct err err;
    struct session *session = meta_session(ctx, json_get(params, "session_id"), &err);
    if (!session ||
        session_rename(session, schema_str(&tools[TOOL_RENAME_SESSION], params, "name", NULL),
                       &err) < 0) {
        request_fail(request, &err);
        return;
    }
    request_reply(request, describe_session(session));
}

/* Either a policy or a size; a policy needs a session with a terminal. */
static int check_resize(const struct session *session, const struct json *params,
                        const char *policy, struct err *err)
{
    bool rows = schema_has(params, "rows"), cols = schema_has(params, "cols");
    if (policy ? rows || cols : !rows || !cols)
        return err_set(err, ERR_ARGUMENTS, "'resize_session': give rows and cols, or policy");
    if (policy && !session_is_tty(session))
        return err_set(err, ERR_NOT_AVAILABLE, "'%s': has no terminal, and so no size",
                       session_name(session));
    if (policy && !session_is_live(session))
        return err_set(err, ERR_ENDED, "'%s': has ended; start a new one", session_name(session));
    return 0;
}

void cmd_RESIZE_SESSION(struct cmd_context *ctx, struct request *request)
{
    const struct tool *tool = &tools[TOOL_RESIZE_SESSION];
    const struct json *params = request_params(request);
    struct err err;
    struct session *session = meta_session(ctx, json_get(params, "session_id"), &err);
    const char *policy = schema_str(tool, params, "policy", NULL);
    int rows = (int)schema_int(tool, params, "rows", 0),
        cols = (int)schema_int(tool, params, "cols", 0);
    if (!session || check_resize(session, params, policy, &err) < 0 ||
        people_check_keyboard(ctx, request, session, &err) < 0 ||
        (!policy && session_resize(session, rows, cols, &err) < 0)) {
        request_fail(request, &err);
        return;
    }
    if (policy) {
        attach_size_set(ctx, session, policy);
    } else {
        const struct author author = meta_author(ctx, request, INPUT_BY_AGENT);
        session_note_input(session, INPUT_RESIZE, &author, rows << 16 | cols);
        attach_hold_size(session);
    }
    request_reply(request, describe_session(session));
}

static int find_removed(struct cmd_context *ctx, struct request *request, struct targets *targets,
                        struct err *err)
{
    const struct json *sessions = json_get(request_params(request), "sessions");
    for (const struct json *it = json_first(sessions); it; it = json_next(it)) {
        uint64_t number = 0;
        struct session *session = meta_session(ctx, it, err);
        if (!session && (err->code != ERR_NO_SUCH_SESSION || !is_left(ctx, it, &number)))
            return err->code;
        if (session && session_is_live(session))
            return err_set(err, ERR_NOT_ENDED, "'%s': still runs; end it with `ue kill %s` first",
                           session_name(session), session_name(session));
        add_target(targets, session ? session_number(session) : number);
    }
    return 0;
}

/* 0 stays of the number of a session that was removed. */
static int remove_ended(struct cmd_context *ctx, struct targets *targets, struct json *list,
                        struct err *err)
{
    int result = 0;
    for (size_t i = 0; i < targets->count && result == 0; i++) {
        struct session *session = registry_by_number(ctx->registry, targets->numbers[i]);
        if (!session)
            continue;
        struct json *one = json_add_object(list, NULL);
        json_add_int(one, "session_id", (int64_t)targets->numbers[i]);
        json_add_text(one, "name", session_name(session));
        targets->numbers[i] = 0;
        result = registry_remove(ctx->registry, session, err);
    }
    return result;
}

/* All or none: all are checked before the first is removed. What a session of an earlier daemon has
 * left is ended, which takes a while. */
void cmd_REMOVE_SESSION(struct cmd_context *ctx, struct request *request)
{
    struct targets targets = {0};
    struct err err = {0};
    struct killing *killing = killing_new(ctx, request);
    int result = find_removed(ctx, request, &targets, &err);
    if (result == 0)
        result = remove_ended(ctx, &targets, killing->list, &err);
    for (size_t i = 0; i < targets.count && result == 0; i++)
        if (targets.numbers[i]) {
            killing->left++;
            reap_kill_left(ctx->registry, targets.numbers[i], sessions_on_killed, killing);
        }
    if (result < 0)
        killing_fail(killing, &err);
    else
        killing_release(killing);
    free(targets.numbers);
}
