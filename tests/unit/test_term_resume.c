/* term/resume: a fresh screen that is fed what resume_draw gives goes on as the old one does. */
#include "term/render.h"
#include "term/resume.h"
#include "tests/lib/test.h"
#include <stdlib.h>
#include <string.h>

static void feed(struct screen *screen, const char *text, size_t size)
{
    screen_feed(screen, text, size);
}

static void same(const struct screen *a, const struct screen *b)
{
    struct buf left = BUF_INIT, right = BUF_INIT;
    const struct render_options options = {.format = RENDER_ANSI};
    assert_true(render(a, &options, &left) && render(b, &options, &right));
    assert_string_equal(left.data ? left.data : "", right.data ? right.data : "");
    assert_int_equal(screen_hash(a, true), screen_hash(b, true));
    assert_int_equal(screen_is_alternate(a), screen_is_alternate(b));
    assert_string_equal(screen_title(a), screen_title(b));
    assert_int_equal(screen_modes(a)->cursor_visible, screen_modes(b)->cursor_visible);
    assert_int_equal(screen_modes(a)->origin, screen_modes(b)->origin);
    buf_fini(&left);
    buf_fini(&right);
}

static void check(const char *before, size_t before_size, const char *after, size_t after_size)
{
    struct screen *old = screen_new(6, 12, 4096), *fresh = screen_new(6, 12, 4096);
    struct buf out = BUF_INIT;
    feed(old, before, before_size);
    resume_draw(old, &out);
    feed(fresh, out.data, out.len);
    same(old, fresh);
    feed(old, after, after_size);
    feed(fresh, after, after_size);
    same(old, fresh);
    screen_free(old);
    screen_free(fresh);
    buf_fini(&out);
}
#define CHECK(before, after) check(before, sizeof(before) - 1, after, sizeof(after) - 1)

TEST(test_resume)
{
    CHECK("", "hello");
    CHECK("one\r\ntwo\033[31m red", " goes on\r\nx");
    CHECK("\xe4\xbd\xa0\xe5\xa5\xbd e\xcc\x81\033[1;44m\r\nzz", "\xe4\xbd\xa0");
    CHECK("main\r\n$ \033[?1049h\033[2J\033[3;3Hvim\033[?25l", "\033[1;1Hx\033[?25h\033[?1049l ls\r\n");
    CHECK("a\r\nb\r\nc\r\nd\r\ne\r\nf\033[2;4r\033[4;1H", "\r\n1\r\n2\r\n3\033[r");
    CHECK("\033[2;4r\033[?6h\033[2;2H", "x\033[1;1Hy\033[?6l");
    CHECK("abc\033[3;3H\033[32m\0337\033[m\033[H", "x\0338y");
    CHECK("\033(0qqq", "x\033(By");
    CHECK("\033)0\016lqk", "x\017y");
    CHECK("\033[4habc\033[1;1H", "x");
    CHECK("\033[?7l", "0123456789abcdefgh");
    CHECK("\033]2;a title\007", "x");
    CHECK("\033[2;1H\033[31m012345678901\033[m", "x"); /* a wrap that is pending, */
    CHECK("0123456789\xe4\xbd\xa0\033(0", "x");
    CHECK("0123456789\xe4\xbd\xa0\0337\033[H", "\0338x"); /* or was when the cursor was saved */
    CHECK("012345678901\033[?1049h\033[3;3H", "y\033[?1049lx");
    CHECK("012345678901\r\n\033[6;1Hlast line!!", "\r\nx");
}

/* Anything that programs may write, in random order. */
TEST(test_random)
{
    static const char *const pool[] = {"abc", "\r\n", "\xe4\xbd\xa0", "\033[2;5r", "\033[r", "\033[31m", "\033[m", "\033[44m", "\033[3;4H", "\033[K",
                                       "\033[2J", "\033[L", "\033[M", "\033[2P", "\033[2@", "\033M", "\033[?1049h", "\033[?1049l", "\033(0", "\033(B",
                                       "\t", "\033[?25l", "\033[?25h", "xyz", "\033[?7l", "\033[?7h", "\033[6;12H"};
    unsigned seed = 12345;
    for (int round = 0; round < 300; round++) {
        struct buf before = BUF_INIT, after = BUF_INIT;
        for (int i = 0; i < 60; i++) {
            seed = seed * 1103515245u + 12345u;
            buf_append_text(i < 40 ? &before : &after, pool[(seed >> 16) % (sizeof pool / sizeof *pool)]);
        }
        check(before.data, before.len, after.data, after.len);
        buf_fini(&before);
        buf_fini(&after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_resume), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
