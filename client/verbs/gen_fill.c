/* gen_fill: owns the parts of a file that are made anew, between lines that say `begin NAME` and
 * `end NAME` in a comment; the rest of it is written by hand. */
#include "base/fdio.h"
#include "base/path.h"
#include "client/verbs/gen.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (1u << 20)

/* The part of which this line is the mark; NULL: none. */
static const struct gen_part *part_of(const char *line, size_t len, const struct gen_marks *marks,
                                      const char *word, const struct gen_part *parts)
{
    struct buf mark = BUF_INIT;
    for (; parts->name; parts++) {
        buf_clear(&mark);
        buf_printf(&mark, "%s%s %s%s", marks->before, word, parts->name, marks->behind);
        if (len == mark.len && memcmp(line, mark.data, len) == 0)
            break;
    }
    buf_fini(&mark);
    return parts->name ? parts : NULL;
}

static void fill_parts(struct buf *out, const struct buf *page, const struct gen_marks *marks,
                       const struct gen_part *parts)
{
    bool inside = false;
    for (size_t at = 0; at < page->len;) {
        const char *line = page->data + at;
        const char *end = memchr(line, '\n', page->len - at);
        size_t len = end ? (size_t)(end - line) : page->len - at;
        at += len + (end ? 1 : 0);
        if (part_of(line, len, marks, "end", parts))
            inside = false;
        if (inside)
            continue;
        buf_append(out, line, len);
        buf_append_byte(out, '\n');
        const struct gen_part *part = part_of(line, len, marks, "begin", parts);
        if (part) {
            part->append(out);
            inside = true;
        }
    }
}

int gen_fill(struct buf *out, const char *dir, const char *name, const struct gen_marks *marks,
             const struct gen_part *parts, struct err *err)
{
    char *path = path_join(dir, name);
    struct buf page = BUF_INIT;
    int fd = open(path, O_RDONLY | O_CLOEXEC), result = 0;
    buf_reserve(&page, FILE_MAX);
    ssize_t size = fd < 0 ? -1 : fd_read_all(fd, page.data, FILE_MAX);
    if (size < 0)
        result = err_set(err, ERR_SYSTEM, "'%s': can't be read: %s", path, strerror(errno));
    else
        buf_commit(&page, (size_t)size);
    fill_parts(out, &page, marks, parts);
    fd_close(&fd);
    buf_fini(&page);
    free(path);
    return result;
}
