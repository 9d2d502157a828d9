/* paste: owns the marks of a bracketed paste. */
#include "wire/paste.h"
#include "base/bug.h"

#define MARK_BYTES (sizeof PASTE_END - 1)

size_t paste_next(struct paste *paste, const char *data, size_t size)
{
    static const char begin[] = "\033[200~";
    const char *mark = paste->open ? PASTE_END : begin;
    BUG_UNLESS(paste->matched < MARK_BYTES);
    for (size_t at = 0; at < size; at++) {
        paste->matched = data[at] == mark[paste->matched] ? paste->matched + 1
                                                          : data[at] == mark[0];
        if (paste->matched == MARK_BYTES) {
            paste->open = !paste->open;
            paste->matched = 0;
            return at + 1;
        }
    }
    return size;
}

void paste_feed(struct paste *paste, const char *data, size_t size)
{
    for (size_t at = 0; at < size;)
        at += paste_next(paste, data + at, size - at);
}
