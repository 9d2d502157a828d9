/* secret_page: the memory for secrets: locked, in no core dump, in no child. A staged secret
 * lies, where the kernel has such memory (memfd_secret(2)), in a page that the keeper holds for
 * a successor of this worker: no process can open or read its descriptor, only one that was
 * given it can map it, and it never goes to swap. Elsewhere the page is this process's own and
 * dies with it. */
#ifndef MUXD_PARTS_SECRET_PAGE_H
#define MUXD_PARTS_SECRET_PAGE_H
#include "base/err.h"
#include <stdint.h>
#include <sys/types.h>

#define SECRET_PAGE_BYTES 4096

/* For a secret that is typed at once: locked where that is allowed. */
char *secret_page_new(struct err *err);
void secret_page_free(char *page);      /* wipes it first; NULL is fine */

/* The beginning of a page that outlives a worker; the secret follows. */
struct secret_staged {
    uint32_t magic, phase, size;
    uid_t uid;
    int32_t pid;
    char client[40];
    int64_t until_boot_ms;
};
/* SECRET_TYPING: it may have been typed, so a successor does not type it */
enum secret_phase { SECRET_FILLING, SECRET_WAITS, SECRET_TYPING };

/* For a staged secret: always locked. *fd is for the keeper; -1: the page can't outlive us.
 * ERR_LIMIT: no memory can be locked. */
char *secret_page_new_kept(int *fd, struct err *err);
char *secret_page_adopt(int fd); /* NULL: not such a page, or not filled */
#endif
