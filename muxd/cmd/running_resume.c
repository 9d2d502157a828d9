/* running_resume: owns the recognition of an integration that was begun and has not come to its
 * prompt: its call was cancelled, or its worker has died. The input log says what was typed last,
 * and the ids of the requests that were done say that it was a question of ours. So a successor of
 * the worker goes on where it stands, and types nothing twice. */
#include "base/bug.h"
#include "base/clock.h"
#include "cmd/running.h"
#include "journal/inputlog.h"
#include "session/nonce.h"
#include <inttypes.h>
#include <stdio.h>

#define EVENTS_MAX 16 /* of the input log, which has signals and sizes, too */

struct typed_line { /* a part of struct input_event */
    uint64_t from, to, output_at;
    bool secret, ours;
};

struct typed_lines {
    struct typed_line last, before; /* zeroed: none */
};

static void note_line(void *arg, const struct input_event *event)
{
    struct typed_lines *lines = arg;
    if (event->kind > INPUT_SECRET && event->kind != INPUT_EOF)
        return; /* nothing was typed */
    lines->before = lines->last;
    lines->last = (struct typed_line){.from = event->from,
                                      .to = event->to,
                                      .output_at = event->output_at,
                                      .secret = event->kind == INPUT_SECRET,
                                      .ours = event->who == INPUT_BY_MUXD};
}

uint64_t running_question_hash(uint64_t level)
{
    char id[48];
    snprintf(id, sizeof id, "integrate %" PRIu64, level);
    return journal_hash(id);
}

static bool running_resume_is_question(const struct journal *journal, const struct typed_line *line)
{
    uint64_t end;
    return line->to > line->from &&
           journal_request_done(journal, running_question_hash(line->output_at + 1), &end) &&
           end == line->to;
}

enum running_step running_found(struct session *session, uint64_t *asked_at)
{
    struct journal *journal = session_journal(session);
    struct typed_lines lines = {.last = {.from = 0}};
    struct commands_where where;
    uint64_t last = inputlog_last(journal);
    *asked_at = 0;
    if (!session_is_integrated(session))
        return RUNNING_PROMPT;
    inputlog_read(journal, last > EVENTS_MAX ? last - EVENTS_MAX : 0, EVENTS_MAX, note_line,
                  &lines);
    bool asked = running_resume_is_question(journal, &lines.last),
         line = !asked && lines.last.ours && lines.last.secret &&
                lines.last.from == lines.before.to &&
                running_resume_is_question(journal, &lines.before);
    if (!asked && !line)
        return RUNNING_PROMPT;
    *asked_at = asked ? lines.last.output_at : lines.before.output_at;
    commands_place(session, &where);
    return where.level == *asked_at + 1 ? RUNNING_PROMPT : asked ? RUNNING_ASKED : RUNNING_LINE;
}

bool running_resume(struct running *running, struct session *session)
{
    uint64_t asked_at;
    enum running_step step = running_found(session, &asked_at);
    BUG_UNLESS(running->step == RUNNING_PROMPT && !running->base.wait);
    if (step == RUNNING_PROMPT)
        return false;
    running->step = step;
    running->tried = running->resumes = true;
    running->typed_at = asked_at;
    running->typed_ns = clock_mono_ns();
    running->level = asked_at + 1;
    running_note_prompt(running, session, asked_at);
    return true;
}

/* A signal may have ended the question: then its program says more than the answer, and reads what
 * is no secret. */
bool running_reads_line(const struct running *running, struct session *session,
                        const struct wait_result *result)
{
    char word[16];
    uint64_t asked_at;
    commands_catch_up(session);
    if (running_found(session, &asked_at) == RUNNING_PROMPT || asked_at != running->typed_at ||
        !commands_was_answered(session, asked_at, word))
        return false;
    return result->evidence == EVIDENCE_SECRET || commands_says_no_more(session);
}
