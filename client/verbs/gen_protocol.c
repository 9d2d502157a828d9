/* gen_protocol: owns the generated parts of conf/muxd.7: methods, events and errors, between lines
 * `.\" begin NAME` and `.\" end NAME`. The rest of that page is written by hand. */
#include "client/verbs/gen.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "base/path.h"
#include "wire/tool.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_MAX (1u << 20)

static const char *type_words(enum arg_type type)
{
    static const char *const words[] = {
        [ARG_STRING] = "string",
        [ARG_UINT] = "integer",
        [ARG_BOOL] = "boolean",
        [ARG_COMMAND] = "string, or array of strings",
        [ARG_SESSION] = "number or name",
        [ARG_SESSIONS] = "array of numbers or names",
        [ARG_STRINGS] = "array of strings",
        [ARG_ENV] = "object of strings",
        [ARG_OBJECTS] = "array of objects",
        [ARG_OBJECT] = "object",
        [ARG_ID] = "integer or string",
    };
    return words[type];
}

static void append_range(struct buf *out, const struct tool_arg *arg)
{
    if (arg->type == ARG_UINT && (arg->min || arg->max))
        buf_printf(out, ", %lld to %lld", (long long)arg->min, (long long)arg->max);
    else if (arg->type != ARG_UINT && arg->max)
        buf_printf(out, ", at most %lld", (long long)arg->max);
}

static void append_arg(struct buf *out, const struct tool_arg *arg)
{
    buf_append_text(out, ".TP\n\\fB");
    gen_roff(out, arg->name);
    buf_append_text(out, "\\fR (");
    gen_roff(out, type_words(arg->type));
    append_range(out, arg);
    if (arg->flags & ARG_REQUIRED)
        buf_append_text(out, ", required");
    if (arg->fallback && *arg->fallback) {
        buf_append_text(out, ", default ");
        gen_roff(out, arg->fallback);
    }
    buf_append_text(out, ")\n");
    gen_roff(out, arg->help);
    if (arg->choices) {
        buf_append_text(out, "; one of: ");
        gen_roff(out, arg->choices);
    }
    if (arg->alias) {
        buf_append_text(out, "; also as ");
        gen_roff(out, arg->alias);
    }
    buf_append_byte(out, '\n');
}

static void append_tool(struct buf *out, const struct tool *tool)
{
    buf_printf(out, ".SS %s\n", tool->name);
    gen_roff(out, tool->description);
    buf_append_byte(out, '\n');
    for (const struct tool_arg *arg = tool->args; arg->name; arg++)
        append_arg(out, arg);
}

static void append_methods(struct buf *out)
{
    for (int i = 0; i < TOOL_COUNT_; i++)
        append_tool(out, &tools[i]);
}

static const struct {
    const char *name;
    void (*append)(struct buf *out);
} parts[] = {
    {"methods", append_methods},
    {"events", gen_event_list},
    {"errors", gen_error_list},
};

/* The part whose line `.\" begin NAME` or `.\" end NAME` this is; -1: none. */
static int part_of(const char *line, size_t len, const char *mark)
{
    size_t head = strlen(mark);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (len == head + strlen(parts[i].name) && memcmp(line, mark, head) == 0 &&
            memcmp(line + head, parts[i].name, len - head) == 0)
            return (int)i;
    return -1;
}

/* The page with its generated parts made anew. */
static void gen_fill(struct buf *out, const struct buf *page)
{
    bool inside = false;
    for (size_t at = 0; at < page->len;) {
        const char *line = page->data + at;
        const char *end = memchr(line, '\n', page->len - at);
        size_t len = end ? (size_t)(end - line) : page->len - at;
        at += len + (end ? 1 : 0);
        if (part_of(line, len, ".\\\" end ") >= 0)
            inside = false;
        if (inside)
            continue;
        buf_append(out, line, len);
        buf_append_byte(out, '\n');
        int part = part_of(line, len, ".\\\" begin ");
        if (part >= 0) {
            parts[part].append(out);
            inside = true;
        }
    }
}

int gen_protocol(struct buf *out, const char *dir, struct err *err)
{
    char *path = path_join(dir, GEN_PROTOCOL_PAGE);
    struct buf page = BUF_INIT;
    int fd = open(path, O_RDONLY | O_CLOEXEC), result = 0;
    buf_reserve(&page, PAGE_MAX);
    ssize_t size = fd < 0 ? -1 : fd_read_all(fd, page.data, PAGE_MAX);
    if (size < 0)
        result = err_set(err, ERR_SYSTEM, "'%s': can't be read: %s", path, strerror(errno));
    else
        buf_commit(&page, (size_t)size);
    gen_fill(out, &page);
    fd_close(&fd);
    buf_fini(&page);
    free(path);
    return result;
}
