/* archive_load.c: owns the way back: ended sessions of an earlier life from their directories. Names and statuses are read at once, the
 * output when somebody wants to see it. Nothing that is not exactly right is trusted: it is told in the log and left as it is. */
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/value.h"
#include "parts/archive/archive.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MAX 65536 /* no config allows more sessions */

struct found {
    uint64_t number;
    char name[ARCHIVE_NAME_MAX + 1];
};

static void ignore(const struct archive *archive, const char *name, const char *reason)
{
    log_warn("'%s/%s' is ignored: %s; remove it", archive->path, name, reason);
}

static bool parse_name(const char *name, uint64_t *number)
{
    const char *dash = strchr(name, '-');
    char digits[21];
    int64_t value;
    if (!dash || (size_t)(dash - name) >= sizeof digits || strlen(name) > ARCHIVE_NAME_MAX || !value_session_name(dash + 1))
        return false;
    memcpy(digits, name, (size_t)(dash - name));
    digits[dash - name] = 0;
    if (*digits == '0' || !value_int(digits, NUMBER_FIRST, INT64_MAX / 4, &value))
        return false;
    *number = (uint64_t)value;
    return true;
}

/* What a predecessor had begun to write or to delete. */
static bool is_leftover(const char *name)
{
    return strncmp(name, ".new-", 5) == 0 || strncmp(name, ".gone-", 6) == 0;
}

static size_t list_all(struct archive *archive, struct found **out)
{
    struct found *all = NULL;
    size_t count = 0, room = 0;
    int fd = openat(archive->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    if (!list)
        log_error("'%s' can't be listed: %s", archive->path, strerror(errno)), fd_close(&fd);
    while (list && count < ENTRIES_MAX && (entry = readdir(list))) {
        struct found found = {0};
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (is_leftover(name) && strlen(name) <= ARCHIVE_NAME_MAX) {
            archive_remove_dir(archive, name);
        } else if (!parse_name(name, &found.number)) {
            ignore(archive, name, "its name is not that of an ended session");
        } else {
            memcpy(found.name, name, strlen(name) + 1);
            if (count == room)
                all = xreallocarray(all, room = room ? 2 * room : 64, sizeof *all);
            all[count++] = found;
        }
    }
    if (list)
        closedir(list);
    *out = all;
    return count;
}

static int younger_first(const void *a, const void *b)
{
    const struct found *left = a, *right = b;
    return left->number < right->number ? 1 : left->number > right->number ? -1 : strcmp(left->name, right->name);
}

/* Ours alone, and really there: no link, no device, no second name. NULL or the reason; *fd is the caller's. */
static const char *open_file(int dir, const char *name, int *fd, uint64_t *size)
{
    struct stat st;
    *fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*fd < 0)
        return errno == ELOOP ? "a file of it is a symbolic link" : "a file of it is missing";
    const char *reason = fstat(*fd, &st) != 0     ? "a file of it can't be examined"
                         : !S_ISREG(st.st_mode)   ? "a file of it is no plain file"
                         : st.st_uid != geteuid() ? "a file of it belongs to another user"
                         : st.st_nlink != 1       ? "a file of it has a second name"
                         : st.st_mode & 077       ? "a file of it is open to others"
                                                  : NULL;
    *size = reason ? 0 : (uint64_t)st.st_size;
    if (reason)
        fd_close(fd);
    return reason;
}

static const char *open_dir(int parent, const char *name, int *dir)
{
    struct stat st;
    *dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*dir < 0)
        return "it is no directory";
    const char *reason = fstat(*dir, &st) != 0    ? "it can't be examined"
                         : st.st_uid != geteuid() ? "it belongs to another user"
                         : st.st_mode & 077       ? "it is open to others"
                                                  : NULL;
    if (reason)
        fd_close(dir);
    return reason;
}

static const char *read_status(int dir, struct archive_status *status)
{
    uint64_t size;
    int fd;
    const char *reason = open_file(dir, "status.ini", &fd, &size);
    if (!reason && size > ARCHIVE_STATUS_MAX)
        reason = "its status is too long";
    if (!reason) {
        char *text = xmalloc((size_t)size + 1);
        ssize_t n = fd_read_all(fd, text, (size_t)size);
        text[n < 0 ? 0 : n] = 0;
        reason = n != (ssize_t)size || strlen(text) != size ? "its status can't be read" : NULL;
        if (!reason && archive_status_parse(status, text))
            reason = "its status is damaged";
        free(text);
    }
    fd_close(&fd);
    return reason;
}

static uint64_t output_size(const struct archive_status *status)
{
    return (uint64_t)(status->saved_size + status->output_to - status->output_from);
}

/* *fd: the file with the output, the caller's. */
static const char *examine(const struct archive *archive, const char *name, struct archive_status *status, int *fd)
{
    uint64_t size = 0;
    int dir;
    *fd = -1;
    const char *reason = open_dir(archive->dir, name, &dir);
    if (reason)
        return reason;
    reason = read_status(dir, status);
    if (!reason) {
        reason = open_file(dir, "output", fd, &size);
        if (!reason && size != output_size(status))
            reason = "its output is not as long as its status says";
        if (reason)
            archive_status_fini(status), fd_close(fd);
    }
    close(dir);
    return reason;
}

/* Somebody wants to see the output. The file is looked at anew: much may have happened since the start. */
static void fetch(struct journal_source *source)
{
    const struct archived *archived = LIST_OWNER(source, struct archived, source);
    struct session *session = archived->session;
    const struct archive *archive = archive_of(session->registry);
    struct archive_status status;
    int fd = -1;
    source->pending = false;
    const char *reason = archived->dir ? examine(archive, archived->dir, &status, &fd) : "it is gone";
    if (!reason && (status.output_from != archived->output_from || status.output_to != archived->output_to ||
                    status.saved_from != archived->saved_from || status.saved_size != archived->saved_size))
        reason = "it is another one than at the start";
    if (fd >= 0)
        archive_status_fini(&status);
    uint64_t saved = (uint64_t)archived->saved_size, size = (uint64_t)(archived->output_to - archived->output_from);
    if (!reason && (journal_put_back(session->journal, fd, 0, (uint64_t)archived->saved_from, saved, true) != 0 ||
                    journal_put_back(session->journal, fd, saved, (uint64_t)archived->output_from, size, false) != 0))
        reason = "its output can't be read";
    fd_close(&fd);
    if (reason) {
        log_error("output of session %llu is lost: '%s/%s': %s", (unsigned long long)session_number(session), archive->path,
                  archived->dir ? archived->dir : "", reason);
        journal_lose(session->journal);
    }
}

static struct journal *make_journal(const struct archive_status *status, const char *name, struct err *err)
{
    struct journal *journal;
    struct journal_make make = {.number = (uint64_t)status->number, .name = name, .tty = status->tty != 0, .rows = (int)status->rows,
                                .cols = (int)status->cols, .ring_bytes = (size_t)(status->output_to - status->output_from),
                                .head_bytes = (size_t)status->saved_size, .cmd = status->cmd, .cwd = status->cwd,
                                .described = *status->described ? status->described : NULL};
    if (journal_new(&journal, &make, err) != 0)
        return NULL;
    struct journal_header *header = journal->header;
    journal_restore(journal, (uint64_t)status->saved_from, (uint64_t)status->saved_size, (uint64_t)status->output_from,
                    (uint64_t)status->output_to);
    header->created_real_ms = status->created_ms;
    atomic_store(&header->ended_real_ms, status->ended_ms);
    atomic_store(&header->end_read_real_ms, status->read_ms);
    atomic_store(&header->last_used_real_ms, status->read_ms ? status->read_ms : status->ended_ms);
    atomic_store(&header->exit_code, (int32_t)status->exit_code);
    atomic_store(&header->term_signal, (int32_t)status->signal);
    atomic_store(&header->killed_by, (uint32_t)status->killed_by);
    atomic_store(&header->readers[0].cursor, (uint64_t)status->read_to);
    atomic_store(&header->drained, 1);
    atomic_store(&header->state, (uint32_t)status->state);
    return journal;
}

static struct archived *meet(struct session *session, const struct found *found, const struct archive_status *status)
{
    struct archived *archived = archived_get(session);
    archived->dir = xstrdup(found->name);
    archived->output_from = status->output_from;
    archived->output_to = status->output_to;
    archived->saved_from = status->saved_from;
    archived->saved_size = status->saved_size;
    return archived;
}

static void revive(struct archive *archive, const struct found *found, const struct archive_status *status)
{
    struct err err;
    struct journal *journal = make_journal(status, strchr(found->name, '-') + 1, &err);
    if (!journal) {
        log_error("session %llu can't be read back: %s", (unsigned long long)found->number, err.text);
        return;
    }
    struct archived *archived = meet(recover_from_disk(archive->registry, journal), found, status);
    archived->source = (struct journal_source){.pending = true, .fetch = fetch};
    journal->source = &archived->source;
}

static bool has_room(const struct registry *registry, const struct archive_status *status)
{
    const struct config_limits *limits = &registry->cfg->limits;
    int64_t now = clock_real_ms();
    bool over = status->read_ms && now > status->read_ms && now - status->read_ms >= limits->keep_ended_ms;
    return !over && registry->count < (unsigned)limits->max_sessions &&
           registry->reserved_bytes + output_size(status) <= (uint64_t)limits->journal_total_bytes;
}

static void load_one(struct archive *archive, const struct found *found)
{
    struct archive_status status;
    int fd;
    const char *reason = examine(archive, found->name, &status, &fd);
    fd_close(&fd);
    if (!reason) {
        struct session *session = registry_by_number(archive->registry, found->number);
        if ((uint64_t)status.number != found->number)
            reason = "its status is that of another one";
        else if (session && (!session->finished || archived_get(session)->dir))
            reason = "there is another session of that number";
        else if (session) /* the predecessor held it already: only where it is on disk has to be known again */
            meet(session, found, &status);
        else if (has_room(archive->registry, &status))
            revive(archive, found, &status);
        else
            archive_remove_dir(archive, found->name);
        archive_status_fini(&status);
    }
    if (reason)
        ignore(archive, found->name, reason);
}

void archive_load(struct registry *registry)
{
    struct archive *archive = archive_of(registry);
    struct found *all = NULL;
    if (archive->loaded)
        return;
    archive->loaded = true;
    if (!registry->cfg->muxd.keep_on_disk || !archive_open(archive, false))
        return;
    size_t count = list_all(archive, &all);
    if (count > 0)
        qsort(all, count, sizeof *all, younger_first); /* when there are too many, the oldest go */
    for (size_t i = 0; i < count; i++)
        load_one(archive, &all[i]);
    free(all);
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        struct session *session = LIST_OWNER(at, struct session, order);
        if (session->from_disk)
            ended_place(session, false);
    }
    archive_all(registry);
}
