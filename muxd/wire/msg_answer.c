/* msg_answer: the client's reading of the daemon's lines. It ignores fields that a newer daemon may
 * add. */
#include "wire/msg.h"

static int malformed(struct err *err, const char *what)
{
    return err_set(err, ERR_PARSE, "the daemon's answer is no JSON-RPC 2.0: %s", what);
}

static int take_error(struct msg_answer *answer, const struct json *error, struct err *err)
{
    const char *text = json_get_str(error, "message", NULL);
    if (text == NULL)
        return malformed(err, "an error without a message");
    answer->data = json_get(error, "data");
    const char *name = json_get_str(answer->data, "code", NULL);
    err_set(&answer->err, name != NULL ? err_by_name(name) : ERR_INTERNAL, "%s", text);
    return 0;
}

int msg_parse_answer(struct msg_answer *answer, const char *line, size_t size, struct err *err)
{
    *answer = (struct msg_answer){0};
    answer->root = json_parse_with(line, size, JSON_ALLOW_NUL, err);
    if (answer->root == NULL)
        return ERR_PARSE;
    answer->method = json_get_str(answer->root, "method", NULL);
    if (answer->method != NULL) {
        answer->data = json_get(answer->root, "params");
        return 0;
    }
    const struct json *id = json_get(answer->root, "id"), *error = json_get(answer->root, "error");
    if (id == NULL || (json_type(id) != JSON_NULL && !msg_id_from_json(&answer->id, id)))
        return malformed(err, "no usable id");
    if (error != NULL)
        return take_error(answer, error, err);
    answer->result = json_get(answer->root, "result");
    return answer->result != NULL ? 0 : malformed(err, "neither result nor error");
}

void msg_answer_fini(struct msg_answer *answer)
{
    json_free(answer->root);
    *answer = (struct msg_answer){0};
}
