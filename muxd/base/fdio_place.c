/* fdio_place.c: owns whole writes to a place in a file. */
#include "base/fdio.h"
#include <errno.h>
#include <unistd.h>

ssize_t fd_pwrite_all(int fd, const void *data, size_t size, off_t at)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pwrite(fd, (const char *)data + done, size - done, at + (off_t)done);
        if (n == 0)
            break;
        if (n > 0)
            done += (size_t)n;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)done;
}
