/* holds.c: owns the directories that exist only so that something can be mounted over them: a
 * protected name that is missing, as .git. They are made, locked for as long as the command runs,
 * and removed by the last who holds the lock. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "confine/confine_words.h"
#include "confine/helper/helper.h"

#define PAUSE_MS 5

static struct hold {
    const char *dir;
    int fd;
} holds[CONFINE_MADE_MAX];
static size_t count;

static bool is_ours(int fd)
{
    struct stat held;
    return fstat(fd, &held) == 0 && held.st_mode & S_ISVTX;
}

static bool still_there(const char *dir, int fd)
{
    struct stat by_name, held;
    return lstat(dir, &by_name) == 0 && fstat(fd, &held) == 0 && by_name.st_dev == held.st_dev &&
           by_name.st_ino == held.st_ino;
}

/* False: somebody, perhaps one who may only read here, has it for himself. */
static bool lock_it(const char *dir, int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) == 0)
        return true;
    if (errno != EWOULDBLOCK)
        helper_fail("can't protect", dir, errno);
    return false;
}

/* Out of the way of what the command and bubblewrap expect; the directories to bind are open. */
static int move_up(const char *dir, int fd)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, CONFINE_OPEN_FD);
    if (moved < 0)
        helper_fail("no descriptor is free (see open_files) to protect", dir, errno);
    close(fd);
    return moved;
}

/* Another command that ends may remove the directory between our steps: then once more. */
void holds_add(const char *dir)
{
    if (count == CONFINE_MADE_MAX)
        helper_fail("too many directories to protect:", dir, E2BIG);
    for (int tries = 0; tries < 1000; tries++) {
        if (mkdir(dir, CONFINE_MADE_MODE) != 0 && errno != EEXIST)
            helper_fail("can't make, so that it could be protected,", dir, errno);
        int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT)
            continue;
        if (fd < 0)
            helper_fail("can't protect", dir, errno);
        bool locked = lock_it(dir, fd);
        if (locked && still_there(dir, fd)) {
            holds[count++] = (struct hold){dir, move_up(dir, fd)};
            return;
        }
        close(fd);
        if (!locked)
            poll(NULL, 0, PAUSE_MS); /* nothing tells when a lock is free */
    }
    helper_fail("can't protect", dir, EBUSY);
}

bool holds_any(void)
{
    return count > 0;
}

void holds_end(void)
{
    for (size_t i = 0; i < count; i++) {
        if (is_ours(holds[i].fd) && flock(holds[i].fd, LOCK_EX | LOCK_NB) == 0 &&
            still_there(holds[i].dir, holds[i].fd))
            rmdir(holds[i].dir); /* only an empty one goes */
        close(holds[i].fd);
    }
    count = 0;
}
