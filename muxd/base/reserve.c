/* reserve.c: owns the descriptors that are kept back. */
#include "base/reserve.h"
#include "base/bug.h"
#include "base/fdio.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int fds[RESERVE_MAX];
static size_t count;
static bool begun;

void reserve_fill(void)
{
    begun = true;
    while (count < RESERVE_MAX) {
        int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
        if (fd < 0)
            return;
        fds[count++] = fd;
    }
}

void reserve_release(size_t keep)
{
    BUG_UNLESS(keep < RESERVE_MAX && count <= RESERVE_MAX);
    while (count > keep)
        fd_close(&fds[--count]);
}

size_t reserve_count(void)
{
    return count;
}

/* The kernel tells how many are open (from Linux 6.2 on). Those with numbers beyond a limit that
 * was lowered since are counted, too, so that less room than there is may be told, never more. */
static bool counts_room(void)
{
    struct stat st;
    struct rlimit limit;
    return stat("/proc/self/fd", &st) == 0 && st.st_size > 0 &&
           getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
           limit.rlim_cur >= (rlim_t)st.st_size + RESERVE_ROOM;
}

bool reserve_has_room(void)
{
    int room[RESERVE_ROOM];
    size_t got = 0;
    if (counts_room())
        return true;
    while (got < RESERVE_ROOM && (room[got] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
        got++;
    for (size_t i = 0; i < got; i++)
        fd_close(&room[i]);
    return got == RESERVE_ROOM;
}

bool reserve_is_short(void)
{
    return begun && count < RESERVE_MAX;
}
