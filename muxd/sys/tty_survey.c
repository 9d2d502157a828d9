/* tty_survey: owns nothing; reads what tty_group and tty_thread have seen. */
#include "sys/tty_survey.h"
#include "base/bug.h"
#include "base/clock.h"

/* a member may join without a new pid: a shell's child that changes its group */
enum { RESCAN_NS = 20000000 };

static void survey_members(struct tty_survey *survey, const struct tty_group *group)
{
    *survey = (struct tty_survey){.reader = NULL};
    for (size_t i = 0; i < group->count; i++) {
        const struct tty_thread *thread = &group->threads[i];
        survey->others_running |= thread->sleep == TTY_SLEEP_RUNNING;
        survey->hidden |= thread->sleep == TTY_SLEEP_HIDDEN;
        survey->several_threads |= i > 0 && thread->pid == group->threads[i - 1].pid;
        if (thread->sleep >= TTY_SLEEP_REMOTE &&
            (!survey->reader || thread->sleep > survey->reader->sleep))
            survey->reader = thread;
    }
}

void tty_survey_take(struct tty_survey *survey, struct tty_group *group, dev_t slave)
{
    BUG_UNLESS(group->pgrp > 0);
    tty_group_look(group, slave);
    survey_members(survey, group);
    if (survey->others_running && !survey->reader)
        return; /* it computes */
    bool due = !survey->reader && clock_mono_ns() - group->scanned_ns >= RESCAN_NS &&
               tty_group_may_be_joined(group);
    if (due || (tty_group_may_have_grown(group) && tty_group_has_newcomer(group))) {
        tty_group_scan(group, group->pgrp);
        tty_group_look(group, slave);
        survey_members(survey, group);
    }
}

/* The survey is of this group as it is: a scan in between would free the reader. */
static bool tty_survey_is_of(const struct tty_survey *survey, const struct tty_group *group)
{
    return !survey->reader || (survey->reader >= group->threads &&
                               survey->reader < group->threads + group->count);
}

bool tty_survey_waits_for_disk(const struct tty_survey *survey, const struct tty_group *group)
{
    BUG_UNLESS(tty_survey_is_of(survey, group));
    for (size_t i = 0; i < group->count; i++) {
        const struct tty_thread *thread = &group->threads[i];
        bool other = survey->reader && thread->pid != survey->reader->pid &&
                     thread->pid == thread->tid;
        if (other && thread->sleep == TTY_SLEEP_ELSEWHERE && tty_thread_state(thread) == 'D')
            return true;
    }
    return false;
}

bool tty_survey_reader_is_alone(const struct tty_survey *survey, const struct tty_group *group)
{
    BUG_UNLESS(survey->reader && tty_survey_is_of(survey, group));
    for (size_t i = 0; i < group->count; i++) {
        const struct tty_thread *thread = &group->threads[i];
        if (thread == survey->reader)
            continue;
        struct tty_limit limit = tty_thread_limit(thread);
        if (thread->pid != survey->reader->pid || limit.call != TTY_CALL_WOKEN ||
            limit.ns != TTY_LIMIT_NONE)
            return false;
    }
    return true;
}

bool tty_survey_has_alarm(const struct tty_survey *survey, const struct tty_group *group)
{
    BUG_UNLESS(tty_survey_is_of(survey, group));
    const struct tty_thread *reader = survey->reader;
    if (!reader || reader->tid == reader->pid)
        return false;
    for (size_t i = 0; i < group->count; i++) {
        const struct tty_thread *thread = &group->threads[i];
        if (thread->pid != reader->pid || thread == reader)
            continue;
        struct tty_limit limit = tty_thread_limit(thread);
        if (limit.call == TTY_CALL_EVENTS && tty_limit_is_soon(limit.ns))
            return true;
    }
    return false;
}

bool tty_survey_unchanged(const struct tty_survey *survey, struct tty_group *group)
{
    BUG_UNLESS(tty_survey_is_of(survey, group));
    for (size_t i = 0; i < group->count; i++) {
        struct tty_thread *thread = &group->threads[i];
        if (thread->sleep == TTY_SLEEP_GONE ||
            (survey->others_running && thread != survey->reader))
            continue;
        if (!tty_thread_unchanged(thread))
            return false;
    }
    return true;
}

uint64_t tty_survey_others_ns(const struct tty_survey *survey, const struct tty_group *group)
{
    uint64_t sum = 0;
    BUG_UNLESS(tty_survey_is_of(survey, group));
    for (size_t i = 0; i < group->count; i++)
        if (&group->threads[i] != survey->reader)
            sum += group->threads[i].cpu_ns;
    return sum;
}
