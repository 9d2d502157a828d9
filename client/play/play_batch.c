/* play_batch: owns the commands that the daemon can do by itself, one after the other: a dialogue
 * of one session whose words are known before it begins. They are the steps of one run_steps call,
 * which a restart of the daemon repeats without typing anything twice. */
#include "base/bug.h"
#include "base/value.h"
#include "client/play/play_watch.h"
#include "client/rpc/input.h"
#include "client/rpc/params.h"
#include <stdlib.h>
#include <string.h>

#define BATCH_MAX 32   /* the daemon remembers the ids of 64 writes of a session */
#define TYPED_MAX 4096 /* bytes of a text; a longer one goes in pieces */

struct batch {
    struct play *play;
    struct played *session;
    const struct script_node *nodes[BATCH_MAX];
    struct play_step steps[BATCH_MAX];
    struct play_watch watches[BATCH_MAX]; /* of the commands that wait */
    size_t count;
    struct json *list; /* the steps on the wire; one a command */
};

static bool is_batchable(const struct script_node *node)
{
    switch (node->id) {
    case SCRIPT_SEND:
    case SCRIPT_LINE:
    case SCRIPT_KEYS:
    case SCRIPT_CAPTURE:
    case SCRIPT_WAIT: return true;
    case SCRIPT_EXPECT: return !node->has_block;
    default: return false;
    }
}

/* A variable that a command of the batch sets is not known yet. */
static bool is_set_inside(const struct batch *batch, const char *name)
{
    static const char *const by_waits[] = {"match", "before", "status", "reason"};
    for (size_t i = 0; i < sizeof by_waits / sizeof *by_waits; i++)
        if (strcmp(name, by_waits[i]) == 0)
            return true;
    if (strncmp(name, "match.", 6) == 0)
        return true;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->nodes[i]->id == SCRIPT_CAPTURE &&
            strcmp(script_literal(&batch->nodes[i]->words[0]), name) == 0)
            return true;
    return false;
}

static bool word_is_known(const struct batch *batch, const struct script_word *word)
{
    for (size_t i = 0; i < word->count; i++)
        if (word->parts[i].variable && is_set_inside(batch, word->parts[i].text))
            return false;
    return true;
}

static bool is_known(const struct batch *batch, const struct script_node *node)
{
    bool known = word_is_known(batch, &node->session);
    for (size_t i = 0; i < node->count; i++)
        known = known && word_is_known(batch, &node->words[i]);
    for (size_t i = 0; i < node->option_count; i++)
        known = known && word_is_known(batch, &node->options[i].value);
    return known;
}

static bool add_typed(struct batch *batch, const struct play_step *step)
{
    const struct buf *text = step->count > 0 ? &step->values[0] : NULL;
    bool keys = step->node->id == SCRIPT_KEYS;
    if (!keys && text && (text->len > TYPED_MAX || text->len == 0))
        return false;
    struct json *one = json_add_object(batch->list, NULL);
    if (keys) {
        struct json *list = json_add_array(one, "keys");
        for (size_t i = 0; i < step->count; i++)
            json_add_text(list, NULL, play_text(step, i));
        return true;
    }
    struct json *typed = json_add_object(one, "write");
    if (text)
        input_add_chars(typed, text->data, text->len);
    if (step->node->id == SCRIPT_LINE)
        json_add_text(json_add_array(typed, "keys"), NULL, "Enter");
    json_add_bool(typed, "ready", false);
    return true;
}

static bool add_waiting(struct batch *batch, const struct play_step *step)
{
    struct play_watch *watch = &batch->watches[batch->count];
    struct err err = {0};
    if (play_watch_of(batch->play, step, watch, &err) < 0)
        return false; /* told when it is run by itself */
    struct json *wanted = play_watch_params(batch->session, watch);
    json_free(json_detach(wanted, "session_id"));
    json_free(json_detach(wanted, "peek"));
    json_free(json_detach(wanted, "max_output_tokens"));
    json_free(json_detach(wanted, "_meta"));
    if (watch->timeout_ms > JSON_INTEGER_MAX) {
        json_free(wanted); /* a step has a deadline */
        return false;
    }
    json_add_int(wanted, "yield_time_ms", watch->timeout_ms);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->watches[i].timeout_ms >
            0) { /* the first one says where; they go on from there */
            json_free(json_detach(wanted, "since"));
            break;
        }
    json_add(json_add_object(batch->list, NULL), "expect", wanted);
    return true;
}

/* False: the batch ends in front of it. */
static bool batch_add(struct batch *batch, const struct script_node *node)
{
    struct play_step *step = &batch->steps[batch->count];
    struct err err = {0};
    bool types = node->id == SCRIPT_SEND || node->id == SCRIPT_LINE || node->id == SCRIPT_KEYS;
    if (!is_batchable(node) || !is_known(batch, node))
        return false;
    bool taken = play_step_init(batch->play, step, node, &err) == 0 &&
                 (!batch->session || step->session == batch->session);
    if (taken)
        batch->session = step->session;
    batch->watches[batch->count] = (struct play_watch){0};
    taken = taken && play_check_values(step, &err) == 0 &&
            (types ? add_typed(batch, step) : add_waiting(batch, step));
    if (!taken) {
        play_step_fini(step);
        return false;
    }
    batch->nodes[batch->count++] = node;
    return true;
}

static void batch_fini(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        play_step_fini(&batch->steps[i]);
    json_free(batch->list);
}

static enum play_flow take_step(struct batch *batch, size_t at, const struct json *one)
{
    struct play *play = batch->play;
    struct play_seen seen;
    struct err err = {0};
    const char *error = json_get_str(one, "error", NULL);
    bool waited = json_get(one, "reason") != NULL;
    play->node = batch->nodes[at];
    if (waited && play_take_result(play, batch->session, one, &seen, &err) < 0)
        return play_fail_err(play, &err);
    if (error && waited)
        return play_not_true(play, batch->session, &seen, &batch->watches[at]);
    if (error) {
        err_set(&err, err_by_name(json_get_str(one, "code", NULL)), "%s", error);
        return play_fail_err(play, &err);
    }
    if (batch->nodes[at]->id == SCRIPT_CAPTURE)
        play_set_captured(play, play_text(&batch->steps[at], 0));
    return PLAY_NEXT;
}

static enum play_flow batch_run(struct batch *batch)
{
    struct play *play = batch->play;
    struct msg_answer answer;
    struct err err = {0};
    struct json *params = play_params(batch->session);
    enum play_flow flow = PLAY_NEXT;
    json_add(params, "steps", batch->list);
    batch->list = NULL;
    play->node = batch->nodes[0];
    for (size_t i = batch->count; i-- > 0;) /* what takes long, should it be interrupted */
        if (batch->watches[i].timeout_ms > 0)
            play->node = batch->nodes[i];
    int code = play_call(play, "run_steps", params, -1, META_ID, &answer, &err);
    if (code < 0)
        flow = play_fail_err(play, &err);
    size_t at = 0;
    const struct json *steps = json_get(code < 0 ? NULL : answer.result, "steps");
    for (const struct json *it = json_first(steps); it && flow == PLAY_NEXT; it = json_next(it)) {
        BUG_UNLESS(at < batch->count);
        flow = take_step(batch, at++, it);
    }
    play_note_end(play, code < 0 ? NULL : answer.result);
    msg_answer_fini(&answer);
    return flow;
}

bool play_batch(struct play *play, const struct script_node **node, enum play_flow *flow)
{
    struct batch batch = {.play = play};
    const struct script_node *at = *node;
    if (play->flags || !is_batchable(at) || !at->next || !is_batchable(at->next))
        return false; /* a trace and a report tell of one command after the other */
    batch.list = json_array_new();
    while (at && batch.count < BATCH_MAX && batch_add(&batch, at))
        at = at->next;
    bool several = batch.count > 1;
    if (several) {
        *flow = batch_run(&batch);
        *node = at;
    }
    batch_fini(&batch);
    return several;
}
