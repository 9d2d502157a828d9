/* msg: request lines in, reply lines out, and back again as the client reads them. */
#include "base/mem.h"
#include "tests/lib/test.h"
#include "wire/msg.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(struct msg *msg, const char *line, struct err *err)
{
    *err = (struct err){0};
    return msg_parse(msg, line, strlen(line), err);
}

TEST(test_good_requests)
{
    struct msg msg;
    struct err err;
    assert_int_equal(parse(&msg, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"status\"}", &err), 0);
    assert_int_equal(msg.id.kind, MSG_ID_NUMBER);
    assert_int_equal(msg.id.number, 7);
    assert_string_equal(msg.method, "status");
    assert_int_equal(json_type(msg.params), JSON_OBJECT);
    assert_false(msg.notification);
    msg_fini(&msg);
    assert_int_equal(parse(&msg, "{\"params\":{\"a\":1,\"_meta\":{}},\"method\":\"x\",\"id\":\"u-1\",\"jsonrpc\":\"2.0\"}", &err), 0);
    assert_int_equal(msg.id.kind, MSG_ID_STRING);
    assert_string_equal(msg.id.text, "u-1");
    assert_int_equal(json_count(msg.params), 2);
    msg_fini(&msg);
    assert_int_equal(parse(&msg, "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", &err), 0);
    assert_true(msg.notification);
    assert_int_equal(msg.id.kind, MSG_ID_NONE);
    msg_fini(&msg);
}

/* Whoever waits for an answer under that id gets one, though the line is no strict JSON. */
TEST(test_id_of_a_line_that_can_not_be_read)
{
    static const struct {
        const char *line;
        int64_t number; /* 0: no number */
        const char *text;
    } cases[] = {
        {"{\"id\":7,\"params\":{\"cmd\":1,\"cmd\":2}}", 7, NULL},
        {"{\"params\":{\"id\":5,\"a\":[{\"id\":6}],\"b\":\"\\u0000\\\"\"} , \"id\" : -7 } x", -7, NULL},
        {"{\"a\":\"\\\"id\\\":9,\",\"id\":\"u-1\",\"x\":01}", 0, "u-1"},
        {"{\"id\":\"\",\"x\":}", 0, ""},
        {"{\"id\":9007199254740992,", 9007199254740992, NULL},
        {"{\"id\":7,\"x\":\"\xff\"}", 7, NULL},
        {"{\"id\":9007199254740993,", 0, NULL},
        {"{\"id\":99999999999999999999,", 0, NULL},
        {"{\"id\":7,\"id\":7}", 0, NULL}, /* which one is meant can't be told */
        {"{\"id\":7", 0, NULL},           /* the number may go on */
        {"{\"id\":\"u", 0, NULL},
        {"{\"id\":7.5,}", 0, NULL},
        {"{\"id\":\"\\u0041\",}", 0, NULL},
        {"{\"id\":\"\xff\",}", 0, NULL},
        {"{\"id\":\"\t\",}", 0, NULL},
        {"{\"id\":-,}", 0, NULL},
        {"{\"id\":,}", 0, NULL},
        {"{\"id\":", 0, NULL},
        {"{\"id\"", 0, NULL},
        {"{\"idx\":7,}", 0, NULL},
        {"[{\"id\":7,}]", 0, NULL},
        {"\"id\":7,", 0, NULL},
        {"{\"a\\", 0, NULL},
        {"", 0, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msg_id id;
        size_t size = strlen(cases[i].line);
        char *exact = xmemdup(cases[i].line, size); /* a sanitizer sees each byte read behind it */
        msg_id_find(&id, exact, size);
        enum msg_id_kind kind = cases[i].number ? MSG_ID_NUMBER : cases[i].text ? MSG_ID_STRING : MSG_ID_NONE;
        if (id.kind != kind)
            fail_msg("'%s': kind %d", cases[i].line, (int)id.kind);
        if (kind == MSG_ID_NUMBER)
            assert_int_equal(id.number, cases[i].number);
        if (kind == MSG_ID_STRING)
            assert_string_equal(id.text, cases[i].text);
        free(exact);
    }
}

TEST(test_bad_requests)
{
    static const struct {
        const char *line, *why;
        int code;
        int64_t id; /* what is known of it; 0: nothing */
    } cases[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x\"", "at byte", ERR_PARSE, 7},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"id\":8,\"method\":\"x\"}", "duplicate field `id`", ERR_PARSE, 0},
        {"[]", "batches", ERR_INVALID_REQUEST, 0},
        {"5", "must be an object", ERR_INVALID_REQUEST, 0},
        {"{}", "`jsonrpc`", ERR_INVALID_REQUEST, 0},
        {"{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"x\"}", "`jsonrpc`", ERR_INVALID_REQUEST, 7},
        {"{\"jsonrpc\":2.0,\"id\":7,\"method\":\"x\"}", "`jsonrpc`", ERR_INVALID_REQUEST, 7},
        {"{\"jsonrpc\":\"2.0\",\"id\":7}", "`method`", ERR_INVALID_REQUEST, 7},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}", "`method`", ERR_INVALID_REQUEST, 7},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\"}", "`method`", ERR_INVALID_REQUEST, 7},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x\",\"params\":[1]}", "`params`", ERR_INVALID_REQUEST, 7},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x\",\"params\":null}", "`params`", ERR_INVALID_REQUEST, 7},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x\",\"param\":{}}", "\"param\"", ERR_INVALID_REQUEST, 7},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}", "`id`", ERR_INVALID_REQUEST, 0},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}", "`id`", ERR_INVALID_REQUEST, 0},
        {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}", "`id`", ERR_INVALID_REQUEST, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msg msg;
        struct err err;
        assert_int_equal(parse(&msg, cases[i].line, &err), cases[i].code);
        assert_int_equal(err.code, cases[i].code);
        if (strstr(err.text, cases[i].why) == NULL)
            fail_msg("'%s' refused with '%s'", cases[i].line, err.text);
        assert_int_equal(msg.id.kind, cases[i].id ? MSG_ID_NUMBER : MSG_ID_NONE);
        assert_int_equal(msg.id.number, cases[i].id);
        msg_fini(&msg);
    }
}

TEST(test_long_id_is_refused)
{
    char line[400], id[130];
    struct msg msg;
    struct err err;
    memset(id, 'i', sizeof(id));
    for (int len = 128; len <= 129; len++) {
        snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":\"%.*s\",\"method\":\"x\"}", len, id);
        assert_int_equal(parse(&msg, line, &err), len == 128 ? 0 : ERR_INVALID_REQUEST);
        msg_fini(&msg);
    }
}

TEST(test_replies)
{
    struct buf out = BUF_INIT;
    struct msg_id id = {.kind = MSG_ID_STRING, .text = "a\"b"};
    struct json *result = json_object_new();
    json_add_str(result, "output", "x\0y\n", 4);
    assert_true(msg_reply(&out, &id, result));
    assert_string_equal(out.data, "{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"result\":{\"output\":\"x\\u0000y\\n\"}}\n");
    struct msg_answer answer;
    struct err err = {0};
    assert_int_equal(msg_parse_answer(&answer, out.data, out.len, &err), 0);
    assert_true(msg_id_equal(&answer.id, &id));
    assert_int_equal(answer.err.code, 0);
    assert_true(json_equal(answer.result, result));
    msg_answer_fini(&answer);
    json_free(result);
    buf_fini(&out);
}

TEST(test_errors)
{
    struct buf out = BUF_INIT;
    struct err sent = {0}, err = {0};
    struct msg_id nobody = {.kind = MSG_ID_NONE};
    struct json *more = json_object_new();
    json_add_int(more, "free", 12);
    json_add_text(more, "code", "not taken");
    err_set(&sent, ERR_INPUT_FULL, "'py': no room");
    assert_true(msg_error(&out, &nobody, &sent, more));
    assert_string_equal(out.data, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32006,\"message\":\"'py': no room\","
                                  "\"data\":{\"code\":\"input_full\",\"free\":12}}}\n");
    struct msg_answer answer;
    assert_int_equal(msg_parse_answer(&answer, out.data, out.len, &err), 0);
    assert_int_equal(answer.id.kind, MSG_ID_NONE);
    assert_int_equal(answer.err.code, ERR_INPUT_FULL);
    assert_string_equal(answer.err.text, "'py': no room");
    int64_t room = 0;
    assert_true(json_get_int(answer.data, "free", &room) && room == 12);
    assert_null(answer.result);
    msg_answer_fini(&answer);
    json_free(more);
    buf_fini(&out);
}

TEST(test_answers_are_read_leniently)
{
    struct msg_answer answer;
    struct err err = {0};
    static const char future[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":5,\"later\":{}}";
    assert_int_equal(msg_parse_answer(&answer, future, sizeof(future) - 1, &err), 0);
    msg_answer_fini(&answer);
    static const char unknown[] = "{\"id\":1,\"error\":{\"code\":-1,\"message\":\"m\",\"data\":{\"code\":\"of_the_future\"}}}";
    assert_int_equal(msg_parse_answer(&answer, unknown, sizeof(unknown) - 1, &err), 0);
    assert_int_equal(answer.err.code, ERR_INTERNAL);
    assert_string_equal(answer.err.text, "m");
    msg_answer_fini(&answer);
    static const char event[] = "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"x\":1}}";
    assert_int_equal(msg_parse_answer(&answer, event, sizeof(event) - 1, &err), 0);
    assert_string_equal(answer.method, "event");
    assert_non_null(answer.data);
    msg_answer_fini(&answer);
    static const char *const broken[] = {"", "{", "{}", "[]",
                                         "{\"id\":1}", "{\"result\":1}", "{\"id\":1,\"error\":{}}", "{\"id\":[],\"result\":1}"};
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        assert_int_equal(msg_parse_answer(&answer, broken[i], strlen(broken[i]), &err), ERR_PARSE);
        msg_answer_fini(&answer);
    }
}

TEST(test_requests_of_the_client)
{
    struct buf out = BUF_INIT;
    struct json *params = json_object_new();
    json_add_text(params, "cmd", "ls");
    assert_true(msg_request(&out, 3, "exec_command", params));
    struct msg msg;
    struct err err = {0};
    assert_int_equal(msg_parse(&msg, out.data, out.len - 1, &err), 0);
    assert_int_equal(msg.id.number, 3);
    assert_string_equal(msg.method, "exec_command");
    assert_true(json_equal(msg.params, params));
    msg_fini(&msg);
    buf_clear(&out);
    assert_true(msg_notification(&out, "note", NULL));
    assert_string_equal(out.data, "{\"jsonrpc\":\"2.0\",\"method\":\"note\"}\n");
    json_free(params);
    buf_fini(&out);
}

TEST(test_a_full_buffer_keeps_whole_lines)
{
    struct buf out;
    buf_init(&out, 90); /* the second reply fits only in part */
    struct msg_id id = {.kind = MSG_ID_NUMBER, .number = 1};
    struct json *result = json_string_new("0123456789", 10);
    assert_true(msg_reply(&out, &id, result));
    size_t len = out.len;
    assert_false(msg_reply(&out, &id, result));
    assert_int_equal(out.len, len);
    assert_int_equal(out.data[len - 1], '\n');
    json_free(result);
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_requests),
        cmocka_unit_test(test_bad_requests),
        cmocka_unit_test(test_id_of_a_line_that_can_not_be_read),
        cmocka_unit_test(test_long_id_is_refused),
        cmocka_unit_test(test_replies),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_answers_are_read_leniently),
        cmocka_unit_test(test_requests_of_the_client),
        cmocka_unit_test(test_a_full_buffer_keeps_whole_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
