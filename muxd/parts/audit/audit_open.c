/* audit_open: owns the look at the end of the audit's file. The lines begin as audit.c writes them,
 * and no text in them can look like a member: its quotes are escaped. */
#include "parts/audit/audit_open.h"
#include "base/fdio.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAIL 262144 /* bytes of each of the last two files: it is about what was written last */
#define ID_MAX 64

struct opened {
    enum audit_open_kind kind;
    char id[ID_MAX], *line; /* line is owned */
};
struct tail {
    struct opened *all; /* owned */
    size_t count;
    const char *with;
};

static void add_opened(struct tail *tail, enum audit_open_kind kind, const char *id,
                       const char *line)
{
    if (!strstr(line, tail->with))
        return;
    tail->all = xreallocarray(tail->all, tail->count + 1, sizeof *tail->all);
    struct opened *one = &tail->all[tail->count++];
    *one = (struct opened){.kind = kind, .line = xstrdup(line)};
    snprintf(one->id, sizeof one->id, "%s", id);
}

static void drop_opened(struct tail *tail, enum audit_open_kind kind, const char *id)
{
    size_t kept = 0;
    for (size_t i = 0; i < tail->count; i++)
        if (tail->all[i].kind != kind || strcmp(tail->all[i].id, id) != 0)
            tail->all[kept++] = tail->all[i];
        else
            free(tail->all[i].line);
    tail->count = kept;
}

/* The id of the approval that the line is about; false: of none. */
static bool approval_of(const char *line, char id[ID_MAX])
{
    static const char key[] = ",\"approval\":\"";
    const char *found = strstr(line, key);
    size_t size = found ? strcspn(found + strlen(key), "\"") : 0;
    if (size == 0 || size >= ID_MAX)
        return false;
    snprintf(id, ID_MAX, "%.*s", (int)size, found + strlen(key));
    return true;
}

static void look_at_question(struct tail *tail, const char *what, const char *line)
{
    char id[ID_MAX];
    if (!approval_of(line, id))
        return;
    if (strcmp(what, "asked") == 0) {
        add_opened(tail, AUDIT_OPEN_ASKED, id, line);
        return;
    }
    drop_opened(tail, strcmp(what, "answered") == 0 || strcmp(what, "denied") == 0 ||
                              strcmp(what, "withdrawn") == 0
                          ? AUDIT_OPEN_ASKED
                          : AUDIT_OPEN_YES, /* allowed, refused, failed */
                id);
    if (strcmp(what, "answered") == 0)
        add_opened(tail, AUDIT_OPEN_YES, id, line);
}

static void look_at_line(struct tail *tail, const char *line)
{
    char id[ID_MAX], time[32], what[16];
    if (sscanf(line, "{\"id\":\"%63[^\"]\",\"time\":\"%31[^\"]\",\"record\":\"%15[a-z]\"", id, time,
               what) != 3)
        return;
    char *part = strrchr(id, '.');
    look_at_question(tail, what, line);
    if (!part || (strcmp(part, ".begin") != 0 && strcmp(part, ".end") != 0))
        return;
    bool begins = part[1] == 'b';
    *part = '\0';
    if (begins)
        add_opened(tail, AUDIT_OPEN_BEGUN, id, line);
    else
        drop_opened(tail, AUDIT_OPEN_BEGUN, id);
}

/* The end of the file. True: all of it, so that what was put aside goes on in it. */
static bool read_tail(const char *path, char text[TAIL + 1])
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool regular = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    off_t from = regular && st.st_size > TAIL ? st.st_size - TAIL : 0;
    ssize_t size = regular ? fd_pread_all(fd, text, TAIL, from) : 0;
    text[size > 0 ? size : 0] = '\0';
    fd_close(&fd);
    return from == 0;
}

static void look_at_lines(struct tail *tail, char *text)
{
    char *next;
    for (char *line = text; (next = strchr(line, '\n')); line = next + 1) {
        *next = '\0';
        look_at_line(tail, line);
    }
}

void audit_open_each(const struct audit_file *file, const char *with, audit_open_fn *fn, void *arg)
{
    struct tail tail = {.with = with};
    char *before = xasprintf("%s.1", file->path), *last = xmalloc(TAIL + 1),
         *text = xmalloc(TAIL + 1);
    /* with a gap between them, what ended in the gap would count as open */
    if (read_tail(file->path, last)) {
        read_tail(before, text);
        look_at_lines(&tail, text);
    }
    look_at_lines(&tail, last);
    for (size_t i = 0; i < tail.count; i++) {
        fn(arg, tail.all[i].kind, tail.all[i].id, tail.all[i].line);
        free(tail.all[i].line);
    }
    free(text);
    free(last);
    free(before);
    free(tail.all);
}
