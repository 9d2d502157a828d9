/* Tables of ue list: alignment, cutting, escaping, ages. */
#include "base/mem.h"
#include "client/print/render.h"
#include "tests/lib/test.h"
#include <stdlib.h>
#include <string.h>

static const char *const titles[] = {"N", "NAME", "COMMAND"};
static const bool to_the_right[] = {true, false, false};

static struct render_table table_of(const char *number, const char *name, const char *command)
{
    struct render_table table = {.titles = titles, .to_the_right = to_the_right, .column_count = 3};
    struct render_cell *row = render_add_row(&table);
    row[0].text = xstrdup(number);
    row[1].text = name ? xstrdup(name) : NULL;
    row[2].text = xstrdup(command);
    return table;
}

static void assert_people(struct render_table table, size_t width, bool colors, const char *expected)
{
    struct buf out = BUF_INIT;
    render_people(&out, &table, width, colors);
    assert_string_equal(out.data, expected);
    buf_fini(&out);
    render_fini(&table);
}

static void assert_tabs(struct render_table table, const char *expected)
{
    struct buf out = BUF_INIT;
    render_tabs(&out, &table);
    assert_string_equal(out.data, expected);
    buf_fini(&out);
    render_fini(&table);
}

TEST(test_columns_are_aligned)
{
    assert_people(table_of("1000", "shell", "bash"), 0, false, "   N  NAME   COMMAND\n1000  shell  bash\n");
}

TEST(test_missing_is_a_dash)
{
    assert_people(table_of("1", NULL, "x"), 0, false, "N  NAME  COMMAND\n1  -     x\n");
    assert_tabs(table_of("1", NULL, "x"), "1\t-\tx\n");
}

TEST(test_lines_fit_the_terminal)
{
    assert_people(table_of("1", "ab", "0123456789"), 14, false, "N  NAME  COMM\xe2\x80\xa6\n1  ab    0123\xe2\x80\xa6\n");
}

TEST(test_long_name_leaves_room_for_the_others)
{
    assert_people(table_of("1", "a-name-that-is-longer-than-the-line-itself", "0123456789"), 30, false,
                  "N  NAME               COMMAND\n1  a-name-that-is-l\xe2\x80\xa6  0123456\xe2\x80\xa6\n");
    assert_people(table_of("1", "a-name-that-is-longer-than-the-line-itself", "x"), 0, false,
                  "N  NAME                                        COMMAND\n1  a-name-that-is-longer-than-the-line-itself  x\n");
}

TEST(test_spare_columns_make_room_for_the_last_one)
{
    static const size_t spare[] = {0, 1};
    struct render_table table = table_of("1000", NULL, "0123456789abcdefgh");
    table.spare = spare;
    table.spare_count = 2;
    assert_people(table, 28, false, "   N  NAME  COMMAND\n1000  -     0123456789abcde\xe2\x80\xa6\n");
    table = table_of("1000", NULL, "0123456789abcdefgh");
    table.spare = spare;
    table.spare_count = 2;
    assert_people(table, 27, false, "   N  COMMAND\n1000  0123456789abcdefgh\n"); /* the empty one goes first */
    table = table_of("1000", "a", "0123456789abcdefgh");
    table.spare = spare;
    table.spare_count = 2;
    assert_people(table, 24, false, "NAME  COMMAND\na     0123456789abcdefgh\n");
    table = table_of("1000", NULL, "sh"); /* it needs no more */
    table.spare = spare;
    table.spare_count = 2;
    assert_people(table, 19, false, "   N  NAME  COMMAND\n1000  -     sh\n");
}

TEST(test_wide_characters_count_two)
{
    assert_people(table_of("1", "ab", "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2"), 16, false,
                  "N  NAME  COMMAND\n1  ab    \xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe2\x80\xa6\n");
}

TEST(test_control_characters_are_escaped)
{
    assert_tabs(table_of("1", "a", "x\ty\n\033[2J"), "1\ta\tx\\x09y\\x0a\\x1b[2J\n");
    assert_people(table_of("1", "a", "\033]0;t\007"), 0, false, "N  NAME  COMMAND\n1  a     \\x1b]0;t\\x07\n");
}

TEST(test_colors_do_not_count)
{
    struct render_table table = table_of("1", "ab", "c");
    table.cells[1].color = RENDER_GREEN;
    assert_people(table, 0, true, "\033[2mN\033[0m  \033[2mNAME\033[0m  \033[2mCOMMAND\033[0m\n1  \033[32mab\033[0m    c\n");
}

TEST(test_ages)
{
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {{-5, "0s"}, {0, "0s"}, {59999, "59s"}, {60000, "1m"}, {3599999, "59m"}, {3600000, "1h"}, {86400000, "1d"}, {864000000, "10d"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char age[16];
        render_age(rows[i].ms, age);
        assert_string_equal(age, rows[i].text);
    }
}

TEST(test_times)
{
    assert_int_equal(render_time_of("1970-01-01T00:00:01.500Z"), 1500);
    assert_int_equal(render_time_of("2026-08-30T12:00:00.123Z"), INT64_C(1788091200123));
    assert_int_equal(render_time_of("yesterday"), -1);
    assert_int_equal(render_time_of("2026-08-30T12:00:00.123"), -1);
    assert_int_equal(render_time_of(NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_aligned),     cmocka_unit_test(test_missing_is_a_dash),
        cmocka_unit_test(test_lines_fit_the_terminal),  cmocka_unit_test(test_wide_characters_count_two),
        cmocka_unit_test(test_control_characters_are_escaped), cmocka_unit_test(test_colors_do_not_count),
        cmocka_unit_test(test_long_name_leaves_room_for_the_others),
                                       cmocka_unit_test(test_spare_columns_make_room_for_the_last_one), cmocka_unit_test(test_ages),                    cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
