/* archive.c: owns the queue of what is to be done on disk, and the moment in which a directory becomes, or is no longer, an ended
 * session. */
#include "session/archive.h"
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

void archive_init(struct registry *registry, const char *state_dir)
{
    struct archive *archive = xcalloc(1, sizeof *archive);
    archive->registry = registry;
    archive->path = path_join(state_dir, "ended");
    archive->dir = -1;
    list_init(&archive->jobs);
    registry->archive = archive;
}

static void free_job(struct archive_job *job)
{
    fd_close(&job->source.fd);
    archive_status_fini(&job->status);
    free(job);
}

void archive_fini(struct registry *registry)
{
    struct archive *archive = registry->archive;
    registry->archive = NULL;
    archive->closing = true;
    while (!list_is_empty(&archive->jobs)) {
        struct archive_job *job = LIST_OWNER(archive->jobs.next, struct archive_job, link);
        list_remove(&job->link);
        free_job(job);
    }
    loop_wait_offloaded(registry->loop);
    fd_close(&archive->dir);
    free(archive->path);
    free(archive);
}

bool archive_is_idle(const struct registry *registry)
{
    return !registry->archive->running && list_is_empty(&registry->archive->jobs);
}

static bool is_wanted(const struct registry *registry)
{
    return registry->cfg->muxd.keep_on_disk;
}

/* The log hears of it when it begins, not for each session. */
static void warn(struct archive *archive, const char *what, int error)
{
    if (!archive->warned)
        log_error("'%s': %s: %s; until that is put right, ended sessions are not kept on disk", archive->path, what, strerror(error));
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
    job->source.fd = -1;
    list_append(&archive->jobs, &job->link);
    return job;
}

static void delete_later(struct archive *archive, const char *name)
{
    snprintf(add_job(archive, ARCHIVE_DELETE, 0)->name, ARCHIVE_NAME_MAX + 1, "%s", name);
    run_next(archive);
}

void archive_remove_dir(struct archive *archive, const char *name)
{
    char gone[ARCHIVE_NAME_MAX + 1];
    snprintf(gone, sizeof gone, ".gone-%.*s", ARCHIVE_NAME_MAX - 6, name);
    if (*name == '.')
        delete_later(archive, name);
    else if (renameat(archive->dir, name, archive->dir, gone) == 0)
        delete_later(archive, gone);
    else if (errno == ENOTEMPTY || errno == EEXIST) /* one of that name is not deleted yet */
        delete_later(archive, name);
    else if (errno != ENOENT)
        warn(archive, "an ended session can't be removed", errno);
}

static void set_dir(struct session *session, const char *name)
{
    free(session->archived.dir);
    session->archived.dir = name ? xstrdup(name) : NULL;
}

static void name_of(const struct session *session, char out[ARCHIVE_NAME_MAX + 1])
{
    snprintf(out, ARCHIVE_NAME_MAX + 1, "%llu-%s", (unsigned long long)session_number(session), session_name(session));
}

/* What is in its place goes out of the way first: rename(2) takes no directory that has something in it. */
static int publish(struct archive *archive, const char *temporary, const char *final)
{
    if (renameat(archive->dir, temporary, archive->dir, final) == 0)
        return 0;
    archive_remove_dir(archive, final);
    return renameat(archive->dir, temporary, archive->dir, final) == 0 ? 0 : -errno;
}

static void written(struct archive *archive, const struct archive_job *job)
{
    struct session *session = registry_by_number(archive->registry, job->number);
    int error = job->error;
    if (session)
        session->archived.queued = false;
    if (error == -EAGAIN && session && session->archived.tries < TRIES_MAX) {
        archive_ended(session);
        return;
    }
    if (error == -EAGAIN)
        return; /* archive_closed comes when nobody writes any more */
    if (!error && !session) {
        delete_later(archive, job->name);
        return;
    }
    char final[ARCHIVE_NAME_MAX + 1];
    if (!error) {
        name_of(session, final);
        error = publish(archive, job->name, final);
    }
    if (error) {
        warn(archive, "an ended session can't be written", -error);
        return;
    }
    archive->warned = false;
    if (session->archived.dir && strcmp(session->archived.dir, final) != 0)
        archive_remove_dir(archive, session->archived.dir);
    set_dir(session, final);
    session->archived.output_from = job->status.output_from;
    session->archived.output_to = job->status.output_to;
    session->archived.saved_from = job->status.saved_from;
    session->archived.saved_size = job->status.saved_size;
    if (!session_is_open(session))
        archive_closed(session);
    if (atomic_load(&session->journal->header->end_read_real_ms) != job->status.read_ms)
        archive_changed(session); /* meanwhile */
}

static void on_done(void *arg)
{
    struct archive_job *job = arg;
    struct archive *archive = job->owner;
    archive->running = NULL;
    if (archive->closing) {
        free_job(job);
        return;
    }
    if (job->kind == ARCHIVE_WRITE)
        written(archive, job);
    else if (job->error && job->error != -ENOENT)
        warn(archive, job->kind == ARCHIVE_DELETE ? "an ended session can't be removed" : "a status can't be written", -job->error);
    free_job(job);
    run_next(archive);
    registry_kick(archive->registry); /* a stop waits for the last one */
}

/* As it is now. 0 or -errno; -ENOENT: there is nothing to do any more. */
static int prepare(struct archive_job *job, struct registry *registry)
{
    struct session *session = job->kind == ARCHIVE_DELETE ? NULL : registry_by_number(registry, job->number);
    if (job->kind == ARCHIVE_DELETE)
        return 0;
    if (!session || (job->kind == ARCHIVE_STATUS && !session->archived.dir))
        return -ENOENT;
    archive_status_of(&job->status, session->journal);
    if (job->kind == ARCHIVE_STATUS) {
        session->archived.status_queued = false;
        snprintf(job->name, sizeof job->name, "%s", session->archived.dir);
        if (session->archived.from_disk) /* its ring may not hold a byte yet: what the disk has stays true */
            return 0;
        job->status.output_from = session->archived.output_from;
        job->status.output_to = session->archived.output_to;
        job->status.saved_from = session->archived.saved_from;
        job->status.saved_size = session->archived.saved_size;
        if (job->status.read_to > job->status.output_to)
            job->status.read_to = job->status.output_to;
        return 0;
    }
    const struct journal_header *header = session->journal->header;
    snprintf(job->name, sizeof job->name, ".new-%llu", (unsigned long long)job->number);
    job->source = (struct archive_job_source){.ring_at = journal_ring_at(session->journal), .ring_size = header->ring_size,
                                              .head_at = header->head_at, .head_size = header->head_size,
                                              .tail_field = offsetof(struct journal_header, out_tail),
                                              .fd = fcntl(session->journal->fd, F_DUPFD_CLOEXEC, 3)};
    return job->source.fd < 0 ? -errno : 0;
}

static void run_next(struct archive *archive)
{
    while (!archive->running && !list_is_empty(&archive->jobs)) {
        struct archive_job *job = LIST_OWNER(archive->jobs.next, struct archive_job, link);
        list_remove(&job->link);
        int error = prepare(job, archive->registry);
        error = error ? error : loop_offload(archive->registry->loop, archive_job_run, on_done, job);
        if (!error) {
            archive->running = job;
            return;
        }
        if (error && error != -ENOENT)
            warn(archive, "an ended session can't be written", -error);
        struct session *session = registry_by_number(archive->registry, job->number);
        if (session && job->kind == ARCHIVE_WRITE)
            session->archived.queued = false;
        free_job(job);
    }
}

static void put(struct session *session)
{
    struct archive *archive = session->registry->archive;
    if (session->archived.queued || session->archived.from_disk || session->gone || !is_wanted(session->registry) ||
        !archive_open(archive, true))
        return;
    session->archived.queued = true;
    session->archived.tries++;
    add_job(archive, ARCHIVE_WRITE, session_number(session));
    run_next(archive);
}

void archive_ended(struct session *session)
{
    put(session);
}

void archive_closed(struct session *session)
{
    if ((uint64_t)session->archived.output_to == journal_head(session->journal) && session->archived.dir)
        return;
    session->archived.tries = 0;
    put(session);
}

void archive_changed(struct session *session)
{
    if (!session->archived.dir || session->archived.status_queued || session->gone)
        return;
    session->archived.status_queued = true;
    add_job(session->registry->archive, ARCHIVE_STATUS, session_number(session));
    run_next(session->registry->archive);
}

/* The directory's name is what counts when it is read back, so the two need not change in one step. */
void archive_renamed(struct session *session)
{
    struct archive *archive = session->registry->archive;
    char final[ARCHIVE_NAME_MAX + 1];
    if (!session->archived.dir)
        return;
    name_of(session, final);
    if (strcmp(final, session->archived.dir) != 0 && renameat(archive->dir, session->archived.dir, archive->dir, final) != 0)
        warn(archive, "an ended session can't be renamed", errno);
    else
        set_dir(session, final);
    archive_changed(session);
}

void archive_forget(struct session *session)
{
    if (session->archived.dir)
        archive_remove_dir(session->registry->archive, session->archived.dir);
    set_dir(session, NULL);
}

void archive_all(struct registry *registry)
{
    if (!is_wanted(registry))
        return;
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        struct session *session = LIST_OWNER(at, struct session, order);
        if (session->finished && !session->archived.dir)
            put(session);
    }
}
