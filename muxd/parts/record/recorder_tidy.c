/* recorder_tidy: owns which recordings are removed when all together are too large. */
#include "parts/record/recorder_tidy.h"
#include "base/clock.h"
#include "base/mem.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRESH_S 60
#define FILES_MAX 100000 /* looked at in one run; the rest waits for the next run */

struct found {
    char *name;
    uint64_t number, size;
    struct timespec changed;
};
struct finding {
    struct found *files;
    size_t count, room;
    uint64_t *active; /* owned: the numbers of sessions that are being recorded */
    size_t active_count, active_room;
    uint64_t total;
};

/* False, and the note is removed: no worker has locked it, and it is not just being made. */
static bool recorder_tidy_is_held(int dir, const char *name)
{
    struct stat st;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno != ENOENT;
    bool held = fstat(fd, &st) != 0 || st.st_mtim.tv_sec + FRESH_S > clock_real_ms() / 1000 ||
                flock(fd, LOCK_SH | LOCK_NB) != 0;
    if (!held)
        unlinkat(dir, name, 0);
    close(fd);
    return held;
}

static void recorder_tidy_note(struct finding *finding, int dir, const char *name)
{
    char *end;
    uint64_t number = strtoull(name + 1, &end, 10);
    if (end == name + 1 || strcmp(end, RECORDER_NOTE_EXTENSION) != 0 ||
        !recorder_tidy_is_held(dir, name))
        return;
    if (finding->active_count == finding->active_room) {
        finding->active_room = finding->active_room ? 2 * finding->active_room : 16;
        finding->active = xreallocarray(finding->active, finding->active_room,
                                        sizeof *finding->active);
    }
    finding->active[finding->active_count++] = number;
}

static void recording(struct finding *finding, int dir, const char *name)
{
    char *end;
    struct stat st;
    uint64_t number = strtoull(name, &end, 10);
    if (end == name || *end != '-' || finding->count >= FILES_MAX ||
        fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
        return;
    if (finding->count == finding->room) {
        finding->room = finding->room ? 2 * finding->room : 64;
        finding->files = xreallocarray(finding->files, finding->room, sizeof *finding->files);
    }
    finding->total += (uint64_t)st.st_size;
    finding->files[finding->count++] = (struct found){.name = xstrdup(name),
                                                      .number = number,
                                                      .size = (uint64_t)st.st_size,
                                                      .changed = st.st_mtim};
}

static int older_first(const void *a, const void *b)
{
    const struct found *left = a, *right = b;
    if (left->changed.tv_sec != right->changed.tv_sec)
        return left->changed.tv_sec < right->changed.tv_sec ? -1 : 1;
    return left->changed.tv_nsec < right->changed.tv_nsec
               ? -1
               : left->changed.tv_nsec > right->changed.tv_nsec;
}

static bool goes_on(const struct finding *finding, uint64_t number)
{
    for (size_t i = 0; i < finding->active_count; i++)
        if (finding->active[i] == number)
            return true;
    return false;
}

static void remove_oldest(struct finding *finding, int dir, uint64_t max)
{
    if (finding->total <= max)
        return;
    qsort(finding->files, finding->count, sizeof *finding->files, older_first);
    for (size_t i = 0; i < finding->count && finding->total > max; i++) {
        const struct found *file = &finding->files[i];
        if (goes_on(finding, file->number) || unlinkat(dir, file->name, 0) != 0)
            continue;
        finding->total -= file->size;
    }
}

void recorder_tidy(const char *path, uint64_t max)
{
    struct finding finding = {0};
    DIR *list = opendir(path);
    const struct dirent *entry;
    while (list && (entry = readdir(list))) {
        if (entry->d_name[0] == '.')
            recorder_tidy_note(&finding, dirfd(list), entry->d_name);
        else
            recording(&finding, dirfd(list), entry->d_name);
    }
    if (list)
        remove_oldest(&finding, dirfd(list), max);
    for (size_t i = 0; i < finding.count; i++)
        free(finding.files[i].name);
    free(finding.files);
    free(finding.active);
    if (list)
        closedir(list);
}
