/* spare.c: owns the descriptors that lead nowhere: duplicates of standard input, which keeper and
 * worker have open always. */
#include "keep/spare.h"
#include "base/fdio.h"
#include <fcntl.h>
#include <unistd.h>

bool spare_hold(struct spare *spare)
{
    while (spare->count < SPARE_MAX) {
        int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
        if (fd < 0)
            return false;
        spare->fds[spare->count++] = fd;
    }
    return true;
}

void spare_release_one(struct spare *spare)
{
    if (spare->count > 0)
        fd_close(&spare->fds[--spare->count]);
}

void spare_release(struct spare *spare)
{
    while (spare->count > 0)
        fd_close(&spare->fds[--spare->count]);
}
