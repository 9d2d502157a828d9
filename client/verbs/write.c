/* write: `ue write`: characters, keys or all of standard input into a session, and what it answers. */
#include "base/mem.h"
#include "base/value.h"
#include "client/rpc/input.h"
#include "client/rpc/params.h"
#include "client/rpc/talk.h"
#include "client/rpc/typing.h"
#include <stdlib.h>
#include <string.h>

#define PASTE_BYTES_MAX (4u << 20)
#define PATIENCE_MS 5000 /* how long a session that reads nothing is waited for between two pieces */

static int add_literal(const struct args *args, struct json *params, struct err *err)
{
    const char *text = args->operand_count > 1 ? args->operands[1] : "", *bad;
    if (!args_has(args, "escapes")) {
        input_add_chars(params, text, strlen(text));
        return 0;
    }
    char *decoded = xmalloc(strlen(text) + 1);
    long len = value_unescape(text, decoded, &bad);
    if (len < 0)
        err_set(err, ERR_USAGE, "'%.8s': no C escape; write \\\\ for a backslash, or leave out -e", bad);
    else
        input_add_chars(params, decoded, (size_t)len);
    free(decoded);
    return len < 0 ? ERR_USAGE : 0;
}

static void add_keys(const struct args *args, struct json *params)
{
    bool line = args_has(args, "line");
    if (!line && !args_has(args, "key"))
        return;
    struct json *keys = json_add_array(params, "keys");
    if (line)
        json_add_text(keys, NULL, "Enter");
    for (const struct args_option *o = args_next(args, "key", NULL); o; o = args_next(args, "key", o))
        json_add_text(keys, NULL, o->value);
}

/* What standard input gives goes ahead in pieces; the last one is left for the request that waits. */
static int type_ahead(struct ue *ue, const char *session, struct buf *last, bool *typed, struct err *err)
{
    struct json *id = json_string_new(session, strlen(session));
    int64_t patience_ms = args_int(&ue->args, "yield", 0);
    struct typing typing = {.ue = ue, .session = id, .patience_ms = patience_ms > PATIENCE_MS ? patience_ms : PATIENCE_MS};
    struct buf next = BUF_INIT;
    bool ended = false;
    int result = input_piece(last, &ended, err);
    while (result == 0 && !ended) {
        if (last->len < INPUT_PIECE_BYTES) { /* a pause: typed now, whatever comes later */
            result = typing_send(&typing, last->data, last->len, false, err);
            if (result == 0)
                result = input_piece(last, &ended, err);
            continue;
        }
        result = input_piece(&next, &ended, err);
        if (result == 0 && next.len > 0) {
            result = typing_send(&typing, last->data, last->len, false, err);
            struct buf swap = *last;
            *last = next;
            next = swap;
        }
    }
    size_t most = last->len;
    if (result == 0)
        result = typing_piece_max(ue, last->len, &most, err);
    if (result == 0 && last->len > most) { /* what waits for an answer is one request */
        result = typing_send(&typing, last->data, last->len - most, false, err);
        buf_consume(last, last->len - most);
    }
    buf_fini(&next);
    json_free(id);
    *typed = typing.typed > 0;
    ue->patience_ms = *typed ? typing.patience_ms : 0;
    return result;
}

/* Text that was typed ahead and nothing after it: what is left is to wait, which read_output does. */
static const char *tool_for(struct json *params, bool typed_ahead, size_t left)
{
    if (!typed_ahead || left > 0 || json_get(params, "keys") || json_get(params, "submit"))
        return "write_stdin";
    json_free(json_detach(params, "chars"));
    return "read_output";
}

/* How it is typed. */
static void add_manner(const struct args *args, struct json *params)
{
    static const char *const flags[][2] = {
        {"paste", "paste"}, {"submit", "submit"}, {"wait-keyboard", "wait_keyboard"}, {"steal", "steal"}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (args_has(args, flags[i][0]))
            json_add_bool(params, flags[i][1], true);
}

/* A paste is one piece, however long. */
static int read_whole(struct json *params, struct err *err)
{
    struct buf text;
    buf_init(&text, PASTE_BYTES_MAX);
    int result = input_all(&text, err);
    if (result == 0)
        input_add_chars(params, text.data, text.len);
    buf_fini(&text);
    return result;
}

static int run(struct ue *ue, const char *tool, struct json *params)
{
    return args_has(&ue->args, "raw") ? raw_talk(ue, tool, params) : talk(ue, tool, params);
}

static int with_object(struct ue *ue)
{
    struct err err;
    struct json *params = params_from_args(ue, &err);
    if (!params)
        return ue_fail(ue, &err);
    params_meta(ue, params, META_PLACE | META_ID);
    int status = run(ue, "write_stdin", params);
    json_free(params);
    return status;
}

int verb_WRITE(struct ue *ue)
{
    const struct args *args = &ue->args;
    const char *tool = "write_stdin";
    struct err err = {0};
    int status, result = 0;
    if (args_has(args, "args"))
        return with_object(ue);
    struct json *params = json_object_new();
    json_add_text(params, "session_id", args->operands[0]);
    add_keys(args, params);
    add_manner(args, params);
    params_output(ue, params);
    if (args->operand_count > 1 && strcmp(args->operands[1], "-") == 0 && args_has(args, "paste")) {
        result = read_whole(params, &err);
    } else if (args->operand_count > 1 && strcmp(args->operands[1], "-") == 0) {
        struct buf last = BUF_INIT;
        bool typed = false;
        result = type_ahead(ue, args->operands[0], &last, &typed, &err);
        input_add_chars(params, last.data, last.len);
        tool = tool_for(params, typed, last.len);
        buf_fini(&last);
    } else {
        result = add_literal(args, params, &err);
    }
    if (result < 0) {
        status = talk_fail(ue, params, &err);
    } else {
        params_meta(ue, params, META_VERB | META_WAIT | META_PLACE | META_ID);
        status = run(ue, tool, params);
    }
    json_free(params);
    return status;
}
