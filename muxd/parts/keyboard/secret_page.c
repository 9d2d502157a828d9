/* secret_page: owns how memory for secrets is made and freed. */
#include "parts/keyboard/secret_page.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/mem.h"
#include "base/reserve.h"
#include "parts/keyboard/secret.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAGIC 0x73637274u

static_assert(sizeof(struct secret_staged) == 72, "a successor of another build reads it");
static_assert(sizeof(struct secret_staged) + SECRET_MAX + 1 <= SECRET_PAGE_BYTES,
              "with its line end");

static void keep_private(char *page)
{
    /* a kernel without these is no reason to refuse */
    madvise(page, SECRET_PAGE_BYTES, MADV_DONTDUMP);
    madvise(page, SECRET_PAGE_BYTES, MADV_DONTFORK);
}

/* A login may have set less than its hard limit allows (ulimit -S -l): we raise it while we
 * lock. What is locked stays locked. */
static struct rlimit limit_raise(void)
{
    struct rlimit was = {0}, most;
    if (getrlimit(RLIMIT_MEMLOCK, &was) == 0) {
        most = (struct rlimit){was.rlim_max, was.rlim_max};
        setrlimit(RLIMIT_MEMLOCK, &most);
    }
    return was;
}

static void limit_restore(const struct rlimit *was)
{
    int saved = errno;
    if (was->rlim_cur != was->rlim_max)
        setrlimit(RLIMIT_MEMLOCK, was);
    errno = saved;
}

static int lock_page(char *page)
{
    struct rlimit was = limit_raise();
    int result = mlock(page, SECRET_PAGE_BYTES);
    limit_restore(&was);
    return result;
}

/* NULL: errno says why. */
static char *new_page(bool locked)
{
    char *page = mmap(NULL, SECRET_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                      -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    if (lock_page(page) != 0 && locked) {
        int error = errno;
        munmap(page, SECRET_PAGE_BYTES);
        errno = error;
        return NULL;
    }
    keep_private(page);
    return page;
}

char *secret_page_new(struct err *err)
{
    char *page = new_page(false);
    if (!page)
        err_set(err, ERR_SYSTEM, "no memory for a secret: %s; try again", strerror(errno));
    return page;
}

void secret_page_free(char *page)
{
    if (!page)
        return;
    mem_wipe(page, SECRET_PAGE_BYTES);
    munmap(page, SECRET_PAGE_BYTES);
}

static char *map_kept(int fd)
{
    struct rlimit was = limit_raise(); /* this memory counts as locked */
    char *page = mmap(NULL, SECRET_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    limit_restore(&was);
    if (page == MAP_FAILED)
        return NULL;
    keep_private(page);
    return page;
}

static int open_kept(void)
{
#ifdef SYS_memfd_secret
    return (int)syscall(SYS_memfd_secret, O_CLOEXEC);
#else
    return -1;
#endif
}

char *secret_page_new_kept(int *fd, struct err *err)
{
    *fd = reserve_has_room() ? open_kept() : -1; /* the keeper must have room for it, too */
    char *page = *fd >= 0 && ftruncate(*fd, SECRET_PAGE_BYTES) == 0 ? map_kept(*fd) : NULL;
    if (!page)
        fd_close(fd);
    page = page ? page : new_page(true);
    if (!page) {
        limit_err(err, ERR_LIMIT, LIMIT_SECRET, errno,
                  "no memory can be locked for a secret that waits");
        return NULL;
    }
    limit_passed(LIMIT_SECRET);
    ((struct secret_staged *)(void *)page)->magic = MAGIC;
    return page;
}

char *secret_page_adopt(int fd)
{
    struct stat st;
    char *page = fd >= 0 && fstat(fd, &st) == 0 && st.st_size == SECRET_PAGE_BYTES ? map_kept(fd)
                                                                                   : NULL;
    struct secret_staged *staged = (struct secret_staged *)(void *)page;
    if (!page ||
        (staged->magic == MAGIC && staged->phase == SECRET_WAITS && staged->size <= SECRET_MAX &&
         memchr(staged->client, '\0', sizeof staged->client)))
        return page;
    secret_page_free(page);
    return NULL;
}
