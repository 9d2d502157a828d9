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

/* The last blank at which a line can be broken, within so many bytes. Behind the end of a sentence
 * roff would make two of it. */
static size_t break_of(const char *line, size_t len, size_t width)
{
    size_t at = len > width ? width : len - 1;
    while (at > 0 && (line[at] != ' ' || strchr(".?!", line[at - 1])))
        at--;
    return at;
}

/* Text in lines of at most so many bytes, as mandoc(1) wants it; a tag (.TP) stays in its line. */
static void append_wrapped(struct buf *out, const struct buf *text, size_t width)
{
    bool tag = false;
    for (size_t at = 0; at < text->len;) {
        const char *line = text->data + at;
        size_t len = strcspn(line, "\n"), cut = 0;
        bool whole = len <= width || tag || line[0] == '.' ||
                     (cut = break_of(line, len, width)) == 0;
        tag = len == 3 && memcmp(line, ".TP", 3) == 0;
        buf_append(out, line, whole ? len : cut);
        buf_append_byte(out, '\n');
        at += (whole ? len : cut) + 1;
        if (!whole && at < text->len && strchr(".'", text->data[at]))
            buf_append_text(out, "\\&");
    }
}

static void gen_fill_part(struct buf *out, const struct gen_part *part, size_t width)
{
    struct buf made = BUF_INIT;
    part->append(&made);
    if (width > 0)
        append_wrapped(out, &made, width);
    else
        buf_append(out, made.data, made.len);
    buf_fini(&made);
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
            gen_fill_part(out, part, marks->width);
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
