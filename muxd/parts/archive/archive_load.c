/* archive_load.c: owns the way back: ended sessions of an earlier daemon from their files.
 * Headers are read at once, the output when a reader wants it. A file that is not exactly right
 * is not trusted: the log names it and it stays as it is. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/value.h"
#include "parts/archive/archive.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
    if (!dash || (size_t)(dash - name) >= sizeof digits || strlen(name) > ARCHIVE_NAME_MAX ||
        !value_session_name(dash + 1))
        return false;
    memcpy(digits, name, (size_t)(dash - name));
    digits[dash - name] = 0;
    if (*digits == '0' || !value_int(digits, NUMBER_FIRST, INT64_MAX / 4, &value))
        return false;
    *number = (uint64_t)value;
    return true;
}

/* A file that a predecessor did not finish. */
static bool is_leftover(const char *name)
{
    return strncmp(name, ".new-", 5) == 0;
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
            archive_remove(archive, name);
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
    return left->number < right->number   ? 1
           : left->number > right->number ? -1
                                          : strcmp(left->name, right->name);
}

/* The file is a plain one, ours alone, and has one name. NULL or the reason why not; *fd is the
 * caller's. */
static const char *archive_load_open_file(int dir, const char *name, int *fd)
{
    struct stat st;
    *fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*fd < 0)
        return errno == ELOOP ? "it is a symbolic link" : "it can't be opened";
    const char *reason = fstat(*fd, &st) != 0     ? "it can't be examined"
                         : !S_ISREG(st.st_mode)   ? "it is not a plain file"
                         : st.st_uid != geteuid() ? "it belongs to another user"
                         : st.st_nlink != 1       ? "it has a second name"
                         : st.st_mode & 077       ? "it is open to others"
                                                  : NULL;
    if (reason)
        fd_close(fd);
    return reason;
}

/* A reader wants the output. */
static void fetch(struct journal_source *source)
{
    const struct archived *archived = LIST_OWNER(source, struct archived, source);
    struct session *session = archived->session;
    const struct archive *archive = archive_of(session->registry);
    int fd = -1;
    source->pending = false;
    const char *reason = archived->file ? archive_load_open_file(archive->dir, archived->file, &fd)
                                        : "it is gone";
    int error = reason ? 0 : journal_image_fetch(session->journal, fd);
    fd_close(&fd);
    if (error)
        reason = error == -ESTALE ? "it was replaced after the start" : strerror(-error);
    if (reason) {
        log_error("output of session %llu is lost: '%s/%s': %s",
                  (unsigned long long)session_number(session), archive->path,
                  archived->file ? archived->file : "", reason);
        journal_lose(session->journal);
    }
}

static struct archived *meet(struct session *session, const struct found *found)
{
    struct archived *archived = archived_get(session);
    BUG_UNLESS(!archived->file);
    archived->file = xstrdup(found->name);
    archived->written_to = journal_head(session->journal);
    return archived;
}

/* The file's name has the session's name: a rename changes the file's name only. */
static void archive_load_revive(struct archive *archive, const struct found *found,
                                struct journal *journal)
{
    char *name = journal->header->name;
    memset(name, 0, sizeof journal->header->name);
    snprintf(name, sizeof journal->header->name, "%s", strchr(found->name, '-') + 1);
    struct archived *archived = meet(recover_from_disk(archive->registry, journal), found);
    archived->source = (struct journal_source){.pending = true, .fetch = fetch};
    journal->source = &archived->source;
}

static bool has_room(const struct registry *registry, const struct journal *journal)
{
    const struct config_limits *limits = &registry->cfg->limits;
    int64_t now = clock_real_ms(), read_ms = journal->header->end_read_real_ms;
    bool over = read_ms && now > read_ms && now - read_ms >= limits->keep_ended_ms;
    return !over && registry->count < (unsigned)limits->max_sessions &&
           registry->reserved_bytes + index_reserved(journal) <=
               (uint64_t)limits->journal_total_bytes;
}

/* *journal becomes the caller's. NULL, or the reason why the file is ignored. */
static const char *examine(const struct archive *archive, const struct found *found,
                           struct journal **journal, struct err *err)
{
    int fd;
    *journal = NULL;
    const char *reason = archive_load_open_file(archive->dir, found->name, &fd);
    if (reason)
        return reason;
    int code = journal_image_adopt(journal, fd, err);
    fd_close(&fd);
    if (code)
        return err->text;
    if ((*journal)->header->number != found->number)
        return "it is the image of another session";
    return (*journal)->header->state < SESSION_EXITED
               ? "it is the image of a session that has not ended"
               : NULL;
}

static void load_one(struct archive *archive, const struct found *found)
{
    struct err err = {0};
    struct journal *journal;
    const char *reason = examine(archive, found, &journal, &err);
    struct session *session = registry_by_number(archive->registry, found->number);
    if (!reason && session && (!session->finished || archived_get(session)->file))
        reason = "another session has that number";
    if (reason) {
        ignore(archive, found->name, reason);
    } else if (session) {
        /* it was taken over from the predecessor: only its file has to be known */
        meet(session, found)->written_to = journal_head(journal);
    } else if (has_room(archive->registry, journal)) {
        archive_load_revive(archive, found, journal);
        return;
    } else {
        archive_remove(archive, found->name);
    }
    journal_free(journal);
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
        /* when there are too many, the oldest are removed */
        qsort(all, count, sizeof *all, younger_first);
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
