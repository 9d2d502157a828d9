/* typing: owns the input of write_stdin: typed now or in its turn, and Enter by itself once the
 * program has taken the text before it. */
#include "cmd/typing.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cmd/failure.h"
#include "cmd/meta.h"
#include "cmd/op.h"
#include "cmd/people.h"
#include "cmd/typed_before.h"
#include "parts/view/queries.h"
#include "term/keys.h"
#include "term/modes.h"
#include "term/paste.h"
#include "wire/base64.h"
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* how long the program may take to read the text that goes before Enter */
#define TAKE_MS 5000
/* the text of a submit is noted as done under a hash of its own, apart from its Enter */

struct typing {
    struct op *op;
    uint64_t number;
    struct wait_spec spec; /* what the op waits for once the input is typed */
    struct keyboard_turn *turn;
    struct wait *wait; /* for the program to take the text of a submit */
    struct loop_timer gap;
    int64_t begun_ns, typed_ns;
    /* of wait_room: its deadline, 0: not asked for; since when it waits for room, 0: it does not */
    int64_t room_until_ns, full_ns;
};

void typing_free(struct typing *typing)
{
    if (!typing)
        return;
    keyboard_wait_cancel(typing->turn);
    wait_cancel(typing->wait);
    loop_timer_stop(&typing->gap);
    free(typing);
}

/* What is to be typed. */

static struct keys_modes modes_of(struct session *session)
{
    uint64_t modes = session_modes(session);
    return (struct keys_modes){.application_cursor = modes_has(modes, MODE_APPLICATION_CURSOR),
                               .application_keypad = modes_has(modes, MODE_APPLICATION_KEYPAD),
                               .backspace_is_bs = modes_has(modes, MODE_BACKSPACE_IS_BS),
                               .other_keys = modes_other_keys(modes),
                               .kitty = modes_kitty(modes)};
}

static int append_keys(struct session *session, const struct json *keys, struct buf *input,
                       struct err *err)
{
    const struct keys_modes modes = modes_of(session);
    for (const struct json *it = json_first(keys); it; it = json_next(it)) {
        const char *key = json_str(it, NULL);
        /* no terminal translates Enter for a pipe */
        if (!session_is_tty(session) && strcmp(key, "Enter") == 0) {
            buf_append_byte(input, '\n');
            continue;
        }
        if (!session_is_tty(session) && strcmp(key, "C-c") != 0)
            return err_set(err, ERR_STDIN_CLOSED,
                           "'%s': a pipe session has no keys but Enter and C-c; start it with tty",
                           key);
        if (keys_append_modes(input, key, &modes, err) < 0)
            return err->code;
    }
    return 0;
}

/* The bytes to type: chars first, then keys. */
static int cmd_typing_gather(struct op *op, struct session *session, struct buf *input,
                             struct err *err)
{
    const struct json *params = request_params(op->base.request);
    struct buf decoded = BUF_INIT;
    size_t len;
    const char *chars = schema_str(op->base.tool, params, "chars", &len),
               *encoded = schema_str(op->base.tool, params, "chars_base64", NULL);
    if (chars && encoded && len > 0)
        return err_set(
            err, ERR_ARGUMENTS,
            "failed to parse function arguments: `chars` and `chars_base64` exclude each other");
    if (encoded && !base64_decode(&decoded, encoded, strlen(encoded))) {
        buf_fini(&decoded);
        return err_set(err, ERR_ARGUMENTS,
                       "failed to parse function arguments: `chars_base64` is no valid base64");
    }
    if (encoded) {
        chars = decoded.data;
        len = decoded.len;
    }
    op->bracketed = false;
    if (chars && len > 0 && schema_bool(op->base.tool, params, "paste", false) &&
        session_is_tty(session)) {
        op->bracketed = modes_has(session_modes(session), MODE_BRACKETED_PASTE);
        paste_append(input, chars, len, op->bracketed);
    } else if (chars) {
        buf_append(input, chars, len);
    }
    buf_fini(&decoded);
    return append_keys(session, json_get(params, "keys"), input, err);
}

static enum input_kind cmd_typing_kind_of(const struct op *op)
{
    const struct json *params = request_params(op->base.request);
    size_t chars = 0, encoded = 0;
    schema_str(op->base.tool, params, "chars", &chars);
    schema_str(op->base.tool, params, "chars_base64", &encoded);
    return chars == 0 && encoded == 0                           ? INPUT_KEYS
           : schema_bool(op->base.tool, params, "paste", false) ? INPUT_PASTE
                                                                : INPUT_TEXT;
}

/* Typing. */

static bool submits(const struct op *op)
{
    return schema_bool(op->base.tool, request_params(op->base.request), "submit", false);
}

static int type_bytes(struct op *op, struct session *session, const char *data, size_t size,
                      enum input_kind kind, uint64_t hash, struct err *err)
{
    const struct author author = meta_author(op->base.ctx, op->base.request, INPUT_BY_AGENT);
    const struct input input = {
        .data = data,
        .size = size,
        .kind = kind,
        .author = &author,
        .request_hash = hash,
        .steal = schema_bool(op->base.tool, request_params(op->base.request), "steal", false)};
    return session_input(session, &input, err);
}

/* The wait is registered before the write, so that it misses nothing, and sees only output from
 * after it. */
static int park_and_type(struct op *op, struct session *session, struct wait_spec *spec,
                         const struct buf *input, enum input_kind kind, uint64_t hash,
                         struct err *err)
{
    spec->from = journal_head(session_journal(session));
    int code = inflight_wait(&op->base, session, spec, err);
    if (code)
        return code;
    if (input->len == 1 && input->data[0] == 3 && !session_is_tty(session)) {
        const struct author author = meta_author(op->base.ctx, op->base.request, INPUT_BY_AGENT);
        session_note_input(session, INPUT_SIGNAL, &author, SIGINT);
        code = session_interrupt(session, err);
    } else if (input->len > 0) {
        code = type_bytes(op, session, input->data, input->len, kind, hash, err);
    }
    if (!code && schema_bool(op->base.tool, request_params(op->base.request), "eof", false)) {
        const struct author author = meta_author(op->base.ctx, op->base.request, INPUT_BY_AGENT);
        session_note_input(session, INPUT_EOF, &author, 0);
        code = session_close_stdin(session, err);
    }
    return code;
}

static struct session *session_of(const struct typing *typing)
{
    struct err err;
    struct session *session = registry_by_number(typing->op->base.ctx->registry, typing->number);
    if (session)
        return session;
    failure_removed(&err, typing->number);
    op_fail(typing->op, &err);
    return NULL;
}

/* True: the program has ended meanwhile, and the answer will say how. */
static bool cmd_typing_ended(struct typing *typing, struct session *session)
{
    struct err err;
    return session_has_exit(session, NULL, NULL) &&
           inflight_wait(&typing->op->base, session, &typing->spec, &err) == 0;
}

/* Submit: Enter by itself. */

static int press_enter(struct typing *typing, struct session *session, struct err *err)
{
    struct op *op = typing->op;
    BUG_UNLESS(op->submit == SUBMIT_PENDING);
    struct buf enter = BUF_INIT;
    const struct keys_modes modes = modes_of(session);
    /* the time for the answer begins with Enter */
    if (typing->spec.deadline_ns != INT64_MAX)
        typing->spec.deadline_ns += clock_mono_ns() - typing->begun_ns;
    int code = session_is_tty(session) ? keys_append_modes(&enter, "Enter", &modes, err) : 0;
    if (!session_is_tty(session))
        buf_append_byte(&enter, '\n');
    if (!code)
        code = park_and_type(op, session, &typing->spec, &enter, INPUT_KEYS,
                             meta_request_hash(op->base.request), err);
    if (!code)
        op->submit = SUBMIT_DONE;
    buf_fini(&enter);
    return code;
}

static void on_gap(void *arg)
{
    struct typing *typing = arg;
    struct session *session = session_of(typing);
    struct err err = {0};
    if (session && !cmd_typing_ended(typing, session) && press_enter(typing, session, &err) < 0)
        op_fail(typing->op, &err);
}

static void on_taken(void *arg, const struct wait_result *result)
{
    struct typing *typing = arg;
    typing->wait = NULL;
    struct session *session = session_of(typing);
    if (!session || cmd_typing_ended(typing, session))
        return;
    if (result->reason != WAIT_READY) {
        inflight_end(&typing->op->base, session, WAIT_DEADLINE);
        return;
    }
    /* from now, not from when it was typed: a program that got no processor has read it just now */
    loop_timer_set_ns(&typing->gap,
                      clock_mono_ns() +
                          typing->op->base.ctx->config->defaults.submit_gap_ms * 1000000);
}

/* A program that reads single keys may take text that comes at once, Enter included, for a
 * paste; so Enter comes later. A program that reads lines can't tell. */
static int submit(struct typing *typing, struct session *session, const struct buf *input,
                  struct err *err)
{
    struct op *op = typing->op;
    uint64_t hash = meta_request_hash(op->base.request), end;
    bool typed = hash &&
                 journal_request_done(session_journal(session), hash ^ TYPED_BODY_HASH, &end);
    op->submit = SUBMIT_PENDING;
    typing->begun_ns = clock_mono_ns();
    bool whole_lines = !session_is_tty(session) || session_reads_lines(session);
    if (!whole_lines && input->len > 0) {
        const struct wait_spec taken = {.ready = true,
                                        .quiet_ms = -1,
                                        .deadline_ns = typing->begun_ns +
                                                       TAKE_MS * INT64_C(1000000),
                                        .from = journal_head(session_journal(session))};
        typing->wait = session_wait(session, &taken, on_taken, typing, err);
        if (!typing->wait)
            return err->code;
    }
    if (input->len > 0 && !typed) {
        int code = type_bytes(op, session, input->data, input->len, cmd_typing_kind_of(op),
                              hash ? hash ^ TYPED_BODY_HASH : 0, err);
        if (code)
            return code;
    }
    /* also when the request before this retry has typed the text */
    typing->typed_ns = session_last_input_ns(session);
    if (whole_lines)
        return press_enter(typing, session, err);
    if (!typing->wait)
        loop_timer_set_ns(&typing->gap, typing->typed_ns +
                                            op->base.ctx->config->defaults.submit_gap_ms * 1000000);
    return 0;
}

/* Turns. */

static void on_turn(void *arg, bool granted);

/* C-c, C-\\ and C-z reach a program that does not read. */
static bool cmd_typing_interrupts(const struct buf *input)
{
    return memchr(input->data ? input->data : "", 3, input->len) ||
           memchr(input->data ? input->data : "", 28, input->len) ||
           memchr(input->data ? input->data : "", 26, input->len);
}

/* Waits for room in the input queue. ERR_TOO_LARGE: the queue is smaller than the input. */
static int cmd_typing_wait_for_room(struct typing *typing, struct session *session, size_t size,
                                    struct err *err)
{
    const struct json *since = json_get(request_params(typing->op->base.request), "since");
    uint64_t cap = session_journal(session)->header->input_size;
    if (size > cap)
        return err_set(err, ERR_TOO_LARGE,
                       "'%s' has an input queue of %" PRIu64
                       " bytes, less than %zu; send less at once",
                       session_name(session), cap, size);
    if (!typing->full_ns)
        typing->full_ns = clock_mono_ns();
    typing->turn = keyboard_wait_room(session, size, since ? typing->op->from : UINT64_MAX,
                                      typing->room_until_ns, on_turn, typing);
    return 0;
}

/* Types now, or takes a turn when it has to wait and there is time left. */
static int attempt(struct typing *typing, struct session *session, bool first, bool may_wait,
                   struct err *err)
{
    struct op *op = typing->op;
    BUG_UNLESS(!typing->turn && !typing->wait && !op->base.wait);
    struct buf input = BUF_INIT;
    bool patient = schema_bool(op->base.tool, request_params(op->base.request), "wait_keyboard",
                               false);
    bool steals = schema_bool(op->base.tool, request_params(op->base.request), "steal", false);
    const struct author author = meta_author(op->base.ctx, op->base.request, INPUT_BY_AGENT);
    int code = cmd_typing_gather(op, session, &input, err);
    if (code)
        goto out;
    bool queued = input.len > 1 ||
                  (input.len == 1 && (input.data[0] != 3 || session_is_tty(session)));
    bool full = may_wait && queued && typing->room_until_ns > clock_mono_ns() &&
                input.len > journal_input_free(session_journal(session));
    may_wait = may_wait && typing->spec.deadline_ns > clock_mono_ns();
    code = steals ? 0 : keyboard_check(session, &author, err);
    bool held = session_is_held(session) && !cmd_typing_interrupts(&input);
    if (may_wait && ((code == ERR_KEYBOARD_HELD && patient) || (!code && held))) {
        code = 0;
        err->code = 0;
        typing->turn = keyboard_wait(session, patient && !steals, typing->spec.deadline_ns, on_turn,
                                     typing);
    } else if (!code && first && held &&
               (typing->turn = keyboard_wait_behind(session, on_turn, typing))) {
        code = 0;
    } else if (!code && full) {
        code = cmd_typing_wait_for_room(typing, session, input.len, err);
    } else if (!code && submits(op)) {
        code = submit(typing, session, &input, err);
    } else if (!code) {
        code = park_and_type(op, session, &typing->spec, &input, cmd_typing_kind_of(op),
                             meta_request_hash(op->base.request), err);
    }
out:
    buf_fini(&input);
    return code;
}

static void on_turn(void *arg, bool granted)
{
    struct typing *typing = arg;
    struct err err = {0};
    typing->turn = NULL;
    /* a piece of a longer input: its sender must learn that it was not typed */
    bool piece = typing->full_ns != 0;
    struct session *session = session_of(typing); /* NULL: that was the end of typing, too */
    if (!session || (!piece && cmd_typing_ended(typing, session)))
        return;
    struct op *op = typing->op;
    /* the time for the answer begins when the input is typed */
    if (piece && typing->spec.deadline_ns != INT64_MAX) {
        typing->spec.deadline_ns += clock_mono_ns() - typing->full_ns;
        typing->full_ns = clock_mono_ns();
    }
    int code = attempt(typing, session, false, granted, &err);
    if (code == ERR_ENDED && !piece &&
        (op->base.wait || inflight_wait(&op->base, session, &typing->spec, &err) == 0))
        return; /* ended while it waited: the answer says how */
    if (code < 0)
        op_fail(op, &err);
}

int typing_begin(struct op *op, struct session *session, const struct wait_spec *spec,
                 struct err *err)
{
    BUG_UNLESS(!op->typing && session_is_live(session));
    uint64_t hash = meta_request_hash(op->base.request), end;
    if (schema_bool(op->base.tool, request_params(op->base.request), "steal", false) &&
        people_check_steal(op->base.ctx, op->base.request, err) < 0)
        return err->code;
    if (hash && journal_request_done(session_journal(session), hash, &end)) {
        /* A retry: it was typed before the worker died, and its output may be there already.
         * What this reader has not seen counts. */
        struct wait_spec again = *spec;
        again.from = op->from;
        return inflight_wait(&op->base, session, &again, err);
    }
    struct typing *typing = xcalloc(1, sizeof *typing);
    *typing = (struct typing){.op = op, .number = session_number(session), .spec = *spec};
    int64_t room_ms = schema_int(op->base.tool, request_params(op->base.request), "wait_room", 0);
    if (room_ms > 0)
        typing->room_until_ns = clock_mono_ns() + room_ms * INT64_C(1000000);
    loop_timer_init(&typing->gap, op->base.ctx->loop, on_gap, typing);
    op->typing = typing;
    if (session_is_held(session))
        op->held_from_ns = clock_mono_ns();
    return attempt(typing, session, true, true, err);
}
