/* archive.c: owns the queue of jobs for the disk, and the moment at which a file starts or stops
 * to be an ended session. */
#include "parts/archive/archive.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES_MAX 3

static void run_next(struct archive *archive);
static void archive_put(struct session *session);
static void archive_closed(struct session *session);
static void archive_changed(struct session *session);

struct archive *archive_of(const struct registry *registry)
{
    return registry->part[PART_ARCHIVE];
}

/* NULL: the session was never on disk, nor on its way there. */
static struct archived *archived_of(const struct session *session)
{
    return session->part[PART_ARCHIVE];
}

struct archived *archived_get(struct session *session)
{
    struct archived *archived = archived_of(session);
    if (!archived) {
        session->part[PART_ARCHIVE] = archived = xcalloc(1, sizeof *archived);
        archived->session = session;
    }
    return archived;
}

static bool is_on_disk(const struct session *session)
{
    return archived_of(session) && archived_of(session)->file;
}

static void archive_init(struct registry *registry)
{
    struct archive *archive = xcalloc(1, sizeof *archive);
    archive->registry = registry;
    archive->path = path_join(registry->state_dir, "ended");
    archive->dir = -1;
    list_init(&archive->jobs);
    registry->part[PART_ARCHIVE] = archive;
}

static void archive_free_job(struct archive_job *job)
{
    journal_image_drop(&job->image);
    free(job);
}

/* Waits for the running job. */
static void archive_fini(struct registry *registry)
{
    struct archive *archive = archive_of(registry);
    BUG_UNLESS(archive && !archive->closing);
    registry->part[PART_ARCHIVE] = NULL;
    archive->closing = true;
    while (!list_is_empty(&archive->jobs)) {
        struct archive_job *job = LIST_OWNER(archive->jobs.next, struct archive_job, link);
        list_remove(&job->link);
        archive_free_job(job);
    }
    loop_wait_offloaded(registry->loop);
    BUG_UNLESS(!archive->running);
    fd_close(&archive->dir);
    free(archive->path);
    free(archive);
}

static bool archive_is_idle(const struct registry *registry)
{
    const struct archive *archive = archive_of(registry);
    return !archive->running && list_is_empty(&archive->jobs);
}

static bool is_wanted(const struct registry *registry)
{
    return registry->cfg->muxd.keep_on_disk;
}

/* Logs the first failure only, not one for each session. */
static void warn(struct archive *archive, const char *what, int error)
{
    if (!archive->warned)
        log_error("'%s': %s: %s; until that is put right, ended sessions are not kept on disk",
                  archive->path, what, strerror(error));
    archive->warned = true;
}

bool archive_open(struct archive *archive, bool make)
{
    struct err err;
    if (archive->dir >= 0)
        return true;
    if (!make && access(archive->path, F_OK) != 0 && errno == ENOENT)
        return false;
    if (path_private_dir(archive->path, PATH_CHOOSE_STATE, &err) == 0)
        archive->dir = open(archive->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    else if (!archive->warned)
        log_error("%s; ended sessions are not kept on disk", err.text);
    archive->warned = archive->dir < 0;
    return archive->dir >= 0;
}

static struct archive_job *add_job(struct archive *archive, enum archive_kind kind, uint64_t number)
{
    struct archive_job *job = xcalloc(1, sizeof *job);
    job->kind = kind;
    job->number = number;
    job->dir = archive->dir;
    job->owner = archive;
    job->image = (struct journal_image)JOURNAL_IMAGE_NONE;
    list_append(&archive->jobs, &job->link);
    return job;
}

void archive_remove(struct archive *archive, const char *name)
{
    BUG_UNLESS(archive->dir >= 0 && *name && !strchr(name, '/'));
    snprintf(add_job(archive, ARCHIVE_DELETE, 0)->name, ARCHIVE_NAME_MAX + 1, "%s", name);
    run_next(archive);
}

static void set_file(struct archived *archived, const char *name)
{
    free(archived->file);
    archived->file = name ? xstrdup(name) : NULL;
}

static void archive_name_of(const struct session *session, char out[ARCHIVE_NAME_MAX + 1])
{
    snprintf(out, ARCHIVE_NAME_MAX + 1, "%llu-%s", (unsigned long long)session_number(session),
             session_name(session));
}

static void written(struct archive *archive, const struct archive_job *job)
{
    struct session *session = registry_by_number(archive->registry, job->number);
    struct archived *archived = session ? archived_get(session) : NULL;
    int error = job->error;
    if (archived)
        archived->queued = false;
    if (error == -EAGAIN && archived && archived->tries < TRIES_MAX) {
        archive_put(session);
        return;
    }
    if (error == -EAGAIN)
        return; /* archive_closed comes when the last writer has closed the output */
    if (!error && !archived) {
        archive_remove(archive, job->name);
        return;
    }
    char final[ARCHIVE_NAME_MAX + 1];
    if (!error) {
        archive_name_of(session, final);
        error = renameat(archive->dir, job->name, archive->dir, final) == 0 ? 0 : -errno;
    }
    if (error) {
        warn(archive, "an ended session can't be written", -error);
        return;
    }
    archive->warned = false;
    if (archived->file && strcmp(archived->file, final) != 0)
        archive_remove(archive, archived->file);
    set_file(archived, final);
    const struct journal_header *header = journal_image_header(&job->image);
    archived->written_to = header->out_head;
    archive_closed(session);
    if (atomic_load(&session->journal->header->end_read_real_ms) != header->end_read_real_ms)
        archive_changed(session); /* the end was read meanwhile */
}

static void archive_on_done(void *arg)
{
    struct archive_job *job = arg;
    struct archive *archive = job->owner;
    BUG_UNLESS(archive->running == job);
    archive->running = NULL;
    if (archive->closing) {
        archive_free_job(job);
        return;
    }
    if (job->kind == ARCHIVE_WRITE)
        written(archive, job);
    else if (job->error && job->error != -ENOENT)
        warn(archive,
             job->kind == ARCHIVE_DELETE ? "an ended session can't be removed"
                                         : "an ended session can't be noted in",
             -job->error);
    archive_free_job(job);
    run_next(archive);
    registry_kick(archive->registry); /* a stop waits for the last job */
}

/* Takes the session's image as it is now. 0 or -errno; -ENOENT: nothing is to be done any more. */
static int prepare(struct archive_job *job, struct registry *registry)
{
    if (job->kind == ARCHIVE_DELETE)
        return 0;
    struct session *session = registry_by_number(registry, job->number);
    struct archived *archived = session ? archived_get(session) : NULL;
    if (!archived || (job->kind == ARCHIVE_NOTE && !archived->file))
        return -ENOENT;
    if (job->kind == ARCHIVE_NOTE) {
        archived->note_queued = false;
        snprintf(job->name, sizeof job->name, "%s", archived->file);
    } else {
        snprintf(job->name, sizeof job->name, ".new-%llu", (unsigned long long)job->number);
    }
    return journal_image_take(&job->image, session->journal);
}

static void run_next(struct archive *archive)
{
    while (!archive->running && !list_is_empty(&archive->jobs)) {
        struct archive_job *job = LIST_OWNER(archive->jobs.next, struct archive_job, link);
        list_remove(&job->link);
        int error = prepare(job, archive->registry);
        error = error
                    ? error
                    : loop_offload(archive->registry->loop, archive_job_run, archive_on_done, job);
        if (!error) {
            archive->running = job;
            return;
        }
        if (error && error != -ENOENT)
            warn(archive, "an ended session can't be written", -error);
        struct session *session = registry_by_number(archive->registry, job->number);
        if (session && job->kind == ARCHIVE_WRITE)
            archived_get(session)->queued = false;
        archive_free_job(job);
    }
}

static void archive_put(struct session *session)
{
    struct archive *archive = archive_of(session->registry);
    struct archived *archived = archived_of(session);
    if ((archived && archived->queued) || session->from_disk || session->gone ||
        !is_wanted(session->registry) || !archive_open(archive, true))
        return;
    archived = archived_get(session);
    archived->queued = true;
    archived->tries++;
    add_job(archive, ARCHIVE_WRITE, session_number(session));
    run_next(archive);
}

/* The last writer has closed the output: programs that outlived the session's own may have
 * written more. */
static void archive_closed(struct session *session)
{
    struct archived *archived = archived_of(session);
    if (!session->finished || session_is_open(session) ||
        (is_on_disk(session) && archived->written_to == journal_head(session->journal)))
        return;
    if (archived)
        archived->tries = 0;
    archive_put(session);
}

static void archive_changed(struct session *session)
{
    struct archive *archive = archive_of(session->registry);
    struct archived *archived = archived_of(session);
    if (!is_on_disk(session) || archived->note_queued || session->gone)
        return;
    archived->note_queued = true;
    add_job(archive, ARCHIVE_NOTE, session_number(session));
    run_next(archive);
}

/* When a file is read back its name counts, so journal and file need not change in one step. */
static void archive_renamed(struct session *session, const char *old_name)
{
    const struct archive *archive = archive_of(session->registry);
    struct archived *archived = archived_of(session);
    char final[ARCHIVE_NAME_MAX + 1];
    (void)old_name;
    if (!is_on_disk(session))
        return;
    archive_name_of(session, final);
    if (strcmp(final, archived->file) != 0 &&
        renameat(archive->dir, archived->file, archive->dir, final) != 0)
        warn(archive_of(session->registry), "an ended session can't be renamed", errno);
    else
        set_file(archived, final);
}

static void archive_forget(struct session *session, bool told)
{
    (void)told;
    if (!is_on_disk(session))
        return;
    archive_remove(archive_of(session->registry), archived_of(session)->file);
    set_file(archived_of(session), NULL);
}

static void archive_free(struct session *session)
{
    struct archived *archived = archived_of(session);
    if (!archived)
        return;
    if (session->journal->source == &archived->source)
        session->journal->source = NULL;
    free(archived->file);
    free(archived);
    session->part[PART_ARCHIVE] = NULL;
}

void archive_all(struct registry *registry)
{
    if (!is_wanted(registry))
        return;
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        struct session *session = LIST_OWNER(at, struct session, order);
        if (session->finished && !is_on_disk(session))
            archive_put(session);
    }
}

const struct part archive_part = {
    .init = archive_init,
    .fini = archive_fini,
    .reload = archive_all,
    .boot = archive_load,
    .stopping = archive_all,
    .is_idle = archive_is_idle,
    .late_look = archive_closed,
    .ended = archive_put,
    .forget = archive_forget,
    .free = archive_free,
    .renamed = archive_renamed,
    .end_read = archive_changed,
};
