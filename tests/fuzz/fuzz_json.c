/* Any bytes as JSON. What is taken prints to a line that reads back equal, and prints the same again; all of it also as a
 * request and as an answer. */
#include "base/utf8.h"
#include "wire/json.h"
#include "wire/msg.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_value(const char *text, size_t size, enum json_flags flags)
{
    struct err err = {0};
    struct json *value = json_parse_with(text, size, flags, &err);
    if (value == NULL) {
        if (err.code != ERR_PARSE || err.text[0] == '\0' || !utf8_valid(err.text, strlen(err.text)))
            abort();
        return;
    }
    struct buf out = BUF_INIT, second = BUF_INIT;
    if (!json_print(&out, value) || memchr(out.data, '\n', out.len) != NULL || !utf8_valid(out.data, out.len))
        abort();
    struct json *again = json_parse_with(out.data, out.len, flags, &err);
    if (again == NULL || !json_equal(value, again))
        abort();
    struct json *copy = json_copy(again);
    if (!json_print(&second, copy) || second.len != out.len || memcmp(second.data, out.data, out.len) != 0)
        abort();
    json_free(copy);
    json_free(again);
    json_free(value);
    buf_fini(&out);
    buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct err err = {0};
    check_value(text, size, JSON_STRICT);
    check_value(text, size, JSON_ALLOW_NUL);
    struct msg msg;
    if (msg_parse(&msg, text, size, &err) == 0 && (msg.method == NULL || json_type(msg.params) != JSON_OBJECT))
        abort();
    struct buf reply = BUF_INIT;
    struct msg_answer answer;
    if (err.code != 0 && (!msg_error(&reply, &msg.id, &err, NULL) || msg_parse_answer(&answer, reply.data, reply.len, &err) != 0))
        abort();
    if (reply.len > 0) {
        if (!msg_id_equal(&answer.id, &msg.id))
            abort();
        msg_answer_fini(&answer);
    }
    buf_fini(&reply);
    msg_fini(&msg);
    msg_parse_answer(&answer, text, size, &err);
    msg_answer_fini(&answer);
    return 0;
}
