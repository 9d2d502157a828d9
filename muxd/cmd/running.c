/* running: owns the steps of run_command and integrate_session, each of which ends when the program
 * is ready. */
#include "cmd/running.h"
#include "base/bug.h"
#include "base/clock.h"
#include "cmd/delivery.h"
#include "cmd/failure.h"
#include "cmd/meta.h"
#include "sys/proc.h"
#include <stdlib.h>
#include <string.h>

#define INTERRUPT_MS 5000 /* for the prompt that follows a ^C */
#define PAUSE_MS 20       /* between two looks for it */
#define MARKS_MS 2000     /* silence counts no earlier where marks should have come */

static struct running *running_of(struct inflight *call)
{
    return LIST_OWNER(call, struct running, base);
}

static void running_free(struct inflight *call)
{
    buf_fini(&running_of(call)->prompt);
    free(running_of(call));
}

static void running_finish(struct inflight *call);

const struct inflight_kind running_kind = {.finish = running_finish, .free = running_free};

/* What to do at a prompt. */

static bool running_is_marked(struct session *session)
{
    struct commands_where where;
    enum commands_place place = commands_place(session, &where);
    bool same = where.group == 0 || where.group == commands_foreground(session);
    return same && (place == COMMANDS_PROMPT || (place == COMMANDS_INPUT && where.group != 0));
}

/* NULL: it is not known, or what it runs may be no prompt. */
static const struct adapter *adapter_of_program(pid_t foreground)
{
    struct proc_stat stat;
    char line[1024];
    const struct adapter *adapter = foreground > 0 && proc_stat(foreground, &stat)
                                        ? adapter_of(stat.comm)
                                        : NULL;
    if (!adapter)
        return NULL;
    proc_command(foreground, line, sizeof line);
    return adapter_prompts(adapter, line) ? adapter : NULL;
}

static const struct adapter *adapter_for(struct running *running, struct session *session)
{
    pid_t foreground = commands_foreground(session);
    const struct adapter *known = adapter_of_program(foreground);
    if (!running->integrates)
        return known;
    const char *as = schema_str(running->base.tool, request_params(running->base.request), "as",
                                NULL);
    /* what runs behind ssh, sudo or a container is a shell, more often than not */
    return as ? adapter_of(as) : known ? known : adapter_of("sh");
}

static int interrupt(struct running *running, struct session *session, struct err *err)
{
    running->step = RUNNING_INTERRUPT;
    running->interrupt_ns = clock_mono_ns() + INTERRUPT_MS * RUNNING_NS_PER_MS;
    int code = running_wait(running, session, running->interrupt_ns, err);
    return code ? code : running_type(running, session, "\003", 1, INPUT_KEYS, 0, err);
}

static int running_refuse_more(struct running *running, struct session *session, struct err *err)
{
    const struct json *params = request_params(running->base.request);
    if (!running->integrates &&
        schema_bool(running->base.tool, params, "interrupt_incomplete", false))
        return interrupt(running, session, err);
    return err_set(err, ERR_BUSY,
                   "'%s' waits for the rest of a command that is not complete; type the rest, or "
                   "C-c, by `ue write`",
                   session_name(session));
}

/* The program waits for a line. */
int running_at_prompt(struct running *running, struct session *session, struct err *err)
{
    struct commands_where where;
    commands_catch_up(session);
    if (commands_place(session, &where) == COMMANDS_MORE &&
        (where.group == 0 || where.group == commands_foreground(session)))
        return running_refuse_more(running, session, err);
    running->marked = running_is_marked(session);
    running->tried |= running->marked;
    running->adapter = adapter_for(running, session);
    bool wanted = running->integrates || running->base.ctx->config->defaults.integrate;
    wanted &= running->integrates || !commands_was_refused(session, commands_foreground(session));
    if (!running->tried && wanted && running->adapter && !running->marked) {
        running->tried = true;
        int code = running_ask(running, session, err);
        if (code != ERR_NOT_AVAILABLE || running->integrates)
            return code;
        err->code = 0;
    }
    if (!running->integrates)
        return running_type_command(running, session, err);
    if (!running->marked)
        return err_set(err, ERR_NOT_AVAILABLE, "'%s': %s", session_name(session), running->why_not);
    inflight_end(&running->base, session, WAIT_READY);
    return 0;
}

static int refuse_busy(struct session *session, struct err *err)
{
    char command[200] = "";
    pid_t foreground = commands_foreground(session);
    if (foreground > 0)
        proc_command(foreground, command, sizeof command);
    return err_set(err, ERR_BUSY,
                   "'%s' is busy%s%s; `ue poll --ready %s` waits for it, `ue write -k C-c %s` "
                   "interrupts it",
                   session_name(session), *command ? ": it runs " : "", command,
                   session_name(session), session_name(session));
}

static bool is_weak_evidence(const struct wait_result *result)
{
    return result->evidence == EVIDENCE_QUIET || result->evidence == EVIDENCE_PROMPT;
}

/* Silence tells nothing of a program that has told of its prompts. */
static bool is_silent_command(struct session *session, const struct wait_result *result)
{
    struct commands_where where;
    enum commands_place place = commands_place(session, &where);
    bool same = where.group != 0 && where.group == commands_foreground(session);
    return is_weak_evidence(result) && same &&
           (place == COMMANDS_RUNS || (place == COMMANDS_INPUT && where.echoes));
}

static int on_prompt(struct running *running, struct session *session,
                     const struct wait_result *result, struct err *err)
{
    struct commands_where where;
    commands_catch_up(session);
    enum commands_place place = commands_place(session, &where);
    if (result->reason == WAIT_EXIT)
        return err_set(err, ERR_ENDED,
                       "'%s' has ended before it was at its prompt; `ue poll` "
                       "shows how",
                       session_name(session));
    /* a line editor of the shell itself is its prompt, whatever has become of its hooks */
    bool reads = place == COMMANDS_RUNS && where.group == commands_foreground(session) &&
                 result->evidence != EVIDENCE_LINE_EDITOR;
    if (result->reason != WAIT_READY || reads || is_silent_command(session, result))
        return refuse_busy(session, err);
    if (result->evidence == EVIDENCE_SECRET)
        return err_set(err, ERR_SECRET_PROMPT,
                       "'%s' reads a secret, which is for a person to type: `ue secret %s`",
                       session_name(session), session_name(session));
    return running_at_prompt(running, session, err);
}

/* What to do once the command may have ended. */

/* Marks that have not come may be on their way. */
static bool running_is_early(const struct running *running)
{
    return clock_mono_ns() - running->typed_ns < MARKS_MS * RUNNING_NS_PER_MS;
}

enum judged {
    JUDGED_ENDED, /* it has ended, or nothing more can be known */
    JUDGED_ON,    /* the wait goes on */
    JUDGED_EARLY  /* its marks may be on their way: the wait goes on after a pause */
};

static enum judged running_judge(struct running *running, struct session *session,
                         const struct wait_result *result)
{
    struct commands_where where;
    commands_catch_up(session);
    enum commands_place place = commands_place(session, &where);
    const struct ran_command *command = running_command(running, session);
    if (!running->marked || result->reason != WAIT_READY)
        return JUDGED_ENDED;
    bool quiet = is_weak_evidence(result), early = running_is_early(running);
    if (quiet && !command && place != COMMANDS_MORE && early)
        return JUDGED_ON; /* it may be far away, or have no processor */
    bool kept = where.keeps && place == COMMANDS_INPUT && !command;
    if (kept)
        commands_keeps(session);
    if (place == COMMANDS_MORE || kept) {
        running->incomplete = true;
        return JUDGED_ENDED;
    }
    if (command && !command->runs)
        return JUDGED_ENDED;
    /* a prompt that is drawn anew while the line is edited has marks, too */
    bool redrawn = command && result->evidence == EVIDENCE_MARKS;
    if (command || where.echoes)
        return quiet || redrawn ? JUDGED_ON : JUDGED_ENDED;
    if (place != COMMANDS_PROMPT && early)
        return JUDGED_EARLY;
    if (place != COMMANDS_PROMPT) { /* its marks have failed to come */
        commands_drop_level(session, where.level);
        running->marked = false;
        running->why_not = "its marks did not come";
    }
    return JUDGED_ENDED;
}

static void running_reply(struct running *running, struct session *session,
                          const struct wait_result *result)
{
    struct inflight *call = &running->base;
    struct delivery delivery = {.ctx = call->ctx,
                                .number = call->number,
                                .peek = !running->has_read,
                                .to = journal_head(session_journal(session)),
                                .ended = !session_is_live(session)};
    memcpy(delivery.reader, running->reader, sizeof delivery.reader);
    inflight_reply(call,
                   running->integrates ? running_told(running, session)
                                       : running_answer(running, session, result),
                   &delivery);
}

static void running_on_room(void *arg)
{
    running_finish(arg);
}

/* The answer may be large: it is made when there is room for it. */
static void running_end(struct running *running, struct session *session,
                        const struct wait_result *result)
{
    struct inflight *call = &running->base;
    size_t need = running_need(session, running->typed_at);
    if (request_take_room(call->request, need))
        running_reply(running, session, result);
    else
        request_when_room(call->request, need, running_on_room, call);
}

/* paused: what was found would be found again at once. */
static int running_wait_on(struct running *running, struct session *session, bool paused,
                           struct err *err)
{
    const struct wait_spec pause = {.quiet_ms = PAUSE_MS, .deadline_ns = running->deadline_ns};
    return paused ? inflight_wait(&running->base, session, &pause, err)
                  : running_wait(running, session, INT64_MAX, err);
}

static int on_command(struct running *running, struct session *session,
                      const struct wait_result *result, struct err *err)
{
    const struct json *params = request_params(running->base.request);
    if (result->reason == WAIT_QUIET)
        return running_wait(running, session, INT64_MAX, err);
    enum judged judged = running_judge(running, session, result);
    if (judged != JUDGED_ENDED)
        return running_wait_on(running, session,
                               judged == JUDGED_EARLY || result->evidence == EVIDENCE_PROMPT, err);
    if (running->incomplete &&
        schema_bool(running->base.tool, params, "interrupt_incomplete", false))
        return interrupt(running, session, err);
    running_end(running, session, result);
    return 0;
}

/* A program that is still busy with the ^C throws away what is typed now: its next prompt is waited
 * for. */
static int on_interrupt(struct running *running, struct session *session,
                        const struct wait_result *result, struct err *err)
{
    struct commands_where where;
    commands_catch_up(session);
    enum commands_place place = commands_place(session, &where);
    if (where.keeps && place != COMMANDS_PROMPT && result->reason == WAIT_READY)
        commands_gave_up(session); /* it reads ^C as a key, and goes on by itself */
    else if (place != COMMANDS_PROMPT && clock_mono_ns() < running->interrupt_ns) {
        const struct wait_spec spec = {.quiet_ms = PAUSE_MS, .deadline_ns = running->interrupt_ns};
        return inflight_wait(&running->base, session, &spec, err);
    }
    if (!running->incomplete) { /* of somebody else's command: it is done with */
        running->step = RUNNING_PROMPT;
        return running_at_prompt(running, session, err);
    }
    running_end(running, session, result);
    return 0;
}

static int running_step(struct running *running, struct session *session,
                        const struct wait_result *result, struct err *err)
{
    bool between = running->step == RUNNING_ASKED || running->step == RUNNING_LINE;
    if (running->step == RUNNING_LINE && result->reason == WAIT_QUIET)
        return running_wait_answer(running, session, err);
    if (between && result->reason != WAIT_READY)
        return refuse_busy(session, err);
    switch (running->step) {
    case RUNNING_PROMPT: return on_prompt(running, session, result, err);
    case RUNNING_ASKED:
        if (running->resumes && !running_reads_line(running, session, result)) {
            running->step = RUNNING_PROMPT;
            running->tried = running->resumes = false;
            return on_prompt(running, session, result, err);
        }
        if (running_answered(running, session, err) == 0)
            return 0;
        commands_refused(session, commands_foreground(session));
        break;
    case RUNNING_LINE:
        running->marked = running_came(running, session);
        if (!running->marked && running_is_early(running))
            return running_wait_on(running, session, true, err);
        break;
    case RUNNING_COMMAND: return on_command(running, session, result, err);
    case RUNNING_INTERRUPT: return on_interrupt(running, session, result, err);
    }
    if (err->code && err->code != ERR_NOT_AVAILABLE)
        return err->code;
    err->code = 0;
    return running_at_prompt(running, session, err);
}

static void running_finish(struct inflight *call)
{
    struct running *running = running_of(call);
    struct err err = {0};
    struct session *session = registry_by_number(call->ctx->registry, call->number);
    BUG_UNLESS(call->request && !call->wait);
    if (!session || call->result.reason == WAIT_STOPPING)
        failure_removed(&err, call->number);
    else if (call->result.reason == WAIT_EXIT && running->step != RUNNING_COMMAND)
        err_set(&err, ERR_ENDED, "'%s' has ended; `ue poll` shows how", session_name(session));
    else if (running->integrates && running->tried && running->marked)
        running_end(running, session, &call->result);
    else
        running_step(running, session, &call->result, &err);
    if (err.code < 0)
        inflight_fail(call, &err);
}
