/* write: `ue write`: types characters, keys or all of standard input into a session, and prints the
 * answer. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/value.h"
#include "client/rpc/input.h"
#include "client/rpc/talk.h"
#include "client/rpc/typing.h"
#include "client/verbs/run.h"
#include <stdlib.h>
#include <string.h>

#define PASTE_BYTES_MAX (4u << 20)
#define PATIENCE_MS 5000 /* least wait for room between two pieces */

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
        err_set(err, ERR_USAGE, "'%.8s': no C escape; write \\\\ for a backslash, or leave out -e",
                bad);
    else
        input_add_chars(params, decoded, (size_t)len);
    free(decoded);
    return len < 0 ? ERR_USAGE : 0;
}

/* Types standard input in pieces, except the last one, which is left for the request that waits. */
static int type_ahead(struct ue *ue, const char *session, struct buf *last, bool *typed,
                      struct err *err)
{
    struct json *id = json_string_new(session, strlen(session));
    int64_t patience_ms = args_int(&ue->args, "yield", 0);
    struct typing typing = {.ue = ue,
                            .session = id,
                            .patience_ms = patience_ms > PATIENCE_MS ? patience_ms : PATIENCE_MS};
    struct buf next = BUF_INIT;
    bool ended = false;
    BUG_UNLESS(last->len == 0);
    int result = input_piece(last, &ended, err);
    while (result == 0 && !ended) {
        if (last->len < INPUT_PIECE_BYTES) { /* a pause: what follows may take long */
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
    if (result == 0 && last->len > most) { /* the last piece has to fit one request */
        result = typing_send(&typing, last->data, last->len - most, false, err);
        buf_consume(last, last->len - most);
    }
    buf_fini(&next);
    json_free(id);
    *typed = typing.typed > 0;
    ue->patience_ms = *typed ? typing.patience_ms : 0;
    return result;
}

/* When all input was typed ahead, only the wait is left, which is read_output's. */
static const char *tool_for(struct json *params, bool typed_ahead, size_t left)
{
    static const char *const typing[] = {"chars", "wait_keyboard", "steal"};
    if (!typed_ahead || left > 0 || json_get(params, "keys") || json_get(params, "submit"))
        return "write_stdin";
    for (size_t i = 0; i < sizeof typing / sizeof *typing; i++)
        json_free(json_detach(params, typing[i]));
    return "read_output";
}

/* A paste is typed in one request. */
static int write_read_whole(struct json *params, struct err *err)
{
    struct buf text;
    buf_init(&text, PASTE_BYTES_MAX);
    int result = input_all(&text, err);
    if (result == 0)
        input_add_chars(params, text.data, text.len);
    buf_fini(&text);
    return result;
}

static int type_input(struct ue *ue, struct json *params, const char **tool, struct err *err)
{
    struct buf last = BUF_INIT;
    bool typed = false;
    int result = type_ahead(ue, ue->args.operands[0], &last, &typed, err);
    input_add_chars(params, last.data, last.len);
    *tool = tool_for(params, typed, last.len);
    buf_fini(&last);
    return result;
}

/* Adds CHARS, or standard input for "-". *tool: the tool that does the rest. */
static int add_chars(struct ue *ue, struct json *params, const char **tool, struct err *err)
{
    const struct args *args = &ue->args;
    if (args_has(args, "args"))
        return 0;
    if (args->operand_count < 2 || strcmp(args->operands[1], "-") != 0)
        return add_literal(args, params, err);
    return args_has(args, "paste") ? write_read_whole(params, err)
                                   : type_input(ue, params, tool, err);
}

int verb_WRITE(struct ue *ue)
{
    struct err err = {0};
    const char *tool = "write_stdin";
    struct json *params = run_params(ue, &(struct run){.meta = META_PLACE | META_ID}, &err);
    int status;
    if (!params)
        return ue_fail(ue, &err);
    ue->conn.shows_person = args_has(&ue->args, "steal");
    if (add_chars(ue, params, &tool, &err) < 0)
        status = talk_fail(ue, params, &err);
    else
        status = talk(ue, tool, params, typing_ask);
    json_free(params);
    return status;
}
