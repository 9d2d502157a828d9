/* secret_page: the memory that secrets lie in: locked, in no core dump, in no child. What is staged
 * lies, where the kernel has such memory (memfd_secret(2)), in one that the keeper holds for a
 * successor of this worker: nobody can open or read its descriptor, only map it who was given it,
 * and it never goes to swap. Elsewhere it is this process's own, and gone with it. */
#ifndef MUXD_PARTS_SECRET_PAGE_H
#define MUXD_PARTS_SECRET_PAGE_H
#include "base/err.h"
#include <stdint.h>
#include <sys/types.h>

#define SECRET_PAGE_BYTES 4096

/* For the moment in which it is typed: locked where that is allowed. */
char *secret_page_new(struct err *err);
void secret_page_free(char *page);      /* wiped first; NULL is fine */

/* The beginning of a page that outlives a worker; the secret stands behind it. */
struct secret_staged {
    uint32_t magic, phase, size;
    uid_t uid;
    int32_t pid;
    char client[40];
    int64_t until_boot_ms;
};
/* the last: nobody knows whether it was typed, so it is not again */
enum secret_phase { SECRET_FILLING, SECRET_WAITS, SECRET_TYPING };

/* For one that waits: locked always, with *fd for the keeper; -1: it can't outlive us. ERR_LIMIT:
 * no memory can be locked. */
char *secret_page_new_kept(int *fd, struct err *err);
char *secret_page_adopt(int fd); /* NULL: it is none, or not whole */
#endif
