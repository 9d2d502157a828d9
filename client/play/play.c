/* play: owns the order in which the commands of a script run: blocks, loops, the end. */
#include "client/play/play.h"
#include "base/bug.h"
#include "base/mem.h"
#include "client/play/playing.h"
#include "client/print/say.h"
#include "client/rpc/call.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_VARIABLE "UE_SCRIPT_DEPTH" /* scripts that were begun by scripts */
#define DEPTH_MAX 8
#define TIMEOUT_MS 30000 /* of a wait; `timeout` changes it */

static play_fn *const doers[SCRIPT_ID_COUNT] = {
#define WORD(ident, ...) [SCRIPT_##ident] = play_##ident,
#define PART(...)
#include "client/script/words.def"
#undef WORD
};

static struct play *running;           /* NULL once its sessions are ended */
static volatile sig_atomic_t ended_by; /* SIGTERM, SIGHUP or SIGQUIT; 0: none */

/* These end a script as ^C does, with its sessions. */
static void play_on_signal(int signo)
{
    ended_by = signo;
    raise(SIGINT);
}

/* A write then fails, and ue leaves as it does everywhere, but not before play_at_exit. */
static void play_on_pipe(int signo)
{
    (void)signo;
}

const char *play_text(const struct play_step *step, size_t at)
{
    BUG_UNLESS(at < step->count);
    return step->values[at].data ? step->values[at].data : "";
}

void play_step_fini(struct play_step *step)
{
    for (size_t i = 0; i < step->count; i++)
        buf_fini(&step->values[i]);
    free(step->values);
}

static struct buf *add_value(struct play_step *step)
{
    step->values = xreallocarray(step->values, step->count + 1, sizeof *step->values);
    buf_init(&step->values[step->count], PLAY_VALUE_MAX);
    return &step->values[step->count++];
}

static bool is_all_operands(const struct script_word *word)
{
    return word->count == 1 && word->parts[0].variable && strcmp(word->parts[0].text, "@") == 0;
}

static int expand_words(struct play *play, struct play_step *step, struct err *err)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < step->node->count; i++) {
        const struct script_word *word = &step->node->words[i];
        if (!is_all_operands(word)) {
            code = play_expand(play, word, add_value(step), err);
            continue;
        }
        for (size_t j = 0; j < play->operand_count; j++)
            buf_append_text(add_value(step), play->operands[j]);
    }
    return code;
}

int play_check_values(const struct play_step *step, struct err *err)
{
    const char **values = xcalloc(step->count + 1, sizeof *values);
    bool takes_nul = step->node->id == SCRIPT_SEND || step->node->id == SCRIPT_LINE ||
                     step->node->id == SCRIPT_SET || step->node->id == SCRIPT_PRINT ||
                     step->node->id == SCRIPT_LOG || step->node->id == SCRIPT_IF ||
                     step->node->id == SCRIPT_EACH;
    int code = 0;
    for (size_t i = 0; code == 0 && i < step->count; i++) {
        values[i] = play_text(step, i);
        if (!takes_nul && strlen(values[i]) != step->values[i].len)
            code = err_set(err, ERR_USAGE, "'%.64s': has a NUL byte behind that", values[i]);
    }
    if (code == 0)
        code = script_check_values(step->node->id, values, step->count, err);
    free(values);
    return code;
}

int play_step_init(struct play *play, struct play_step *step, const struct script_node *node,
                   struct err *err)
{
    *step = (struct play_step){.node = node};
    int code = script_rows[node->id].session ? play_session(play, node, &step->session, err) : 0;
    return code ? code : expand_words(play, step, err);
}

static enum play_flow play_node(struct play *play, const struct script_node *node)
{
    struct play_step step;
    struct err err = {0};
    enum play_flow flow = PLAY_NEXT;
    play->node = node;
    BUG_UNLESS(doers[node->id]);
    int code = play_step_init(play, &step, node, &err);
    if (code == 0)
        play_trace(play, &step);
    if (!node->has_block || node->id == SCRIPT_EXPECT)
        play_report_begin(play, &step);
    if (code == 0)
        code = play_check_values(&step, &err);
    if (code < 0)
        flow = play_fail_err(play, &err);
    else
        flow = doers[node->id](play, &step);
    play_report_end(play);
    play_step_fini(&step);
    return flow;
}

enum play_flow play_nodes(struct play *play, const struct script_node *node)
{
    enum play_flow flow = PLAY_NEXT;
    while (flow == PLAY_NEXT && node) {
        if (call_is_interrupted()) {
            play->interrupted = true;
            play->status = UE_INTERRUPTED;
            return PLAY_STOP;
        }
        if (play_batch(play, &node, &flow))
            continue;
        flow = play_node(play, node);
        node = node->next;
        while (flow == PLAY_NEXT && play->branch) { /* of an `if` that was not true */
            const struct script_node *branch = play->branch;
            play->branch = NULL;
            flow = branch->id == SCRIPT_ELSE ? play_nodes(play, branch->body)
                                             : play_node(play, branch);
        }
    }
    return flow;
}

/* The script has ended itself, by a wait that ^C ended, or by a failure. */
static int play_status(const struct play *play)
{
    if (ended_by)
        return 128 + ended_by;
    if (play->interrupted)
        say_note("%s: interrupted", play->script->name);
    return play->status;
}

static int play_end(struct play *play)
{
    running = NULL;
    int status = play_end_sessions(play);
    play_sessions_fini(play);
    play_vars_fini(play);
    return status;
}

/* ue exits at once when nobody reads its standard output any more. */
static void play_at_exit(void)
{
    if (running)
        play_end(running);
}

static int check_depth(struct ue *ue)
{
    const char *text = getenv(DEPTH_VARIABLE);
    int depth = text ? (int)strtol(text, NULL, 10) : 0;
    char next[16];
    struct err err;
    if (depth >= DEPTH_MAX || depth < 0) {
        err_set(&err, ERR_LIMIT, "%d scripts have begun each other; one of them begins itself",
                depth);
        return ue_fail(ue, &err);
    }
    snprintf(next, sizeof next, "%d", depth + 1);
    setenv(DEPTH_VARIABLE, next, 1); /* for the sessions that this one begins */
    return 0;
}

int play_run(struct ue *ue, const struct script *script, const char *const *operands, size_t count,
             unsigned flags)
{
    struct play play = {.ue = ue,
                        .script = script,
                        .operands = operands,
                        .operand_count = count,
                        .flags = flags,
                        .current = SIZE_MAX,
                        .timeout_ms = TIMEOUT_MS};
    const struct sigaction action = {.sa_handler = play_on_signal};
    BUG_UNLESS(!(flags & ~(unsigned)(PLAY_TRACE | PLAY_JSON)));
    int status = check_depth(ue);
    if (status)
        return status;
    static const int ending[] = {SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        struct sigaction before;
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup */
            sigaction(ending[i], &action, NULL);
    }
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = play_on_pipe}, NULL);
    running = &play;
    atexit(play_at_exit);
    play_nodes(&play, script->first);
    status = play_status(&play);
    int ended = play_end(&play);
    return status ? status : ended;
}
