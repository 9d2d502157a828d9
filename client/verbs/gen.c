/* gen: `ue gen DIR`: owns the writing of the man pages, and of the generated part of ue.h. */
#include "client/verbs/gen.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "base/path.h"
#include "client/rpc/ue.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct verb *gen_next(const struct verb *last)
{
    const struct verb *verb = last ? last + 1 : &verbs[VERB_GLOBAL + 1];
    while (verb < verbs + VERB_COUNT_ && verb->hidden)
        verb++;
    return verb < verbs + VERB_COUNT_ ? verb : NULL;
}

static int gen_write_file(const char *dir, const char *name, const struct buf *contents,
                          struct err *err)
{
    char *path = path_join(dir, name);
    char *parent = path_dirname(path);
    int result = 0, fd = -1;
    if ((mkdir(parent, 0755) != 0 && errno != EEXIST) ||
        (fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) < 0 ||
        fd_write_all(fd, contents->data, contents->len) < 0)
        result = err_set(err, ERR_SYSTEM, "'%s': can't be written: %s", path, strerror(errno));
    fd_close(&fd);
    free(parent);
    free(path);
    return result;
}

int verb_GEN(struct ue *ue)
{
    struct err err;
    struct buf out = BUF_INIT, page = BUF_INIT, header = BUF_INIT;
    const char *dir = ue->args.operands[0];
    gen_man(&out);
    int result = gen_write_file(dir, "client/ue.1", &out, &err);
    if (result == 0 && (result = gen_protocol(&page, dir, &err)) == 0)
        result = gen_write_file(dir, GEN_PROTOCOL_PAGE, &page, &err);
    if (result == 0 && (result = gen_library(&header, dir, &err)) == 0)
        result = gen_write_file(dir, GEN_LIBRARY_HEADER, &header, &err);
    buf_fini(&header);
    buf_fini(&out);
    buf_fini(&page);
    return result < 0 ? ue_fail(ue, &err) : 0;
}

#define ELLIPSIS "\xe2\x80\xa6"

/* Hyphens must be copyable, and no line may begin with a request. A login without a locale can't
 * show an ellipsis. */
void gen_roff(struct buf *out, const char *text)
{
    bool begin = true;
    for (; *text; text++) {
        if (begin && (*text == '.' || *text == '\''))
            buf_append_text(out, "\\&");
        if (*text == '-')
            buf_append_text(out, "\\-");
        else if (*text == '\\')
            buf_append_text(out, "\\e");
        else if (strncmp(text, ELLIPSIS, strlen(ELLIPSIS)) == 0)
            buf_append_text(out, "..."), text += strlen(ELLIPSIS) - 1;
        else
            buf_append_byte(out, *text);
        begin = *text == '\n';
    }
}
