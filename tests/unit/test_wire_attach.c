/* The frames of an attached connection. */
#include "tests/lib/test.h"

#include "wire/attach.h"
#include <stdlib.h>
#include <string.h>

TEST(test_there_and_back)
{
    struct buf out = BUF_INIT;
    struct attach_frame frame;
    char *large = calloc(1, ATTACH_PAYLOAD_MAX);
    assert_true(attach_append(&out, ATTACH_INPUT, "abc", 3));
    assert_true(attach_append(&out, ATTACH_REDRAW, NULL, 0));
    assert_true(attach_append(&out, ATTACH_OUTPUT, large, ATTACH_PAYLOAD_MAX));
    assert_memory_equal(out.data, "i\3\0\0\0abc", 8);
    for (size_t size = 0; size < 8; size++)
        assert_int_equal(attach_next(out.data, size, &frame), 0);
    assert_int_equal(attach_next(out.data, out.len, &frame), 8);
    assert_int_equal(frame.type, ATTACH_INPUT);
    assert_memory_equal(frame.data, "abc", frame.size);
    assert_int_equal(attach_next(out.data + 8, out.len - 8, &frame), 5);
    assert_int_equal(frame.size, 0);
    assert_int_equal(attach_next(out.data + 13, out.len - 13, &frame), ATTACH_HEADER + ATTACH_PAYLOAD_MAX);
    assert_int_equal(attach_next("i\1\0\4\0", 5, &frame), -1);
    assert_int_equal(attach_next("i\377\377\377\377", 5, &frame), -1);
    free(large);
    buf_fini(&out);
    buf_init(&out, 4);
    assert_false(attach_append(&out, ATTACH_REDRAW, NULL, 0));
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_there_and_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
