/* clipboard: owns the three targets of copied lines. Source: xterm ctlseqs (OSC 52). */
#include "client/attach/clipboard.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "wire/base64.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define TERMINAL_MAX 74994 /* bytes: xterm takes 100,000 in base64 */

static void to_terminal(const struct buf *copied, struct buf *out)
{
    buf_append_text(out, "\033]52;c;");
    base64_encode(out, copied->data, copied->len);
    buf_append_text(out, "\033\\");
}

/* 0 or an errno. */
static int to_file(const char *path, const struct buf *copied)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600),
        code = 0;
    if (fd < 0)
        return errno;
    if (fd_write_all(fd, copied->data, copied->len) < 0)
        code = errno;
    if (close(fd) < 0 && code == 0)
        code = errno;
    return code;
}

void clipboard_put(const char *where, const struct buf *copied, struct buf *out, struct buf *later,
                   struct buf *said)
{
    int code = 0;
    size_t count = 0;
    BUG_UNLESS(copied->len > 0);
    bool terminal = strcmp(where, "terminal") == 0, print = strcmp(where, "print") == 0;
    for (size_t at = 0; at < copied->len; at++)
        count += copied->data[at] == '\n';
    if (terminal && copied->len <= TERMINAL_MAX) {
        to_terminal(copied, out);
        buf_printf(said, "%zu line%s copied to the clipboard", count, count == 1 ? "" : "s");
        return;
    }
    if (!terminal && !print && (code = to_file(where, copied)) == 0) {
        buf_printf(said, "%zu line%s copied to '%s'", count, count == 1 ? "" : "s", where);
        return;
    }
    buf_append(later, copied->data, copied->len);
    if (code)
        buf_printf(said, "'%s': can't be written (%s); the lines are printed when you leave", where,
                   strerror(code));
    else
        buf_printf(said, "%zu line%s: printed when you leave%s", count, count == 1 ? "" : "s",
                   terminal ? ", being too much for a terminal's clipboard" : "");
}
