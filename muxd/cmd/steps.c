/* steps: run_steps: several calls about one session as one request. Each step is an inner call
 * of write_stdin or read_output, so that keyboards, secrets and limits hold as for those; the
 * first step that fails ends it. */
#include "base/bug.h"
#include "base/mem.h"
#include "cmd/captured.h"
#include "cmd/describe.h"
#include "cmd/failure.h"
#include "cmd/gate_default.h"
#include "cmd/meta.h"
#include "cmd/reach.h"
#include "cmd/typed_before.h"
#include "wire/schema.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct written { /* what an inner call does once the answer is delivered */
    void (*fn)(void *arg, bool written);
    void *arg;
};

struct steps {
    struct cmd_context *ctx;
    struct request *request; /* NULL once answered or cancelled */
    struct request *inner;   /* the call that is under way */
    const struct json *step; /* borrowed from the request's params */
    const char *kind;        /* of that step */
    uint64_t number;         /* of the session */
    uint64_t mark;           /* a wait sees the output from here on: the head at the last write */
    uint64_t place;          /* an expect sees it from here on: the end of the last match */
    struct json *results, *captured;
    struct buf content;
    struct written *written; /* owned; room for one a step */
    size_t total, count, done;
    bool failed, running, stepped, matched; /* matched: an expect has moved the place */
};

static const char *const kinds[] = {"write", "keys", "wait", "expect", "read"};
#define KINDS "a step is one of write, keys, wait, expect and read"

static void steps_free(struct steps *steps)
{
    json_free(steps->results);
    json_free(steps->captured);
    buf_fini(&steps->content);
    free(steps->written);
    free(steps);
}

static void cmd_steps_on_cancel(void *arg)
{
    struct steps *steps = arg;
    if (steps->inner)
        request_drop_inner(steps->inner);
    for (size_t i = 0; i < steps->count; i++)
        steps->written[i].fn(steps->written[i].arg, false);
    steps_free(steps);
}

static void cmd_steps_on_written(void *arg, bool written)
{
    struct steps *steps = arg;
    for (size_t i = 0; i < steps->count; i++)
        steps->written[i].fn(steps->written[i].arg, written);
    steps_free(steps);
}

static void cmd_steps_answer(struct steps *steps)
{
    struct request *request = steps->request;
    BUG_UNLESS(request && !steps->inner && !steps->running);
    struct json *result = json_object_new();
    struct session *session = registry_by_number(steps->ctx->registry, steps->number);
    json_add_str(result, "content", steps->content.data ? steps->content.data : "",
                 steps->content.len);
    json_add_int(result, "completed", (int64_t)steps->done);
    if (steps->failed)
        json_add_int(result, "failed_step", (int64_t)steps->done + 1);
    json_add(result, "steps", steps->results);
    steps->results = NULL;
    if (json_first(steps->captured)) {
        json_add(result, "captured", steps->captured);
        steps->captured = NULL;
    }
    if (session && session_is_live(session))
        json_add_int(result, "session_id", (int64_t)steps->number);
    json_add_int(result, "number", (int64_t)steps->number);
    if (session) {
        json_add_text(result, "name", session_name(session));
        describe_end(result, session);
    }
    steps->request = NULL;
    request_on_cancel(request, NULL, NULL);
    request_on_written(request, cmd_steps_on_written, steps);
    request_reply(request, result);
}

/* The one member of a step, which says what kind it is. NULL: err. */
static const char *cmd_steps_kind_of(const struct json *step, size_t number, struct err *err)
{
    const char *kind = NULL;
    for (const struct json *it = json_first(step); it; it = json_next(it)) {
        const char *key = json_key(it), *known = NULL;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strcmp(key, kinds[i]) == 0)
                known = kinds[i];
        if (!known || kind) {
            err_set(err, ERR_ARGUMENTS,
                    "failed to parse function arguments: step %zu: %s `%.64s`; " KINDS, number,
                    known ? "a second member" : "unknown field", key);
            return NULL;
        }
        kind = known;
    }
    if (!kind)
        err_set(err, ERR_ARGUMENTS, "failed to parse function arguments: step %zu is empty; " KINDS,
                number);
    return kind;
}

static bool kind_is(const struct steps *steps, const char *kind)
{
    return strcmp(steps->kind, kind) == 0;
}

static bool types_input(const struct steps *steps)
{
    return kind_is(steps, "write") || kind_is(steps, "keys");
}

static bool awaits(const struct steps *steps)
{
    return kind_is(steps, "wait") || kind_is(steps, "expect");
}

/* In place of what the step may have said. */
static void set_member(struct json *params, const char *key, struct json *value)
{
    json_free(json_detach(params, key));
    json_add(params, key, value);
}

/* A retry of the whole request types nothing twice: each step has an id of its own. What it has
 * waited before is not each step's. */
static void add_meta(const struct steps *steps, struct json *params)
{
    const struct json *outer = schema_meta(request_params(steps->request));
    struct json *meta = json_add(params, "_meta", outer ? json_copy(outer) : json_object_new());
    const char *id = json_get_str(outer, "request_id", NULL);
    char *own = id ? xasprintf("%s.%zu", id, steps->done + 1) : NULL;
    json_free(json_detach(meta, "request_id"));
    json_free(json_detach(meta, "waited_ms"));
    set_member(meta, "verb", json_bool_new(true));
    if (own && types_input(steps))
        json_add_text(meta, "request_id", own);
    free(own);
}

/* Of a step that types, or that waits or reads. 0, or an error; *params is set in any case. */
static int params_of(struct steps *steps, struct json **params, struct err *err)
{
    const struct json *value = json_get(steps->step, steps->kind);
    bool patterns = json_type(value) == JSON_STRING ||
                    (kind_is(steps, "expect") && json_type(value) == JSON_ARRAY);
    struct json *into = json_type(value) == JSON_OBJECT ? json_copy(value) : json_object_new();
    int code = 0;
    *params = into;
    if (kind_is(steps, "write") && json_type(value) != JSON_OBJECT)
        code = captured_write(into, value, steps->captured, err);
    else if (kind_is(steps, "keys"))
        json_add(into, "keys", json_copy(value));
    else if (patterns)
        json_add(into, awaits(steps) ? "until" : "value", json_copy(value));
    set_member(into, "session_id", json_int_new((int64_t)steps->number));
    if (kind_is(steps, "expect"))
        json_free(json_detach(into, "capture"));
    add_meta(steps, into);
    if (!awaits(steps))
        set_member(into, "yield_time_ms", json_int_new(0));
    if (kind_is(steps, "read"))
        return code;
    set_member(into, "peek", json_bool_new(true));
    set_member(into, "max_output_tokens", json_int_new(0));
    if (kind_is(steps, "wait"))
        set_member(into, "since", json_int_new((int64_t)steps->mark));
    else if (kind_is(steps, "expect") && !json_get(into, "since"))
        json_add_int(into, "since", (int64_t)steps->place);
    return code;
}

/* Whether a wait ended for a reason that was asked for; true for other steps. */
static bool came_true(const struct steps *steps, const struct json *result)
{
    const struct json *wanted = json_get(steps->step, steps->kind);
    const char *reason = json_get_str(result, "reason", NULL);
    bool exits = false, waits = json_type(wanted) != JSON_OBJECT || json_get(wanted, "until") ||
                                json_get(wanted, "ready") || json_get(wanted, "quiet_ms");
    json_get_bool(wanted, "exit", &exits);
    if (!awaits(steps) || !reason)
        return true;
    if (strcmp(reason, "deadline") == 0 || strcmp(reason, "fail_on") == 0)
        return false;
    return !(waits && !exits && strcmp(reason, "exit") == 0);
}

/* The next expect goes on behind the match; after silence and after the end behind it all. */
static void move_place(struct steps *steps, const struct json *result)
{
    const struct json *match = json_get(result, "match");
    const char *reason = json_get_str(result, "reason", NULL);
    int64_t to;
    bool all = reason && (strcmp(reason, "quiet") == 0 || strcmp(reason, "exit") == 0);
    if (!kind_is(steps, "expect") || !json_get_int(match ? match : result, "to", &to))
        return;
    captured_note(steps->captured, json_get(steps->step, "expect"), match);
    if (match || all) {
        steps->place = (uint64_t)to;
        steps->matched = true;
    }
}

static void copy_members(struct json *into, const struct json *result, const char *const *names)
{
    for (; *names; names++)
        if (json_get(result, *names))
            json_add(into, *names, json_copy(json_get(result, *names)));
}

static void note_success(struct steps *steps, struct json *one, const struct json *result)
{
    static const char *const of_wait[] = {
        "reason", "evidence", "wall_time_seconds", "waiting_for", "match", "from", "to", NULL};
    static const char *const of_read[] = {"output",        "from",      "to",
                                          "omitted_bytes", "truncated", NULL};
    const char *reason = json_get_str(result, "reason", NULL);
    size_t len = 0;
    const char *output = json_get_str(result, "output", &len);
    if (awaits(steps)) {
        copy_members(one, result, of_wait);
        buf_printf(&steps->content, ": %s\n", reason ? reason : "done");
    } else if (kind_is(steps, "read")) {
        copy_members(one, result, of_read);
        buf_append_text(&steps->content, ":\n");
        buf_append(&steps->content, output ? output : "", len);
        if (output && len > 0 && output[len - 1] != '\n')
            buf_append_byte(&steps->content, '\n');
    } else {
        buf_append_text(&steps->content, ": done\n");
    }
}

static void note_failure(struct steps *steps, struct json *one, const char *code, const char *text)
{
    json_add_text(one, "code", code);
    json_add_text(one, "error", text);
    buf_printf(&steps->content, ": failed: %s\n", text);
    steps->failed = true;
}

/* The wait was over, and not as it was asked for. */
static void note_untrue(struct steps *steps, struct json *one, const struct json *result)
{
    static const char *const told[] = {"reason", "match", "from", "to", NULL};
    const char *reason = json_get_str(result, "reason", NULL);
    copy_members(one, result, told);
    if (strcmp(reason, "exit") == 0)
        note_failure(steps, one, "ended", "the session has ended before it came true");
    else if (strcmp(reason, "fail_on") == 0)
        note_failure(steps, one, "fail_on", "what it fails on came first");
    else
        note_failure(steps, one, "deadline", "it did not come true in time");
}

static void cmd_steps_pump(struct steps *steps);

static void on_answer(void *arg, const struct request_answer *got)
{
    struct steps *steps = arg;
    struct json *one = json_add_object(steps->results, NULL);
    size_t number = steps->done + 1;
    BUG_UNLESS(steps->request && number <= steps->total);
    steps->inner = NULL;
    json_add_int(one, "step", (int64_t)number);
    json_add_text(one, "kind", steps->kind);
    buf_printf(&steps->content, "Step %zu %s", number, steps->kind);
    if (got->written) {
        BUG_UNLESS(steps->count < steps->total);
        steps->written[steps->count++] = (struct written){got->written, got->written_arg};
    }
    bool ok = got->result && came_true(steps, got->result);
    json_add_bool(one, "ok", ok);
    if (!got->result) {
        note_failure(steps, one, err_name(got->err->code), got->err->text);
    } else if (!ok) {
        note_untrue(steps, one, got->result);
    } else {
        note_success(steps, one, got->result);
        move_place(steps, got->result);
        steps->done++;
        steps->step = json_next(steps->step);
    }
    json_free(got->result);
    if (steps->running)
        steps->stepped = true; /* answered inside of its call */
    else
        cmd_steps_pump(steps);
}

/* Where the waits that follow a step which types look from. Sent again after a restart of the
 * worker, it may have typed before: they go on from there. */
static void cmd_steps_note_place(struct steps *steps, struct session *session)
{
    steps->mark = journal_head(session_journal(session));
    if (typed_before(session, meta_request_hash(steps->inner), &steps->mark) && !steps->matched)
        steps->place = steps->mark;
}

/* 0: the inner call is parked or answered. */
static int call(struct steps *steps, struct err *err)
{
    BUG_UNLESS(!steps->inner);
    bool writes = types_input(steps);
    const struct tool *tool = &tools[writes ? TOOL_WRITE_STDIN : TOOL_READ_OUTPUT];
    struct session *session = registry_by_number(steps->ctx->registry, steps->number);
    struct json *params;
    int code = params_of(steps, &params, err);
    if (code == 0)
        code = schema_check(tool, params, NULL, err);
    if (code < 0) {
        json_free(params);
        return code;
    }
    steps->inner = request_inner(steps->request, tool->name, params, on_answer, steps);
    if (writes && session)
        cmd_steps_note_place(steps, session);
    if (writes)
        cmd_WRITE_STDIN(steps->ctx, steps->inner);
    else
        cmd_READ_OUTPUT(steps->ctx, steps->inner);
    return 0;
}

/* One step after the other. A step that is answered at once returns here, so that the stack does
 * not grow with the steps. */
static void cmd_steps_pump(struct steps *steps)
{
    struct err err = {0};
    do {
        if (!steps->step || steps->failed) {
            cmd_steps_answer(steps);
            return;
        }
        steps->kind = cmd_steps_kind_of(steps->step, steps->done + 1, &err);
        steps->running = true;
        steps->stepped = false;
        if (call(steps, &err) < 0) {
            const struct request_answer refused = {.err = &err};
            on_answer(steps, &refused);
        }
        steps->running = false;
    } while (steps->stepped);
}

void cmd_RUN_STEPS(struct cmd_context *ctx, struct request *request)
{
    const struct tool *tool = &tools[TOOL_RUN_STEPS];
    const struct json *params = request_params(request), *list = json_get(params, "steps");
    struct err err = {0};
    if (gate_default_waits(ctx, request, cmd_RUN_STEPS))
        return;
    struct session *session = meta_session(ctx, json_get(params, "session_id"), &err);
    size_t number = 0;
    bool types = false;
    /* a misspelled step is refused before the first one is done */
    for (const struct json *it = json_first(list); it && !err.code; it = json_next(it)) {
        const char *kind = cmd_steps_kind_of(it, ++number, &err);
        types |= kind && (strcmp(kind, "write") == 0 || strcmp(kind, "keys") == 0);
    }
    if (!err.code && types) /* the calls for the steps are no model's */
        reach_check(ctx, request, session, &err);
    if (err.code) {
        failure_reply(request, tool, &err);
        return;
    }
    struct steps *steps = xcalloc(1, sizeof *steps);
    *steps = (struct steps){.ctx = ctx,
                            .request = request,
                            .number = session_number(session),
                            .step = json_first(list),
                            .mark = journal_head(session_journal(session)),
                            .place = journal_head(session_journal(session)),
                            .results = json_array_new(),
                            .captured = json_object_new(),
                            .content = BUF_INIT,
                            .total = number};
    steps->written = xcalloc(number, sizeof *steps->written);
    request_on_cancel(request, cmd_steps_on_cancel, steps);
    cmd_steps_pump(steps);
}
