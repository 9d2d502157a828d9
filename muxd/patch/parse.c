/* parse: owns the markers of a patch and what may stand between them. */
#include "patch/parse.h"
#include "base/bug.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

#define BEGIN "*** Begin Patch"
#define END "*** End Patch"
#define ADD "*** Add File: "
#define DELETE "*** Delete File: "
#define UPDATE "*** Update File: "
#define MOVE "*** Move to: "
#define END_OF_FILE "*** End of File"
#define ENVIRONMENT "*** Environment ID:"
#define BAD_FIRST "The first line of the patch must be '" BEGIN "'"
#define BAD_LAST "The last line of the patch must be '" END "'"
#define NO_LINES "Update hunk does not contain any lines"
#define QUOTE_MAX 2000 /* bytes of a wrong line that its message quotes */

enum mode { AT_HEADER, IN_ADD, IN_DELETE, IN_UPDATE };

struct parser {
    struct patch *patch;
    struct patch_error *error;
    enum mode mode;
    size_t line;        /* number of the line at hand */
    size_t header_line; /* number of the hunk's header line */
};

static int parse_refuse(struct parser *parser, int code, size_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static int parse_refuse(struct parser *parser, int code, size_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *raw = xvasprintf(format, args);
    va_end(args);
    struct buf text = BUF_INIT;
    utf8_append_lossy(&text, raw, strlen(raw));
    free(raw);
    *parser->error = (struct patch_error){.line = line, .message = buf_take(&text)};
    return code;
}

#define QUOTED(quoted) (int)patch_line_cut(quoted, QUOTE_MAX).len, (quoted).text

static int bad_header(struct parser *parser, struct patch_line line)
{
    return parse_refuse(parser, ERR_ARGUMENTS, parser->line,
                        "'%.*s' is not a valid hunk header. Valid hunk headers: '" ADD
                        "{path}', '" DELETE "{path}', '" UPDATE "{path}'",
                        QUOTED(line));
}

static int bad_update_line(struct parser *parser, struct patch_line line)
{
    return parse_refuse(parser, ERR_ARGUMENTS, parser->line,
                        "Unexpected line found in update hunk: '%.*s'. Every line should start "
                        "with ' ' (context line), '+' (added line), or '-' "
                        "(removed line)",
                        QUOTED(line));
}

static void *parse_grow(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    *room = *room == 0 ? 16 : *room * 2;
    return xreallocarray(items, *room, size);
}

static struct patch_hunk *last_hunk(const struct patch *patch)
{
    return patch->hunk_count > 0 ? &patch->hunks[patch->hunk_count - 1] : NULL;
}

/* The chunk that lines are added to; NULL before the first one of its hunk. */
static struct patch_chunk *last_chunk(const struct patch *patch)
{
    BUG_UNLESS(patch->hunk_count > 0);
    return last_hunk(patch)->count > 0 ? &patch->chunks[patch->chunk_count - 1] : NULL;
}

static void add_change(struct patch *patch, char sign, struct patch_line line)
{
    patch->changes = parse_grow(patch->changes, patch->change_count, &patch->change_room,
                                sizeof *patch->changes);
    patch->changes[patch->change_count++] = (struct patch_change){sign, line};
}

static struct patch_chunk *add_chunk(struct patch *patch, bool implicit)
{
    patch->chunks = parse_grow(patch->chunks, patch->chunk_count, &patch->chunk_room,
                               sizeof *patch->chunks);
    if (last_hunk(patch)->count++ == 0)
        last_hunk(patch)->first = patch->chunk_count;
    patch->chunks[patch->chunk_count] = (struct patch_chunk){.implicit = implicit,
                                                             .first = patch->change_count};
    return &patch->chunks[patch->chunk_count++];
}

static int take_path(struct parser *parser, struct patch_line path, char **out)
{
    if (memchr(path.text, '\0', path.len) != NULL)
        return parse_refuse(parser, ERR_ARGUMENTS, parser->line,
                            "the path '%.*s' has a NUL byte in it", QUOTED(path));
    *out = xstrndup(path.text, path.len);
    return 0;
}

static int start_hunk(struct parser *parser, enum patch_kind kind, enum mode mode,
                      struct patch_line path)
{
    struct patch *patch = parser->patch;
    if (patch->hunk_count == PATCH_HUNKS_MAX)
        return parse_refuse(parser, ERR_TOO_LARGE, 0, "more than %u files in one patch; split it",
                            PATCH_HUNKS_MAX);
    patch->hunks = parse_grow(patch->hunks, patch->hunk_count, &patch->hunk_room,
                              sizeof *patch->hunks);
    patch->hunks[patch->hunk_count++] = (struct patch_hunk){.kind = kind,
                                                            .first = patch->change_count};
    parser->mode = mode;
    parser->header_line = parser->line;
    return take_path(parser, path, &last_hunk(patch)->path);
}

/* Refuses an update without lines when line, a header or the end, closes it. */
static int check_update_has_lines(struct parser *parser, struct patch_line line)
{
    if (parser->mode != IN_UPDATE)
        return 0;
    const struct patch_chunk *chunk = last_chunk(parser->patch);
    if (chunk == NULL)
        return parse_refuse(parser, ERR_ARGUMENTS, parser->header_line,
                            "Update file hunk for path '%s' is empty",
                            last_hunk(parser->patch)->path);
    if (chunk->count > 0)
        return 0;
    return patch_line_is(line, END) ? parse_refuse(parser, ERR_ARGUMENTS, parser->line, NO_LINES)
                                    : bad_update_line(parser, line);
}

/* 1: line was a header and is handled. 0: it is something else. Negative: refused. */
static int take_header(struct parser *parser, struct patch_line line)
{
    static const struct {
        const char *marker;
        enum patch_kind kind;
        enum mode mode;
    } headers[] = {{ADD, PATCH_ADD, IN_ADD},
                   {DELETE, PATCH_DELETE, IN_DELETE},
                   {UPDATE, PATCH_UPDATE, IN_UPDATE}};
    if (patch_line_is(line, END)) /* the last line of the patch never comes here */
        return parse_refuse(parser, ERR_ARGUMENTS, 0, BAD_LAST);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        struct patch_line path;
        if (!patch_line_starts(line, headers[i].marker, &path))
            continue;
        int rc = check_update_has_lines(parser, line);
        if (rc == 0)
            rc = start_hunk(parser, headers[i].kind, headers[i].mode, path);
        return rc == 0 ? 1 : rc;
    }
    return 0;
}

static int take_environment(struct parser *parser, struct patch_line id)
{
    id = patch_line_trim(id);
    if (parser->patch->environment_id != NULL)
        return parse_refuse(parser, ERR_ARGUMENTS, 0,
                            "apply_patch environment_id cannot be specified more than once");
    if (id.len == 0)
        return parse_refuse(parser, ERR_ARGUMENTS, 0, "apply_patch environment_id cannot be empty");
    parser->patch->environment_id = xstrndup(id.text, id.len);
    return 0;
}

/* A line before the first hunk, or in a hunk that adds or deletes: markers may be indented
 * there. */
static int take_plain_line(struct parser *parser, struct patch_line line)
{
    struct patch_line mark = patch_line_trim(line), rest;
    if (parser->patch->hunk_count == 0 && patch_line_starts(mark, ENVIRONMENT, &rest))
        return take_environment(parser, rest);
    int rc = take_header(parser, mark);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    if (parser->mode == IN_ADD && patch_line_starts(line, "+", &rest)) {
        add_change(parser->patch, '+', rest);
        last_hunk(parser->patch)->count++;
        return 0;
    }
    return bad_header(parser, mark);
}

/* Empty lines between the header of a file and its first "@@" are no context to search for. */
static bool is_padding(const struct patch *patch, const struct patch_chunk *chunk)
{
    for (size_t i = 0; i < chunk->count; i++)
        if (patch->changes[chunk->first + i].sign != ' ' ||
            patch->changes[chunk->first + i].line.len > 0)
            return false;
    return chunk->implicit;
}

static int take_context_marker(struct parser *parser, struct patch_line line,
                               struct patch_line mark)
{
    struct patch *patch = parser->patch;
    struct patch_chunk *chunk = last_chunk(patch);
    if (chunk != NULL && chunk->count == 0)
        return bad_update_line(parser, line);
    if (chunk != NULL && !chunk->at_end && is_padding(patch, chunk)) {
        patch->change_count = chunk->first;
        *chunk = (struct patch_chunk){.first = chunk->first};
    } else {
        chunk = add_chunk(patch, false);
    }
    chunk->has_context = patch_line_starts(mark, "@@ ", &chunk->context);
    return 0;
}

static int bad_chunk_start(struct parser *parser, struct patch_line line)
{
    return parse_refuse(parser, ERR_ARGUMENTS, parser->line,
                        "Expected update hunk to start with a @@ context marker, got: '%.*s'",
                        QUOTED(line));
}

/* A line of an update: a marker with blanks before it is a context line. */
static int take_update_line(struct parser *parser, struct patch_line line)
{
    struct patch *patch = parser->patch;
    struct patch_line mark = patch_line_trim_end(line), rest;
    int rc = take_header(parser, mark);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    struct patch_chunk *chunk = last_chunk(patch);
    bool context = patch_line_is(mark, "@@") || patch_line_starts(mark, "@@ ", NULL),
         filled = chunk != NULL && chunk->count > 0;
    if (filled && chunk->at_end && !context)
        return mark.len == 0 ? 0 : bad_chunk_start(parser, line);
    if (chunk == NULL && last_hunk(patch)->move == NULL && patch_line_starts(mark, MOVE, &rest))
        return take_path(parser, rest, &last_hunk(patch)->move);
    if (context)
        return take_context_marker(parser, line, mark);
    if (patch_line_is(mark, END_OF_FILE)) {
        if (!filled)
            return parse_refuse(parser, ERR_ARGUMENTS, parser->line, NO_LINES);
        chunk->at_end = true;
        return 0;
    }
    char sign = line.len == 0 ? ' ' : line.text[0];
    if (sign != ' ' && sign != '+' && sign != '-')
        return filled ? bad_chunk_start(parser, line) : bad_update_line(parser, line);
    if (chunk == NULL)
        chunk = add_chunk(patch, true);
    add_change(patch, sign,
               line.len == 0 ? line : (struct patch_line){line.text + 1, line.len - 1});
    chunk->count++;
    return 0;
}

/* Checks that the first and the last line of text (which has no blanks around it) are the markers;
 * *inner is what lies between. */
static int check_bounds(struct parser *parser, struct patch_line text, struct patch_line *inner)
{
    struct patch_line rest = text, first = {text.text, 0};
    patch_line_next(&rest, &first);
    if (!patch_line_is(patch_line_trim(first), BEGIN))
        return parse_refuse(parser, ERR_ARGUMENTS, 0, text.len > 0 ? BAD_FIRST : BAD_LAST);
    const char *newline = rest.len > 0 ? memrchr(rest.text, '\n', rest.len) : NULL;
    size_t at = newline != NULL ? (size_t)(newline + 1 - rest.text) : 0;
    if (!patch_line_is(patch_line_trim((struct patch_line){rest.text + at, rest.len - at}), END))
        return parse_refuse(parser, ERR_ARGUMENTS, 0, BAD_LAST);
    *inner = (struct patch_line){rest.text, at};
    return 0;
}

/* What stands in a here-document, when text is one: some models call the program like that without
 * a shell. */
static bool unwrap_heredoc(struct patch_line text, struct patch_line *inner)
{
    struct patch_line rest = text, first;
    if (!patch_line_next(&rest, &first) || rest.len == 0)
        return false;
    if (!patch_line_is(first, "<<EOF") && !patch_line_is(first, "<<'EOF'") &&
        !patch_line_is(first, "<<\"EOF\""))
        return false;
    const char *newline = memrchr(rest.text, '\n', rest.len);
    if (newline == NULL)
        return false;
    struct patch_line last = {newline + 1, rest.len - (size_t)(newline + 1 - rest.text)};
    if (!patch_line_is(patch_line_trim(last), "EOF"))
        return false;
    *inner = patch_line_trim((struct patch_line){rest.text, (size_t)(newline - rest.text)});
    return memchr(inner->text, '\n', inner->len) != NULL;
}

static int parse_take_lines(struct parser *parser, struct patch_line inner)
{
    struct patch_line line;
    parser->line = 1;
    while (patch_line_next(&inner, &line)) {
        if (++parser->line > PATCH_LINES_MAX)
            return parse_refuse(parser, ERR_TOO_LARGE, 0,
                                "more than %u lines in one patch; split it", PATCH_LINES_MAX);
        int rc = parser->mode == IN_UPDATE ? take_update_line(parser, line)
                                           : take_plain_line(parser, line);
        if (rc < 0)
            return rc;
    }
    parser->line++;
    return check_update_has_lines(parser, (struct patch_line){END, sizeof END - 1});
}

int patch_parse(struct patch *patch, const char *text, size_t len, enum patch_strictness strictness,
                struct patch_error *error)
{
    struct parser parser = {.patch = patch, .error = error};
    *patch = (struct patch){.text = NULL};
    *error = (struct patch_error){.message = NULL};
    if (len > PATCH_TEXT_MAX)
        return parse_refuse(&parser, ERR_TOO_LARGE, 0,
                            "the patch has %zu bytes, at most %u; split it", len, PATCH_TEXT_MAX);
    patch->text = xmalloc(len + 1);
    if (len > 0)
        memcpy(patch->text, text, len);
    patch->text[len] = '\0';
    struct patch_line whole = patch_line_trim((struct patch_line){patch->text, len});
    struct patch_line inner = whole, bare;
    int rc = check_bounds(&parser, whole, &inner);
    if (rc < 0 && strictness == PATCH_LENIENT && unwrap_heredoc(whole, &bare)) {
        patch_error_fini(error);
        rc = check_bounds(&parser, bare, &inner);
    }
    BUG_UNLESS(rc < 0 || inner.len <= len);
    return rc < 0 ? rc : parse_take_lines(&parser, inner);
}

void patch_fini(struct patch *patch)
{
    for (size_t i = 0; i < patch->hunk_count; i++) {
        free(patch->hunks[i].path);
        free(patch->hunks[i].move);
    }
    free(patch->hunks);
    free(patch->chunks);
    free(patch->changes);
    free(patch->environment_id);
    free(patch->text);
    *patch = (struct patch){.text = NULL};
}

char *patch_error_text(const struct patch_error *error, bool program)
{
    BUG_UNLESS(error->message != NULL);
    if (error->line == 0)
        return xasprintf("%cnvalid patch: %s", program ? 'I' : 'i', error->message);
    return xasprintf(program ? "Invalid patch hunk on line %zu: %s"
                             : "invalid hunk at line %zu, %s",
                     error->line, error->message);
}

void patch_error_fini(struct patch_error *error)
{
    free(error->message);
    *error = (struct patch_error){.message = NULL};
}
