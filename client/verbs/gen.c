/* gen: `ue gen DIR`: owns the walk over the tables and the writing of the files. */
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

const char gen_sizes[] = "24x80 40x120 50x160 60x200";

void gen_quoted(struct buf *out, const char *text, const char *quote, const char *backslash)
{
    for (; *text; text++) {
        if (*text == '\'')
            buf_append_text(out, quote);
        else if (*text == '\\')
            buf_append_text(out, backslash);
        else
            buf_append_byte(out, *text);
    }
}

const char *gen_kind_word(enum complete_kind kind)
{
    switch (kind) {
    case COMPLETE_SESSION: return "sessions";
    case COMPLETE_ENDED: return "ended";
    case COMPLETE_DESCRIBED: return "described";
    case COMPLETE_SHELL: return "shells";
    case COMPLETE_SIGNAL: return "signals";
    case COMPLETE_KEY: return "keys";
    case COMPLETE_VERB: return "verbs";
    case COMPLETE_TOOL: return "tools";
    case COMPLETE_EVENT: return "events";
    case COMPLETE_FORMAT: return "formats";
    case COMPLETE_NONE:
    case COMPLETE_FILE:
    case COMPLETE_DIR:
    case COMPLETE_COMMAND:
    case COMPLETE_SIZE:
    case COMPLETE_ENV: return NULL;
    }
    return NULL;
}

const struct verb *gen_next(const struct verb *last)
{
    const struct verb *verb = last ? last + 1 : &verbs[VERB_GLOBAL + 1];
    while (verb < verbs + VERB_COUNT_ && verb->hidden)
        verb++;
    return verb < verbs + VERB_COUNT_ ? verb : NULL;
}

enum complete_kind gen_operand(const struct verb *verb, int index)
{
    if (verb->operands_max >= 0 && index >= verb->operands_max)
        return COMPLETE_NONE;
    if (index < VERB_OPERANDS_MAX && (verb->complete[index] != COMPLETE_NONE || verb->operands_max >= 0))
        return verb->complete[index];
    int last = VERB_OPERANDS_MAX - 1;
    while (last > 0 && verb->complete[last] == COMPLETE_NONE)
        last--;
    return verb->complete[last];
}

bool gen_takes_value(const struct verb_option *option)
{
    return option->type != OPTION_FLAG;
}

static int write_file(const char *dir, const char *name, const struct buf *contents, struct err *err)
{
    char *path = path_join(dir, name);
    char *parent = path_dirname(path);
    int result = 0, fd = -1;
    if ((mkdir(parent, 0755) != 0 && errno != EEXIST) || (fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) < 0 ||
        fd_write_all(fd, contents->data, contents->len) < 0)
        result = err_set(err, ERR_SYSTEM, "'%s': can't be written: %s", path, strerror(errno));
    fd_close(&fd);
    free(parent);
    free(path);
    return result;
}

int verb_GEN(struct ue *ue)
{
    static const struct {
        const char *name;
        void (*make)(struct buf *out);
    } files[] = {{"completions/ue.bash", gen_bash},
                 {"completions/_ue", gen_zsh},
                 {"completions/ue.fish", gen_fish},
                 {"client/ue.1", gen_man}};
    struct err err;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct buf out = BUF_INIT;
        files[i].make(&out);
        int result = write_file(ue->args.operands[0], files[i].name, &out, &err);
        buf_fini(&out);
        if (result < 0)
            return ue_fail(ue, &err);
    }
    return 0;
}

#define ELLIPSIS "\xe2\x80\xa6"

/* Text as roff shows it: hyphens that are to be copied, backslashes, and no request at the beginning of a line. A login without a locale
 * has no ellipsis. */
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
