/* audit_open: owns the look at the end of the audit's file. The lines begin as audit.c writes them,
 * and no text in them can look like that: its quotes are escaped. */
#include "parts/audit/audit_open.h"
#include "base/fdio.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAIL 262144 /* bytes of each of the last two files: it is about what was written last */

struct begun {
    uint64_t *sessions; /* owned */
    size_t count;
};

static void add_begun(struct begun *begun, uint64_t session)
{
    begun->sessions = xreallocarray(begun->sessions, begun->count + 1, sizeof *begun->sessions);
    begun->sessions[begun->count++] = session;
}

static void drop_begun(struct begun *begun, uint64_t session)
{
    size_t kept = 0;
    for (size_t i = 0; i < begun->count; i++)
        if (begun->sessions[i] != session)
            begun->sessions[kept++] = begun->sessions[i];
    begun->count = kept;
}

static void look_at_line(struct begun *begun, const char *line, const char *with)
{
    uint64_t session;
    char what[8];
    if (sscanf(line, "{\"id\":\"%" SCNu64 ".%7[a-z]\"", &session, what) != 2)
        return;
    if (strcmp(what, "end") == 0)
        drop_begun(begun, session);
    else if (strcmp(what, "begin") == 0 && strstr(line, with))
        add_begun(begun, session);
}

static void look_at_file(struct begun *begun, const char *path, const char *with)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        fd_close(&fd);
        return;
    }
    char *text = xmalloc(TAIL + 1), *next;
    off_t from = st.st_size > TAIL ? st.st_size - TAIL : 0;
    ssize_t size = fd_pread_all(fd, text, TAIL, from);
    text[size > 0 ? size : 0] = '\0';
    for (char *line = text; (next = strchr(line, '\n')); line = next + 1) {
        *next = '\0';
        look_at_line(begun, line, with);
    }
    free(text);
    fd_close(&fd);
}

void audit_open_each(const struct audit_file *file, const char *with, audit_open_fn *fn, void *arg)
{
    struct begun begun = {.count = 0};
    char *before = xasprintf("%s.1", file->path);
    look_at_file(&begun, before, with);
    look_at_file(&begun, file->path, with);
    for (size_t i = 0; i < begun.count; i++)
        fn(arg, begun.sessions[i]);
    free(before);
    free(begun.sessions);
}
