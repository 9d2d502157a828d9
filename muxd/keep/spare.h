/* spare: descriptors that are kept back while many come in, so that clients can still be let in
 * afterwards. */
#ifndef MUXD_KEEP_SPARE_H
#define MUXD_KEEP_SPARE_H
#include <stdbool.h>

#define SPARE_MAX 16

struct spare {
    int fds[SPARE_MAX];
    int count;
};
/* as many as there are; false when that is fewer than SPARE_MAX */
bool spare_hold(struct spare *spare);
void spare_release_one(struct spare *spare);
void spare_release(struct spare *spare); /* all of them */
#endif
