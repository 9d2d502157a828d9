/* follow: owns the waits for the sessions' output, also through restarts of the daemon. */
#include "client/follow/follow.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "wire/base64.h"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define CHANNEL_WAITS 32 /* sessions on a connection: below the usual requests_per_connection */
#define PIECE_BYTES (256 << 10)
#define REST_MS 500 /* a line without an end is shown after that time */

static volatile sig_atomic_t interrupted;

static void follow_on_interrupt(int signo)
{
    (void)signo;
    interrupted = 1;
}

static void follow_on_line(void *arg, const char *text, size_t size)
{
    struct followed *session = arg;
    session->owner->line(session->owner->arg, session, text, size);
}

/* Requests. */

static int follow_send_request(struct follow *follow, size_t channel, const char *method,
                               struct json *params, int64_t *id, struct err *err)
{
    BUG_UNLESS(channel < follow->channel_count);
    params_meta(follow->ue, params, META_VERB);
    params_wait(params, INT64_MAX);
    int result = call_post(follow->channels[channel]->conn, method, params, id, err);
    json_free(params);
    return result;
}

static int follow_ask(struct follow *follow, struct followed *session, struct err *err)
{
    struct json *params = json_object_new();
    BUG_UNLESS(session->owner == follow && !session->ended);
    json_add_int(params, "session_id", session->number);
    if (session->since_ms)
        json_add_int(params, "since_ms", session->since_ms);
    else
        json_add_int(params, "since", session->at);
    json_add_bool(params, "peek", true);
    json_add_bool(params, "ready", false);
    json_add_text(params, "until", "(?s).");
    json_add_text(params, "encoding", "base64");
    json_add_int(params, "max_bytes", PIECE_BYTES);
    return follow_send_request(follow, session->channel, "read_output", params, &session->id, err);
}

static int ask_for_new(struct follow *follow, struct err *err)
{
    struct json *params = json_object_new(), *types = json_add_array(params, "types");
    json_add_text(types, NULL, "created");
    json_add_text(types, NULL, "renamed");
    if (follow->events_next >= 0)
        json_add_int(params, "since", follow->events_next);
    return follow_send_request(follow, 0, "events", params, &follow->events_id, err);
}

static size_t free_channel(struct follow *follow)
{
    for (size_t i = 0; i < follow->channel_count; i++)
        if (follow->channels[i]->count < CHANNEL_WAITS)
            return i;
    struct follow_channel *channel = xcalloc(1, sizeof *channel);
    channel->conn = &follow->ue->conn;
    if (follow->channel_count > 0) {
        channel->conn = &channel->own;
        connection_init(channel->conn, follow->ue->conn.path, NULL, false);
        channel->conn->named = follow->ue->conn.named;
    }
    follow->channels = xreallocarray(follow->channels, follow->channel_count + 1,
                                     sizeof(struct follow_channel *));
    follow->channels[follow->channel_count] = channel;
    return follow->channel_count++;
}

static struct followed *follow_find(struct follow *follow, int64_t number)
{
    for (size_t i = 0; i < follow->count; i++)
        if (follow->sessions[i]->number == number)
            return follow->sessions[i];
    return NULL;
}

static int follow_add(struct follow *follow, int64_t number, const char *name, int64_t at,
                      struct err *err)
{
    struct followed *session = follow_find(follow, number);
    if (session)
        return 0;
    session = xcalloc(1, sizeof *session);
    *session = (struct followed){
        .owner = follow, .number = number, .at = at, .since_ms = follow->since_ms};
    session->channel = free_channel(follow);
    snprintf(session->name, sizeof session->name, "%s", name ? name : "?");
    session->lines = (struct lines){.fn = follow_on_line, .arg = session, .colors = follow->colors};
    follow->sessions = xreallocarray(follow->sessions, follow->count + 1,
                                     sizeof(struct followed *));
    follow->sessions[follow->count++] = session;
    follow->live++;
    follow->channels[session->channel]->count++;
    int result = connection_open(follow->channels[session->channel]->conn, err);
    return result == 0 ? follow_ask(follow, session, err) : result;
}

int follow_begin(struct follow *follow, struct err *err)
{
    struct ue *ue = follow->ue;
    struct msg_answer answer;
    struct json *params = json_object_new();
    BUG_UNLESS(follow->line && follow->end && follow->channel_count == 0);
    follow->joins = ue->args.operand_count == 0;
    follow->events_next = -1;
    free_channel(follow);
    if (!follow->joins)
        params_operands(ue, params, "names");
    params_meta(ue, params, META_VERB);
    int result = call_run(&ue->conn, "list_sessions", params, CALL_AGAIN, &answer, err);
    if (result == 0 && follow->joins)
        result = ask_for_new(follow, err);
    for (const struct json *it = json_first(json_get(answer.result, "sessions")); it && result == 0;
         it = json_next(it)) {
        int64_t number = 0, at = 0;
        json_get_int(it, "session_id", &number);
        json_get_int(it, "output_bytes", &at);
        if (json_get_str(it, "cmd", NULL)) /* held by the keeper alone: not readable */
            result = follow_add(follow, number, json_get_str(it, "name", NULL), at, err);
    }
    msg_answer_fini(&answer);
    json_free(params);
    return result;
}

/* Answers. */

static void follow_show(struct followed *session, const struct json *result)
{
    size_t len = 0;
    int64_t omitted = 0;
    struct buf bytes = BUF_INIT;
    const char *encoded = json_get_str(result, "output_base64", &len);
    if (json_get_int(result, "omitted_bytes", &omitted) && omitted > 0) {
        lines_end(&session->lines);
        say_note("'%s': %" PRId64 " bytes of its output came too fast and are no longer kept",
                 session->name, omitted);
    }
    if (encoded && base64_decode(&bytes, encoded, len))
        lines_feed(&session->lines, bytes.data ? bytes.data : "", bytes.len);
    buf_fini(&bytes);
    session->rest_ms = lines_has_rest(&session->lines) ? clock_mono_ms() + REST_MS : 0;
}

static void end_session(struct follow *follow, struct followed *session, const struct json *result)
{
    BUG_UNLESS(!session->ended && follow->live > 0);
    BUG_UNLESS(follow->channels[session->channel]->count > 0);
    lines_end(&session->lines);
    lines_fini(&session->lines);
    session->rest_ms = 0;
    session->ended = true;
    follow->live--;
    follow->channels[session->channel]->count--;
    follow->end(follow->arg, session, result);
}

static int take_output(struct follow *follow, struct followed *session,
                       const struct msg_answer *answer, struct err *err)
{
    int64_t before = session->at;
    session->id = 0;
    if (answer->err.code == ERR_NO_SUCH_SESSION) {
        end_session(follow, session, NULL);
        return 0;
    }
    if (answer->err.code) {
        *err = answer->err;
        return err->code;
    }
    const char *state = json_get_str(answer->result, "state", NULL);
    session->since_ms = 0;
    json_get_int(answer->result, "to", &session->at);
    follow_show(session, answer->result);
    if ((!state || strcmp(state, "running") != 0) && session->at == before) {
        end_session(follow, session, answer->result);
        return 0;
    }
    return follow_ask(follow, session, err);
}

static int take_events(struct follow *follow, const struct msg_answer *answer, struct err *err)
{
    follow->events_id = 0;
    if (answer->err.code) {
        *err = answer->err;
        return err->code;
    }
    json_get_int(answer->result, "next", &follow->events_next);
    for (const struct json *it = json_first(json_get(answer->result, "events")); it;
         it = json_next(it)) {
        int64_t number = 0;
        const char *name = json_get_str(it, "name", NULL), *type = json_get_str(it, "type", NULL);
        if (!json_get_int(it, "session_id", &number))
            continue;
        struct followed *session = follow_find(follow, number);
        if (session && name && type && strcmp(type, "renamed") == 0)
            snprintf(session->name, sizeof session->name, "%s", name);
        int result = session || (type && strcmp(type, "created") != 0)
                         ? 0
                         : follow_add(follow, number, name, 0, err);
        if (result < 0)
            return result;
    }
    return ask_for_new(follow, err);
}

static int follow_take(struct follow *follow, size_t channel, const struct msg_answer *answer,
                       struct err *err)
{
    if (answer->method || answer->id.kind != MSG_ID_NUMBER)
        return 0;
    if (channel == 0 && answer->id.number == follow->events_id)
        return take_events(follow, answer, err);
    for (size_t i = 0; i < follow->count; i++) {
        struct followed *session = follow->sessions[i];
        if (session->channel == channel && session->id == answer->id.number)
            return take_output(follow, session, answer, err);
    }
    return 0;
}

static int follow_take_lines(struct follow *follow, size_t channel, struct err *err)
{
    const char *line;
    size_t len;
    int result;
    while ((result = frame_next(&follow->channels[channel]->conn->in, &line, &len, err)) != 0) {
        struct msg_answer answer = {0};
        if (result > 0)
            result = msg_parse_answer(&answer, line, len, err);
        if (result == 0)
            result = follow_take(follow, channel, &answer, err);
        msg_answer_fini(&answer);
        if (result < 0)
            return result;
    }
    return 0;
}

/* Sessions outlive the worker: asks its successor for the rest. */
static int follow_reopen(struct follow *follow, size_t channel, struct err *err)
{
    struct connection *conn = follow->channels[channel]->conn;
    connection_close(conn);
    int result = connection_reopen(conn, clock_mono_ms() + CONNECTION_RESTART_MS, err);
    if (result == 0 && channel == 0 && follow->joins)
        result = ask_for_new(follow, err);
    for (size_t i = 0; i < follow->count && result == 0; i++)
        if (follow->sessions[i]->channel == channel && !follow->sessions[i]->ended)
            result = follow_ask(follow, follow->sessions[i], err);
    return result;
}

static int follow_receive(struct follow *follow, size_t channel, struct err *err)
{
    struct connection *conn = follow->channels[channel]->conn;
    size_t room;
    char *to = frame_room(&conn->in, &room);
    ssize_t n = recv(conn->fd, to, room, MSG_DONTWAIT);
    frame_filled(&conn->in, n > 0 ? (size_t)n : 0);
    if (n > 0)
        connection_heard(conn);
    if (n > 0)
        return follow_take_lines(follow, channel, err);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    return follow_reopen(follow, channel, err);
}

/* Emits lines that have been without an end for long enough. Returns the time until the next one is
 * due; -1: there is none. */
static int64_t emit_rests(struct follow *follow)
{
    int64_t now_ms = clock_mono_ms(), next_ms = -1;
    for (size_t i = 0; i < follow->count; i++) {
        struct followed *session = follow->sessions[i];
        int64_t left_ms = session->rest_ms - now_ms;
        if (!session->rest_ms)
            continue;
        if (left_ms <= 0) {
            lines_emit_rest(&session->lines);
            session->rest_ms = 0;
        } else if (next_ms < 0 || left_ms < next_ms) {
            next_ms = left_ms;
        }
    }
    return next_ms;
}

static int follow_wait_for(struct follow *follow, const sigset_t *mask, struct err *err)
{
    struct pollfd *fds = xcalloc(follow->channel_count, sizeof *fds);
    size_t count = follow->channel_count; /* follow_receive may add channels */
    int64_t left_ms = emit_rests(follow);
    struct timespec left = {.tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000};
    int result = 0;
    for (size_t i = 0; i < count; i++)
        fds[i] = (struct pollfd){.fd = follow->channels[i]->conn->fd, .events = POLLIN};
    int ready = ppoll(fds, count, left_ms < 0 ? NULL : &left, mask);
    for (size_t i = 0; i < count && ready > 0 && result == 0; i++)
        if (fds[i].revents)
            result = follow_receive(follow, i, err);
    free(fds);
    return result;
}

int follow_run(struct follow *follow, struct err *err)
{
    struct sigaction action = {.sa_handler = follow_on_interrupt}, before;
    sigset_t block, mask;
    BUG_UNLESS(follow->channel_count > 0); /* follow_begin came first */
    int result = follow_take_lines(follow, 0, err);
    sigemptyset(&block);
    sigaddset(&block, SIGINT);
    sigprocmask(SIG_BLOCK, &block, &mask);
    /* SIGINT stays ignored in a shell's background job */
    if (sigaction(SIGINT, &action, &before) == 0 && before.sa_handler == SIG_IGN)
        sigaction(SIGINT, &before, NULL);
    while (result == 0 && (follow->live > 0 || follow->joins)) {
        result = follow_wait_for(follow, &mask, err);
        if (interrupted)
            result = err_set(err, ERR_CANCELLED, "interrupted");
    }
    return result;
}

void follow_fini(struct follow *follow)
{
    for (size_t i = 0; i < follow->count; i++) {
        lines_fini(&follow->sessions[i]->lines);
        free(follow->sessions[i]);
    }
    free(follow->sessions);
    for (size_t i = 0; i < follow->channel_count; i++) {
        if (i > 0)
            connection_fini(&follow->channels[i]->own);
        free(follow->channels[i]);
    }
    free(follow->channels);
}
