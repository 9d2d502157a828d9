/* raw_answer: owns the form of an answer of exact bytes: how it is asked for and printed, with
 * standard error apart in pipe sessions. */
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "client/rpc/talk.h"
#include "wire/base64.h"
#include <inttypes.h>

#define ANSWER_BYTES (1 << 20) /* max_bytes of an answer */

void raw_ask(struct json *params)
{
    params_set(params, "encoding", json_string_new("base64", 6));
    params_set(params, "max_bytes", json_int_new(ANSWER_BYTES));
    params_set(params, "streams", json_bool_new(true));
}

/* The offset, at most `to`, where the stream of the byte at `at` changes; *to_stderr says which
 * stream that is. */
static int64_t end_of_stream(const struct json *ranges, int64_t at, int64_t to, bool *to_stderr)
{
    *to_stderr = false;
    for (const struct json *it = json_first(ranges); it; it = json_next(it)) {
        int64_t from, until;
        if (!json_int(json_first(it), &from) || !json_int(json_next(json_first(it)), &until) ||
            until <= at)
            continue;
        *to_stderr = from <= at;
        int64_t end = from <= at ? until : from;
        return end < to ? end : to;
    }
    return to;
}

bool raw_print(const struct json *result)
{
    size_t len = 0;
    int64_t to = 0, omitted = 0;
    struct buf bytes = BUF_INIT;
    const char *encoded = json_get_str(result, "output_base64", &len);
    /* the command was a patch: there is no session, only the text of apply_patch */
    if (!encoded) {
        const char *text = json_get_str(result, "output", &len);
        say_out(text ? text : "", text ? len : 0);
        return true;
    }
    if (!base64_decode(&bytes, encoded, len))
        say_note("'%s': its output can't be decoded; the daemon speaks another protocol",
                 json_get_str(result, "name", NULL));
    json_get_int(result, "to", &to);
    if (json_get_int(result, "omitted_bytes", &omitted) && omitted > 0)
        say_note("'%s': %" PRId64
                 " bytes of its output are no longer kept; read sooner or raise [limits] journal",
                 json_get_str(result, "name", NULL), omitted);
    const struct json *ranges = json_get(result, "stderr_ranges");
    int64_t begin = to - (int64_t)bytes.len;
    for (int64_t at = begin; at < to;) {
        bool to_stderr;
        int64_t end = end_of_stream(ranges, at, to, &to_stderr);
        (to_stderr ? say_stderr_bytes : say_out)(bytes.data + (at - begin), (size_t)(end - at));
        at = end;
    }
    buf_fini(&bytes);
    return omitted == 0;
}

int raw_status(const struct ue *ue, int status)
{
    return status == 0 && ue->lost && ue->args.verb == &verbs[VERB_EXEC] ? UE_FAILED : status;
}

bool raw_is_full(const struct json *result)
{
    int64_t from = 0, to = 0, omitted = 0;
    json_get_int(result, "from", &from);
    json_get_int(result, "to", &to);
    json_get_int(result, "omitted_bytes", &omitted);
    return to - from - omitted >= ANSWER_BYTES;
}
