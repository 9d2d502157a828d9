/* play_output: the commands that wait for a session's output: expect with its alternatives,
 * capture, wait, fail-on, skip. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/value.h"
#include "client/play/play_watch.h"
#include "client/rpc/params.h"
#include <stdlib.h>
#include <string.h>

int play_timeout_of(struct play *play, const struct script_node *node, int64_t *ms, struct err *err)
{
    const struct script_given *given = script_option(node, "timeout", NULL);
    struct buf text = BUF_INIT;
    *ms = play->timeout_ms;
    int code = given ? play_expand(play, &given->value, &text, err) : 0;
    if (given && code == 0)
        code = script_check_option("timeout", text.data ? text.data : "", err);
    if (given && code == 0)
        value_ms(text.data, ms);
    buf_fini(&text);
    return code;
}

static int watch_of_wait(const struct play_step *step, struct play_watch *watch, struct err *err)
{
    const char *what = play_text(step, 0);
    if (strcmp(what, "ready") == 0)
        watch->ready = true;
    else if (strcmp(what, "exit") == 0)
        watch->exit = true;
    else if (!value_ms(play_text(step, 1), &watch->quiet_ms) || watch->quiet_ms < 1)
        return err_set(err, ERR_USAGE, "'%s': no silence; give at least 1ms", play_text(step, 1));
    return 0;
}

int play_watch_of(struct play *play, const struct play_step *step, struct play_watch *watch,
                  struct err *err)
{
    *watch = (struct play_watch){0};
    int code = play_timeout_of(play, step->node, &watch->timeout_ms, err);
    if (code < 0)
        return code;
    if (step->node->id == SCRIPT_WAIT)
        return watch_of_wait(step, watch, err);
    watch->patterns[watch->pattern_count++] =
        &step->values[step->node->id == SCRIPT_CAPTURE ? 1 : 0];
    return 0;
}

/* A wait without alternatives: it comes true, or the script ends. */
static enum play_flow watch_one(struct play *play, const struct play_step *step)
{
    struct err err = {0};
    struct play_watch watch;
    struct play_seen seen;
    if (play_watch_of(play, step, &watch, &err) < 0 ||
        play_watch(play, step->session, &watch, &seen, &err) < 0)
        return play_fail_err(play, &err);
    enum play_reason wanted = watch.ready          ? PLAY_READY
                              : watch.exit         ? PLAY_ENDED
                              : watch.quiet_ms > 0 ? PLAY_QUIET
                                                   : PLAY_MATCHED;
    return seen.reason == wanted ? PLAY_NEXT : play_not_true(play, step->session, &seen, &watch);
}

enum play_flow play_CAPTURE(struct play *play, const struct play_step *step)
{
    enum play_flow flow = watch_one(play, step);
    if (flow == PLAY_NEXT)
        play_set_captured(play, play_text(step, 0));
    return flow;
}

enum play_flow play_WAIT(struct play *play, const struct play_step *step)
{
    return watch_one(play, step);
}

enum play_flow play_FAIL_ON(struct play *play, const struct play_step *step)
{
    (void)play;
    struct json *list = step->count > 0 ? json_array_new() : NULL;
    for (size_t i = 0; i < step->count; i++)
        json_add_str(list, NULL, play_text(step, i), step->values[i].len);
    json_free(step->session->fail_on);
    step->session->fail_on = list;
    return PLAY_NEXT;
}

enum play_flow play_SKIP(struct play *play, const struct play_step *step)
{
    struct err err = {0};
    struct play_seen seen;
    const struct play_watch nothing = {.quiet_ms = 0};
    struct played *session = step->session;
    struct json *fail_on = session->fail_on; /* what is skipped can't fail */
    session->fail_on = NULL;
    int code = play_watch(play, session, &nothing, &seen, &err);
    session->fail_on = fail_on;
    if (code < 0)
        return play_fail_err(play, &err);
    session->place = seen.to > session->place ? seen.to : session->place;
    return PLAY_NEXT;
}

enum play_flow play_TIMEOUT(struct play *play, const struct play_step *step)
{
    value_ms(play_text(step, 0), &play->timeout_ms);
    return PLAY_NEXT;
}

/* expect with alternatives. */

struct arms {
    struct buf texts[SCRIPT_ARMS_MAX];
    const struct script_node *of_pattern[SCRIPT_ARMS_MAX], *on_quiet, *on_exit, *on_timeout;
    struct play_watch watch;
};

static int add_arm(struct play *play, struct arms *arms, const struct script_node *arm,
                   struct err *err)
{
    if (arm->id == SCRIPT_ON_EXIT)
        arms->on_exit = arm;
    else if (arm->id == SCRIPT_ON_TIMEOUT)
        arms->on_timeout = arm;
    if (arm->id != SCRIPT_ON && arm->id != SCRIPT_ON_QUIET)
        return 0;
    struct buf text;
    buf_init(&text, PLAY_VALUE_MAX);
    int code = play_expand(play, &arm->words[0], &text, err);
    if (code == 0 && arm->id == SCRIPT_ON_QUIET) {
        const char *value = text.data ? text.data : "";
        arms->on_quiet = arm;
        code = script_check_values(arm->id, &value, 1, err);
        if (code == 0 && (!value_ms(value, &arms->watch.quiet_ms) || arms->watch.quiet_ms < 1))
            code = err_set(err, ERR_USAGE, "'%s': no silence; give at least 1ms", value);
        buf_fini(&text);
    } else {
        size_t at = arms->watch.pattern_count++;
        BUG_UNLESS(at < SCRIPT_ARMS_MAX);
        arms->texts[at] = text;
        arms->watch.patterns[at] = &arms->texts[at];
        arms->of_pattern[at] = arm;
    }
    return code;
}

static int arms_read(struct play *play, struct arms *arms, const struct script_node *node,
                     struct err *err)
{
    int code = play_timeout_of(play, node, &arms->watch.timeout_ms, err);
    for (const struct script_node *arm = node->body; code == 0 && arm; arm = arm->next)
        code = add_arm(play, arms, arm, err);
    arms->watch.exit = arms->watch.pattern_count == 0 && arms->watch.quiet_ms == 0;
    return code;
}

static void arms_fini(struct arms *arms)
{
    for (size_t i = 0; i < arms->watch.pattern_count; i++)
        buf_fini(&arms->texts[i]);
}

/* The alternative that came true; NULL: none has been asked for. */
static const struct script_node *arm_of(const struct arms *arms, const struct play_seen *seen)
{
    switch (seen->reason) {
    case PLAY_MATCHED:
        return seen->which < arms->watch.pattern_count ? arms->of_pattern[seen->which] : NULL;
    case PLAY_QUIET: return arms->on_quiet;
    case PLAY_ENDED: return arms->on_exit;
    case PLAY_LATE: return arms->on_timeout;
    default: return NULL;
    }
}

/* One wait and what stands behind the alternative that came true. */
static enum play_flow expect_once(struct play *play, size_t session_at,
                                  const struct script_node *node, bool first)
{
    struct arms arms = {0};
    struct err err = {0};
    struct play_seen seen = {0};
    enum play_flow flow = PLAY_NEXT;
    struct played *session = &play->sessions[session_at];
    const struct script_node *arm = NULL;
    play->node = node;
    if (!first)
        play_report_begin(play, &(struct play_step){.node = node, .session = session});
    if (arms_read(play, &arms, node, &err) < 0 ||
        play_watch(play, session, &arms.watch, &seen, &err) < 0)
        flow = play_fail_err(play, &err);
    else if (!(arm = arm_of(&arms, &seen)))
        flow = play_not_true(play, session, &seen, &arms.watch);
    arms_fini(&arms);
    play_report_end(play);
    return arm ? play_nodes(play, arm->body) : flow;
}

static enum play_flow expect_arms(struct play *play, const struct play_step *step)
{
    size_t at = (size_t)(step->session - play->sessions);
    enum play_flow flow = PLAY_AGAIN;
    for (int round = 0; flow == PLAY_AGAIN; round++) {
        if (round == SCRIPT_AGAIN_MAX)
            return play_fail(play, UE_FAILED, "'again' came %d times", SCRIPT_AGAIN_MAX);
        flow = expect_once(play, at, step->node, round == 0);
    }
    return flow;
}

enum play_flow play_EXPECT(struct play *play, const struct play_step *step)
{
    if (step->node->has_block)
        return expect_arms(play, step);
    return watch_one(play, step);
}
