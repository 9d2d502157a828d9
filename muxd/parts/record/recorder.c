/* recorder: owns the recordings under way: what is still to be formatted, what is on its way to
 * the disk, and who waits. */
#include "parts/record/recorder.h"
#include "base/bug.h"
#include "base/limit.h"
#include "base/log.h"
#include "base/mem.h"
#include "parts/record/recorder_state.h"
#include "session/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_MS 250            /* how long lines wait for more */
#define FLUSH_BYTES (64u << 10) /* and up to this size */

static void recorder_run(struct recorder *recorder);

void recorder_unwatch(struct recorder *recorder)
{
    if (recorder->watch)
        recorder_screens_of(recorder)->cancel(recorder->watch);
    recorder->watch = NULL;
}

/* The thread may be changing the file's place: this reads only what the thread leaves alone. */
static void describe(const struct recorder *recorder, struct recorder_facts *facts)
{
    const struct recorder_note *note = &recorder->file->note;
    char path[RECORDER_PATH_MAX] = "";
    *facts = (struct recorder_facts){.format = recorder->format,
                                     .input = recorder->input,
                                     .bytes = recorder->total,
                                     .part = recorder->part};
    if (recorder->begun || note->given)
        recorder_file_part(note, recorder->part, path);
    facts->path = xstrdup(path);
}

static void recorder_answer(struct recorder *recorder, const struct err *err)
{
    struct recorder_facts facts = {0};
    recorder_fn *fn = recorder->fn;
    recorder->fn = NULL;
    if (!fn)
        return;
    if (err)
        fn(recorder->arg, err, NULL);
    else {
        describe(recorder, &facts);
        fn(recorder->arg, &(struct err){0}, &facts);
        free(facts.path);
    }
}

static void recorder_on_told(void *arg)
{
    recorder_answer(arg, NULL);
}

static void recorder_free(struct recorder *recorder)
{
    BUG_UNLESS(!recorder->fn && (!recorder->running || recorder->unstarted));
    if (recorder->session)
        recorded_of(recorder->session)->recorder = NULL;
    list_remove(&recorder->link);
    defer_cancel(&recorder->told);
    loop_timer_stop(&recorder->flush);
    recorder_unwatch(recorder);
    buf_fini(&recorder->pending);
    recorder_file_free(recorder->file);
    if (recorder->unstarted)
        free(recorder->unstarted->data);
    free(recorder->unstarted);
    free(recorder);
}

static void recorder_fail(struct recorder *recorder, const struct err *err)
{
    log_error("session %llu: %s", (unsigned long long)recorder->number, err->text);
    if (recorder->session) {
        struct recorded *recorded = recorded_of(recorder->session);
        free(recorded->failure);
        recorded->failure = xstrdup(err->text);
        recorder->session->journal->header->recorded = 0;
    }
    recorder_answer(recorder, err);
    recorder_free(recorder);
}

static void recorder_on_done(void *arg)
{
    struct recorder_job *job = arg;
    struct recorder *recorder = job->owner;
    struct registry *registry = recorder->registry;
    struct err err = job->err;
    bool end = job->end;
    BUG_UNLESS(recorder->running && !recorder->unstarted);
    free(job->data);
    free(job);
    recorder->running = false;
    recorder->begun = true;
    if (recorders_of(registry)->closing) {
        return;
    } else if (err.code) {
        recorder_fail(recorder, &err);
    } else if (end) {
        recorder_answer(recorder, NULL);
        recorder_free(recorder);
    } else {
        if (!recorder->ending)
            recorder_answer(recorder, NULL);
        if (recorder->session)
            session_dirty(recorder->session); /* there may be output that had no room */
        recorder_run(recorder);
    }
    registry_kick(registry); /* a stop waits for the last job */
}

static struct recorder_job *make_job(struct recorder *recorder)
{
    BUG_UNLESS(recorder->split <= recorder->pending.len && recorder->carried <= recorder->at);
    struct recorder_job *job = xcalloc(1, sizeof *job);
    *job = (struct recorder_job){
        .owner = recorder,
        .file = recorder->file,
        .size = recorder->pending.len,
        .split = recorder->split,
        .begin = recorder->begins,
        .end = recorder->ending,
        .parts_kept = (unsigned)recorder->registry->cfg->limits.recording_parts,
        .total_max = (uint64_t)recorder->registry->cfg->limits.recordings_bytes};
    snprintf(job->name, sizeof job->name, "%s", recorder->name);
    job->place = (struct recorder_place){.offset = recorder->at - recorder->carried,
                                         .began_boot_ms = recorder->began_boot_ms,
                                         .last_ms = recorder->last_ms,
                                         .rows = recorder->rows,
                                         .cols = recorder->cols};
    job->data = buf_take(&recorder->pending);
    buf_init(&recorder->pending, 0);
    recorder->begins = false;
    recorder->split = 0;
    return job;
}

/* Hands the pending lines to the disk, unless a job runs already. */
static void recorder_run(struct recorder *recorder)
{
    if (recorder->running || (recorder->pending.len == 0 && !recorder->ending) ||
        (recorder->watch && !recorder->begun))
        return;
    loop_timer_stop(&recorder->flush);
    struct recorder_job *job = make_job(recorder);
    recorder->running = true;
    int status = loop_offload(recorder->registry->loop, recorder_job_run, recorder_on_done, job);
    if (status < 0) {
        limit_err(&job->err, ERR_SYSTEM, LIMIT_THREAD, -status,
                  "'%s': the recording ends: there is no thread to write it", recorder->name);
        recorder->unstarted = job;
        loop_timer_set_ms(&recorder->flush, 0);
    }
}

static void on_flush(void *arg)
{
    struct recorder *recorder = arg;
    struct recorder_job *unstarted = recorder->unstarted;
    recorder->unstarted = NULL;
    if (unstarted)
        recorder_on_done(unstarted);
    else
        recorder_run(recorder);
}

void recorder_written(struct recorder *recorder)
{
    if (recorder->ending || recorder->pending.len >= FLUSH_BYTES || recorder->begins)
        recorder_run(recorder);
    else if (recorder->pending.len > 0 && !recorder->running &&
             !loop_timer_is_set(&recorder->flush))
        loop_timer_set_ms(&recorder->flush, FLUSH_MS);
}

static struct recorder *recorder_new(struct session *session, struct recorder_file *file)
{
    struct registry *registry = session->registry;
    BUG_UNLESS(!recorder_of(session) && !recorders_of(registry)->closing);
    struct recorder *recorder = xcalloc(1, sizeof *recorder);
    *recorder = (struct recorder){.registry = registry,
                                  .session = session,
                                  .number = session_number(session),
                                  .file = file,
                                  .format = (int)file->note.format,
                                  .input = file->note.input,
                                  .rows = 24,
                                  .cols = 80};
    snprintf(recorder->name, sizeof recorder->name, "%s", session_name(session));
    buf_init(&recorder->pending, 0);
    recorder->told = (struct deferred){.fn = recorder_on_told, .arg = recorder};
    list_append(&recorders_of(registry)->all, &recorder->link);
    loop_timer_init(&recorder->flush, registry->loop, on_flush, recorder);
    struct recorded *recorded = recorded_get(session);
    recorded->recorder = recorder;
    free(recorded->failure);
    recorded->failure = NULL;
    session_get_size(session, &recorder->rows, &recorder->cols);
    return recorder;
}

/* 0: the recording under way is what the spec asks for. */
static int check_same(struct recorder *recorder, const struct recorder_spec *spec, struct err *err)
{
    struct recorder_facts facts;
    /* what is read here does not change during a recording */
    const struct recorder_note *note = &recorder->file->note;
    describe(recorder, &facts);
    bool same = !spec->path || (note->given && strcmp(spec->path, note->path) == 0);
    same = same && (!spec->format || spec->format == recorder->format) &&
           (!spec->input || recorder->input);
    if (recorder->ending || recorder->fn)
        err_set(err, ERR_NOT_AVAILABLE, "'%s': its recording is being %s; try again",
                recorder->name, recorder->ending ? "ended" : "begun");
    else if (!same)
        err_set(err, ERR_NOT_AVAILABLE,
                "'%s': is recorded to '%s' already; `ue record --stop %s` ends that",
                recorder->name, facts.path ? facts.path : "?", recorder->name);
    else
        err->code = 0;
    free(facts.path);
    return err->code;
}

int recorder_start(struct session *session, const struct recorder_spec *spec, recorder_fn *fn,
                   void *arg, struct err *err)
{
    struct registry *registry = session->registry;
    struct recorder *recorder = recorder_of(session);
    if (!session_is_live(session))
        return err_set(err, ERR_ENDED,
                       "'%s' (session %llu) has ended; `ue logs %s` shows what it printed",
                       session_name(session), (unsigned long long)session_number(session),
                       session_name(session));
    if (recorder && check_same(recorder, spec, err) != 0)
        return err->code;
    if (recorder) {
        recorder->fn = fn;
        recorder->arg = arg;
        if (fn && recorder->begun)
            registry_defer(registry, &recorder->told);
        return 0;
    }
    struct recorder_file *file = recorder_file_new(registry->state_dir, session_number(session),
                                                   spec->path, spec->format ? spec->format : 3,
                                                   spec->input);
    recorder = recorder_new(session, file);
    recorder->fn = fn;
    recorder->arg = arg;
    recorder_begin_part(recorder);
    return 0;
}

void recorder_end(struct recorder *recorder)
{
    if (recorder->ending)
        return;
    recorder->ending = true;
    recorder_unwatch(recorder);
    recorder_run(recorder);
}

int recorder_stop(struct session *session, recorder_fn *fn, void *arg, struct err *err)
{
    struct recorder *recorder = recorder_of(session);
    if (!recorder)
        return err_set(err, ERR_NOT_AVAILABLE, "'%s': is not recorded; `ue record %s` begins",
                       session_name(session), session_name(session));
    if (recorder->ending || recorder->fn)
        return err_set(err, ERR_NOT_AVAILABLE, "'%s': its recording is being %s; try again",
                       session_name(session), recorder->ending ? "ended" : "begun");
    recorder->fn = fn;
    recorder->arg = arg;
    session->journal->header->recorded = 0;
    recorder_take(recorder);
    recorder_end(recorder);
    return 0;
}

bool recorder_is_on(const struct session *session, struct recorder_facts *facts)
{
    if (recorder_of(session) && facts)
        describe(recorder_of(session), facts);
    return recorder_of(session);
}

const char *recorder_failure(const struct session *session)
{
    return recorded_of(session) ? recorded_of(session)->failure : NULL;
}

void recorder_session_goes(struct session *session)
{
    struct recorder *recorder = recorder_of(session);
    if (!recorder)
        return;
    recorder_unwatch(recorder);
    recorder->session = NULL;
    recorded_of(session)->recorder = NULL;
    if (!recorder->begun && !recorder->running) { /* nothing of it is on disk */
        struct err err;
        err_set(&err, ERR_NO_SUCH_SESSION, "'%s' was removed", recorder->name);
        recorder_answer(recorder, &err);
        recorder_free(recorder);
        return;
    }
    recorder_end(recorder);
}

void recorder_begin_wanted(struct session *session)
{
    struct err err;
    if (!session->journal->header->recorded || recorder_of(session))
        return;
    if (recorder_start(session, &(struct recorder_spec){0}, NULL, NULL, &err) != 0)
        log_error("%s", err.text);
}

void recorder_take_over(struct session *session)
{
    if (session->finished)
        return;
    struct recorder_file *file = recorder_file_find(session->registry->state_dir,
                                                    session_number(session));
    if (!file) {
        recorder_begin_wanted(session);
        return;
    }
    struct recorder *recorder = recorder_new(session, file);
    const struct recorder_place *place = &file->note.place;
    recorder->begun = true;
    recorder->at = place->offset;
    recorder->began_boot_ms = place->began_boot_ms;
    recorder->last_ms = place->last_ms;
    recorder->size = place->size;
    recorder->total = place->total;
    recorder->part = place->part;
    recorder->rows = place->rows;
    recorder->cols = place->cols;
    session_dirty(session);
}

void recorder_stop_all(struct registry *registry)
{
    struct recorders *recorders = recorders_of(registry);
    recorders->closing = true;
    loop_wait_offloaded(registry->loop);
    while (!list_is_empty(&recorders->all)) {
        struct recorder *recorder = LIST_OWNER(recorders->all.next, struct recorder, link);
        struct err err;
        err_set(&err, ERR_STOPPING, "muxd is being stopped");
        recorder_answer(recorder, &err);
        recorder_free(recorder);
    }
}
