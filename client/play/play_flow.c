/* play_flow: the commands that talk to no session: variables, conditions, loops, words to the
 * person. */
#include "base/bug.h"
#include "base/utf8.h"
#include "base/value.h"
#include "client/play/playing.h"
#include "client/print/say.h"
#include <string.h>

enum play_flow play_SET(struct play *play, const struct play_step *step)
{
    play_set(play, play_text(step, 0), step->values[1].data, step->values[1].len);
    return PLAY_NEXT;
}

enum compared { IS_LESS, IS_EQUAL, IS_MORE, IS_NO_NUMBER };

static enum compared play_flow_compare_numbers(const char *a, const char *b)
{
    int64_t left, right;
    if (!value_int(a, INT64_MIN, INT64_MAX, &left) || !value_int(b, INT64_MIN, INT64_MAX, &right))
        return IS_NO_NUMBER;
    return left < right ? IS_LESS : left > right ? IS_MORE : IS_EQUAL;
}

static bool texts_meet(const struct buf *text, const char *operator, const struct buf * part)
{
    const char *a = text->data ? text->data : "", *b = part->data ? part->data : "";
    size_t behind = text->len >= part->len ? text->len - part->len : 0;
    if (part->len > text->len)
        return false;
    if (strcmp(operator, "contains") == 0)
        return part->len == 0 || memmem(a, text->len, b, part->len);
    return memcmp(strcmp(operator, "starts-with") == 0 ? a : a + behind, b, part->len) == 0;
}

/* *truth is set. 0, or an error: a value that should be a number is none. */
static int play_flow_compare(const struct play_step *step, size_t at, bool *truth, struct err *err)
{
    const struct buf *a = &step->values[at], *b = &step->values[at + 2];
    const char *operator= play_text(step, at + 1);
    bool equal = a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
    if (strcmp(operator, "==") == 0 || strcmp(operator, "!=") == 0) {
        *truth = equal == (operator[0] == '=');
        return 0;
    }
    if (operator[0] != '<' && operator[0] != '>') {
        *truth = texts_meet(a, operator, b);
        return 0;
    }
    enum compared order = play_flow_compare_numbers(play_text(step, at), play_text(step, at + 2));
    if (order == IS_NO_NUMBER)
        return err_set(err, ERR_USAGE, "'%.40s %s %.40s': compares numbers, and these are not two",
                       play_text(step, at), operator, play_text(step, at + 2));
    *truth = (operator[0] == '<' && order == IS_LESS) || (operator[0] == '>' && order == IS_MORE) ||
             (operator[1] && order == IS_EQUAL);
    return 0;
}

enum play_flow play_IF(struct play *play, const struct play_step *step)
{
    struct err err = {0};
    size_t negated = step->count == 4;
    bool truth = false;
    if (play_flow_compare(step, negated, &truth, &err) < 0)
        return play_fail_err(play, &err);
    if (truth == !negated)
        return play_nodes(play, step->node->body);
    play->branch = step->node->branch;
    return PLAY_NEXT;
}

/* After a round: whether there is another one. */
static bool goes_round(enum play_flow *flow)
{
    if (*flow == PLAY_NEXT || *flow == PLAY_CONTINUE) {
        *flow = PLAY_NEXT;
        return true;
    }
    if (*flow == PLAY_BREAK)
        *flow = PLAY_NEXT;
    return false;
}

enum play_flow play_REPEAT(struct play *play, const struct play_step *step)
{
    int64_t count = 0;
    enum play_flow flow = PLAY_NEXT;
    value_int(play_text(step, 0), 0, SCRIPT_REPEAT_MAX, &count);
    for (int64_t round = 1; round <= count; round++) {
        if (step->count > 1)
            play_set_number(play, play_text(step, 1), round);
        flow = play_nodes(play, step->node->body);
        if (!goes_round(&flow))
            break;
    }
    return flow;
}

enum play_flow play_EACH(struct play *play, const struct play_step *step)
{
    enum play_flow flow = PLAY_NEXT;
    for (size_t i = 1; i < step->count; i++) {
        play_set(play, play_text(step, 0), step->values[i].data, step->values[i].len);
        flow = play_nodes(play, step->node->body);
        if (!goes_round(&flow))
            break;
    }
    return flow;
}

enum play_flow play_BREAK(struct play *play, const struct play_step *step)
{
    (void)play, (void)step;
    return PLAY_BREAK;
}

enum play_flow play_CONTINUE(struct play *play, const struct play_step *step)
{
    (void)play, (void)step;
    return PLAY_CONTINUE;
}

enum play_flow play_AGAIN(struct play *play, const struct play_step *step)
{
    (void)play, (void)step;
    return PLAY_AGAIN;
}

static void join_values(const struct play_step *step, struct buf *out)
{
    for (size_t i = 0; i < step->count; i++) {
        if (i > 0)
            buf_append_byte(out, ' ');
        buf_append(out, play_text(step, i), step->values[i].len);
    }
}

enum play_flow play_LOG(struct play *play, const struct play_step *step)
{
    struct buf text = BUF_INIT;
    (void)play;
    join_values(step, &text);
    say_aside(text.data ? text.data : "", text.len);
    buf_fini(&text);
    return PLAY_NEXT;
}

/* With reports on standard output the text is in the report, where it can't be taken for one. */
enum play_flow play_PRINT(struct play *play, const struct play_step *step)
{
    struct buf text = BUF_INIT;
    join_values(step, &text);
    if (play->report) {
        json_add_str(play->report, "output", text.data ? text.data : "", text.len);
        buf_fini(&text);
        return PLAY_NEXT;
    }
    buf_append_byte(&text, '\n');
    say_text(text.data, text.len);
    buf_fini(&text);
    return PLAY_NEXT;
}

enum play_flow play_EXIT(struct play *play, const struct play_step *step)
{
    int64_t status = 0;
    if (step->count > 0)
        value_int(play_text(step, 0), 0, 255, &status);
    play->status = (int)status;
    return PLAY_STOP;
}
