/* archive_status.c: owns the form of status.ini: known lines in a known order, and nothing else is accepted. Whoever can write to the
 * state directory could write anything there, so every value is checked before a session is made of it. */
#include "parts/archive/archive_status.h"
#include "base/mem.h"
#include "base/value.h"
#include "session/session.h"
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define VERSION "muxd 1"
#define OFFSET_MAX (INT64_C(1) << 62)
#define TIME_MAX (INT64_C(1) << 52)

enum kind { NUMBER, FLAG, STATE, KILLER, NAME, TEXT };

struct line {
    const char *key;
    enum kind kind;
    size_t offset;
    int64_t min, max;
};

#define MEMBER(member) offsetof(struct archive_status, member)
static const struct line lines[] = {
    {"number", NUMBER, MEMBER(number), 1000, INT64_MAX / 4},
    {"name", NAME, MEMBER(name), 0, 0},
    {"state", STATE, MEMBER(state), SESSION_EXITED, SESSION_LOST},
    {"exit_code", NUMBER, MEMBER(exit_code), -1, 255},
    {"signal", NUMBER, MEMBER(signal), -1, NSIG - 1},
    {"killed_by", KILLER, MEMBER(killed_by), 0, KILLER_LIMIT + SESSION_LIMIT_COUNT - 1},
    {"created_ms", NUMBER, MEMBER(created_ms), 0, TIME_MAX},
    {"ended_ms", NUMBER, MEMBER(ended_ms), 0, TIME_MAX},
    {"read_ms", NUMBER, MEMBER(read_ms), 0, TIME_MAX},
    {"tty", FLAG, MEMBER(tty), 0, 1},
    {"rows", NUMBER, MEMBER(rows), 0, 1000},
    {"cols", NUMBER, MEMBER(cols), 0, 1000},
    {"output_from", NUMBER, MEMBER(output_from), 0, OFFSET_MAX},
    {"output_to", NUMBER, MEMBER(output_to), 0, OFFSET_MAX},
    {"saved_from", NUMBER, MEMBER(saved_from), 0, OFFSET_MAX},
    {"saved_size", NUMBER, MEMBER(saved_size), 0, OFFSET_MAX},
    {"read_to", NUMBER, MEMBER(read_to), 0, OFFSET_MAX},
    {"described", TEXT, MEMBER(described), 0, 0},
    {"cwd", TEXT, MEMBER(cwd), 0, 0},
    {"cmd", TEXT, MEMBER(cmd), 0, 0},
};
#define LINES (sizeof lines / sizeof lines[0])

static int64_t *number_at(struct archive_status *status, const struct line *line)
{
    return (int64_t *)(void *)((char *)status + line->offset);
}

static char **text_at(struct archive_status *status, const struct line *line)
{
    return (char **)(void *)((char *)status + line->offset);
}

void archive_status_of(struct archive_status *status, const struct journal *journal)
{
    const struct journal_header *header = journal->header;
    const char *described = journal_described(journal);
    *status = (struct archive_status){
        .number = (int64_t)header->number, .state = atomic_load(&header->state), .exit_code = atomic_load(&header->exit_code),
        .signal = atomic_load(&header->term_signal), .killed_by = atomic_load(&header->killed_by), .created_ms = header->created_real_ms,
        .ended_ms = atomic_load(&header->ended_real_ms), .read_ms = atomic_load(&header->end_read_real_ms), .tty = header->tty,
        .rows = header->rows, .cols = header->cols, .output_from = (int64_t)journal_tail(journal),
        .output_to = (int64_t)journal_head(journal), .saved_from = (int64_t)atomic_load(&header->saved_from),
        .saved_size = (int64_t)atomic_load(&header->saved_len), .read_to = (int64_t)atomic_load(&header->readers[0].cursor),
        .described = xstrdup(described ? described : ""), .cwd = xstrdup(journal_cwd(journal)), .cmd = xstrdup(journal_cmd(journal))};
    memcpy(status->name, header->name, sizeof status->name);
    /* What was saved and what the ring holds may overlap by what a trim has not taken away. */
    if (status->saved_from + status->saved_size > status->output_from)
        status->saved_size = status->output_from > status->saved_from ? status->output_from - status->saved_from : 0;
}

void archive_status_fini(struct archive_status *status)
{
    free(status->described);
    free(status->cwd);
    free(status->cmd);
    status->described = status->cwd = status->cmd = NULL;
}

/* One line whatever is in it; value_unescape reads it back. */
static void print_text(struct buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte < 0x20 || byte == 0x7f || byte == '\\')
            buf_printf(out, "\\x%02x", byte);
        else
            buf_append_byte(out, *text);
    }
}

void archive_status_print(const struct archive_status *from, struct buf *out)
{
    struct archive_status copy = *from, *status = &copy;
    buf_append_text(out, VERSION "\n");
    for (size_t i = 0; i < LINES; i++) {
        const struct line *line = &lines[i];
        buf_printf(out, "%s = ", line->key);
        switch (line->kind) {
        case NUMBER: buf_printf(out, "%" PRId64, *number_at(status, line)); break;
        case FLAG: buf_append_text(out, *number_at(status, line) ? "yes" : "no"); break;
        case STATE: buf_append_text(out, session_state_word((enum session_state)*number_at(status, line))); break;
        case KILLER: {
            const char *word = session_killer_word((unsigned)*number_at(status, line));
            buf_append_text(out, word ? word : "-");
            break;
        }
        case NAME: buf_append_text(out, status->name); break;
        case TEXT: print_text(out, *text_at(status, line)); break;
        }
        buf_append_byte(out, '\n');
    }
}

static bool parse_word(const struct line *line, const char *value, int64_t *out)
{
    for (int64_t i = line->min; i <= line->max; i++) {
        const char *word = line->kind == STATE ? session_state_word((enum session_state)i) : session_killer_word((unsigned)i);
        if (strcmp(word ? word : "-", value) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool parse_text(const char *value, char **out)
{
    const char *bad;
    char *text = xmalloc(strlen(value) + 1);
    long size = value_unescape(value, text, &bad);
    if (size < 0 || memchr(text, 0, (size_t)size)) {
        free(text);
        return false;
    }
    *out = text;
    return true;
}

static bool parse_value(struct archive_status *status, const struct line *line, const char *value)
{
    bool flag;
    switch (line->kind) {
    case NUMBER:
        if (strcmp(value, "-1") == 0 && line->min == -1) {
            *number_at(status, line) = -1;
            return true;
        }
        return value_int(value, line->min < 0 ? 0 : line->min, line->max, number_at(status, line));
    case FLAG:
        if (!value_bool(value, &flag))
            return false;
        *number_at(status, line) = flag;
        return true;
    case STATE:
    case KILLER: return parse_word(line, value, number_at(status, line));
    case NAME:
        if (!value_session_name(value))
            return false;
        memcpy(status->name, value, strlen(value) + 1);
        return true;
    case TEXT: return parse_text(value, text_at(status, line));
    }
    return false;
}

/* Takes the next line off; NULL when it doesn't end. */
static char *take_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    if (!end)
        return NULL;
    *end = 0;
    *text = end + 1;
    return line;
}

/* The offsets among themselves. */
static const char *check(const struct archive_status *status)
{
    if (status->output_from > status->output_to || status->output_to - status->output_from > UINT32_MAX)
        return "output_from";
    if (status->saved_size > UINT32_MAX || status->saved_from + status->saved_size > status->output_from)
        return "saved_size";
    return status->read_to > status->output_to ? "read_to" : NULL;
}

const char *archive_status_parse(struct archive_status *status, char *text)
{
    *status = (struct archive_status){0};
    const char *wrong = NULL;
    char *line = take_line(&text);
    if (!line || strcmp(line, VERSION) != 0)
        return "its version";
    for (size_t i = 0; i < LINES && !wrong; i++) {
        size_t size = strlen(lines[i].key);
        line = take_line(&text);
        if (!line || strncmp(line, lines[i].key, size) != 0 || strncmp(line + size, " = ", 3) != 0 ||
            !parse_value(status, &lines[i], line + size + 3))
            wrong = lines[i].key;
    }
    if (!wrong)
        wrong = *text ? "its end" : check(status);
    if (wrong)
        archive_status_fini(status);
    return wrong;
}
