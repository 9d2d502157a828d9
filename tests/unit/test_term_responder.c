/* Each query gets its answer, and what asks nothing, or nothing that is known, gets none. */
#include "tests/lib/test.h"

#include "term/modes.h"
#include "term/responder.h"
#include "wire/pen.h"
#include <stdio.h>
#include <string.h>

static bool size(void *arg, int *rows, int *cols)
{
    (void)arg;
    *rows = 24;
    *cols = 80;
    return true;
}

static bool cursor(void *arg, int *row, int *col)
{
    *row = 3;
    *col = 7;
    return *(const bool *)arg;
}

static void answer_to(struct buf *out, const char *text, bool with_cursor)
{
    struct scan_seq seq;
    struct responder_facts facts = {.size = size, .cursor = cursor, .arg = &with_cursor};
    size_t at = 0;
    while (scan_next(text, strlen(text), &at, &seq))
        if (!modes_apply(&facts.modes, &seq))
            responder_answer(out, &seq, &facts);
}

static void expect(const char *text, const char *answer)
{
    struct buf out = BUF_INIT;
    answer_to(&out, text, true);
    assert_string_equal(out.data ? out.data : "", answer);
    buf_fini(&out);
}

TEST(devices)
{
    expect("\033[c", "\033[?62;22c");
    expect("\033[0c", "\033[?62;22c");
    expect("\033Z", "\033[?62;22c");
    expect("\033[=c", "\033P!|00000000\033\\");
    expect("\033[>q\033[>0q", "\033P>|muxd " MUXD_VERSION "\033\\\033P>|muxd " MUXD_VERSION "\033\\");
    struct buf out = BUF_INIT;
    answer_to(&out, "\033[>c", true);
    assert_memory_equal(out.data, "\033[>1;", 5);
    assert_string_equal(out.data + out.len - 3, ";0c");
    buf_fini(&out);
}

TEST(set_modes)
{
    expect("\033[4$p\033[4h\033[4$p\033[20$p\033[12$p", "\033[4;2$y\033[4;1$y\033[20;2$y\033[12;0$y");
    expect("\033[?3$p\033[?40h\033[?3h\033[?3$p\033[?40$p", "\033[?3;2$y\033[?3;1$y\033[?40;1$y");
}

TEST(status)
{
    struct buf out = BUF_INIT;
    expect("\033[5n", "\033[0n");
    expect("\033[6n", "\033[3;7R");
    expect("\033[?6n", "\033[?3;7R");
    expect("\033[?996n", "\033[?997;1n");
    answer_to(&out, "\033[6n\033[?6n", false);
    assert_int_equal(out.len, 0);
    buf_fini(&out);
}

static bool cell(void *arg, int *height, int *width)
{
    *height = 20;
    *width = 10;
    return *(const bool *)arg;
}

TEST(persons)
{
    static const char queries[] = "\033]10;?;?;?\007\033]4;3;?;4;?;200;?\033\\\033[?996n\033[16t\033[14t\033[?2031$p\033[>q";
    struct profile profile = {.known = 1u << PROFILE_BACKGROUND | 1u << 3, .scheme = PROFILE_LIGHT};
    struct responder_facts facts = {.profile = &profile, .size = size, .cell = cell, .arg = &(bool){true}, .scheme_told = true};
    struct buf out = BUF_INIT;
    struct scan_seq seq;
    profile.colours[PROFILE_BACKGROUND][0] = 0x1234;
    profile.colours[3][2] = 0xffff;
    for (size_t at = 0; scan_next(queries, sizeof queries - 1, &at, &seq);)
        responder_answer(&out, &seq, &facts);
    assert_string_equal(out.data, "\033]10;rgb:e5e5/e5e5/e5e5\007\033]11;rgb:1234/0000/0000\007\033]12;rgb:e5e5/e5e5/e5e5\007"
                                  "\033]4;3;rgb:0000/0000/ffff\033\\\033]4;4;rgb:0000/0000/eeee\033\\\033]4;200;rgb:ffff/0000/d7d7\033\\"
                                  "\033[?997;2n\033[6;20;10t\033[4;480;800t\033[?2031;1$y\033P>|muxd " MUXD_VERSION "\033\\");
    buf_fini(&out);
}

TEST(sizes)
{
    expect("\033[18t", "\033[8;24;80t");
    expect("\033[19t", "\033[9;24;80t");
    expect("\033[14t\033[16t", "\033[4;384;640t\033[6;16;8t");
    expect("\033[21t\033[8;10;10t\033[22;0t\033[t", "");
}

TEST(modes)
{
    expect("\033[?2004$p\033[?2004h\033[?2004$p", "\033[?2004;2$y\033[?2004;1$y");
    expect("\033[?25$p\033[?25l\033[?25$p", "\033[?25;1$y\033[?25;2$y");
    expect("\033[?2048$p\033[?12345$p\033[2$p", "\033[?2048;0$y\033[?12345;0$y\033[2;0$y");
    expect("\033[?$p\033[$p", "");
    expect("\033[?u\033[>5u\033[?u\033[<u\033[?u", "\033[?0u\033[?5u\033[?0u");
    expect("\033[?4m\033[>4;2m\033[?4m\033[?1m", "\033[>4;0m\033[>4;2m");
    expect("\033P$q q\033\\\033[6 q\033P$q q\033\\", "\033P1$r0 q\033\\\033P1$r6 q\033\\");
    expect("\033P$q\"p\033\\\033P$qm\033\\\033P$qr\033\\", "\033P1$r62;1\"p\033\\\033P0$r\033\\\033P0$r\033\\");
}

TEST(colours)
{
    expect("\033]10;?\033\\\033]11;?\007", "\033]10;rgb:e5e5/e5e5/e5e5\033\\\033]11;rgb:0000/0000/0000\007");
    expect("\033]10;?;?;?\007", "\033]10;rgb:e5e5/e5e5/e5e5\007\033]11;rgb:0000/0000/0000\007\033]12;rgb:e5e5/e5e5/e5e5\007");
    expect("\033]10;red;?\007", "\033]11;rgb:0000/0000/0000\007");
    expect("\033]4;1;?\007", "\033]4;1;rgb:cdcd/0000/0000\007");
    expect("\033]4;21;?;255;?\033\\", "\033]4;21;rgb:0000/0000/ffff\033\\\033]4;255;rgb:eeee/eeee/eeee\033\\");
    expect("\033]4;16;red;17;?\007", "\033]4;17;rgb:0000/0000/5f5f\007");
    expect("\033]4;256;?;x;?;;?;1\007\033]4\007\033]4;\007\033]10\007\033]13;?\007\033]11;?x\007\033]\007", "");
    expect("\033]52;c;?\007\033]0;title\007\033]8;;http://x\007\033]133;A\007", "");
}

/* A picture of the screen has the colours that programs are told. */
TEST(one_palette)
{
    assert_int_equal(pen_palette(4), 0x0000ee);
    for (unsigned i = 0; i < 256; i++) {
        char query[32], answer[64];
        unsigned rgb = pen_rgb(COLOR_INDEXED | i, 0);
        assert_int_equal(rgb, pen_palette(i));
        snprintf(query, sizeof query, "\033]4;%u;?\033\\", i);
        snprintf(answer, sizeof answer, "\033]4;%u;rgb:%02x%02x/%02x%02x/%02x%02x\033\\", i, rgb >> 16, rgb >> 16, rgb >> 8 & 255,
                 rgb >> 8 & 255, rgb & 255, rgb & 255);
        expect(query, answer);
    }
}

TEST(all_colours_at_once)
{
    struct buf query = BUF_INIT, out = BUF_INIT;
    buf_append_text(&query, "\033]4");
    for (int i = 0; i < 256; i++)
        buf_printf(&query, ";%d;?", i);
    buf_append_text(&query, ";1;?;2;?\033\\");
    answer_to(&out, query.data, true);
    assert_true(out.len <= RESPONDER_MOST && out.len > 256 * 25);
    assert_non_null(strstr(out.data, "]4;255;"));
    buf_fini(&out);
    buf_init(&out, RESPONDER_MOST - 1); /* too little room: nothing, not a part */
    answer_to(&out, query.data, true);
    assert_int_equal(out.len, 0);
    buf_fini(&out);
    buf_fini(&query);
}

TEST(capabilities)
{
    expect("\033P+q544e\033\\", "\033P1+r544e=787465726D2D323536636F6C6F72\033\\");
    expect("\033P+q436F;524742\033\\", "\033P1+r436F=323536\033\\\033P1+r524742=382F382F38\033\\");
    expect("\033P+q5463;6B75\033\\", "\033P0+r5463\033\\\033P0+r6B75\033\\");
    expect("\033P+q544\033\\", "\033P0+r544\033\\");
    expect("\033P+q00\033\\", "\033P0+r00\033\\");
    expect("\033P+q\033\\\033P+qzz;\r;54\n\033\\\033P+\033\\\033P\033\\", ""); /* never repeats what is no number */
}

TEST(what_asks_nothing_gets_nothing)
{
    expect("text\033[1;31mred\033[0m\033[2J\033[H\033[K\033[?1049h\033(B\033=\033c", "");
    expect("\033[1c\033[>1c\033[?c\033[n\033[7n\033[?5n\033[>0n\033[>1q\033[q\033[x\033[u\033[s\033[$c\033[ c", "");
    expect("\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\\033Xc\033\\", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices), cmocka_unit_test(set_modes), cmocka_unit_test(status), cmocka_unit_test(persons), cmocka_unit_test(sizes), cmocka_unit_test(modes),
        cmocka_unit_test(colours), cmocka_unit_test(all_colours_at_once), cmocka_unit_test(one_palette), cmocka_unit_test(capabilities), cmocka_unit_test(what_asks_nothing_gets_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
