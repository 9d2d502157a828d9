/* update: owns a file's lines with their endings, and the edits that the chunks of an update
 * give. */
#include "patch/update.h"
#include "base/bug.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "patch/seek.h"
#include <stdlib.h>
#include <string.h>

#define WHY_MAX 65536 /* bytes of a message that quotes lines */

/* The lines [at, at + removed) of the file become what changes say. */
struct edit {
    size_t at, removed;
    const struct patch_change *changes;
    size_t count;
    struct patch_change *owned; /* changes, when they are not the patch's own; else NULL */
    size_t order;               /* number of its chunk */
    bool at_end;
};

struct update {
    const struct patch *patch;
    const struct patch_hunk *hunk;
    const struct patch_old *old;
    enum patch_endings endings;
    struct patch_line *lines;   /* owned: the file's, without their endings */
    /* owned: bytes of each line's ending: 0 (last line only), 1, or 2 for CR LF */
    unsigned char *ending_size;
    size_t count, room;
    struct edit *edits; /* owned */
    size_t edit_count;
    struct seek seek;
    char **why;
};

static int update_refuse(struct update *update, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int update_refuse(struct update *update, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *raw = xvasprintf(format, args);
    va_end(args);
    struct buf text = BUF_INIT;
    utf8_append_lossy(&text, raw, strlen(raw));
    free(raw);
    *update->why = buf_take(&text);
    return code;
}

static void add_line(struct update *update, const char *text, size_t len, size_t ending)
{
    if (update->count == update->room) {
        update->room = update->room == 0 ? 256 : update->room * 2;
        update->lines = xreallocarray(update->lines, update->room, sizeof *update->lines);
        update->ending_size = xreallocarray(update->ending_size, update->room, 1);
    }
    update->lines[update->count] = (struct patch_line){text, len};
    update->ending_size[update->count++] = (unsigned char)ending;
}

/* Whether a carriage return alone ends a line: only where endings are preserved, and not when the
 * patch quotes one inside a line. */
static bool cr_ends_lines(const struct update *update)
{
    if (update->endings == PATCH_ENDINGS_CODEX)
        return false;
    for (size_t i = 0; i < update->hunk->count; i++) {
        const struct patch_chunk *chunk = &update->patch->chunks[update->hunk->first + i];
        for (size_t j = 0; j < chunk->count; j++) {
            const struct patch_change *change = &update->patch->changes[chunk->first + j];
            if (change->sign != '+' && memchr(change->line.text, '\r', change->line.len) != NULL)
                return false;
        }
    }
    return true;
}

static int split_lines(struct update *update)
{
    const char *text = update->old->text;
    size_t len = update->old->len, begin = 0;
    bool cr = cr_ends_lines(update);
    for (size_t at = 0; at < len; at++) {
        size_t ending = text[at] == '\n';
        if (text[at] == '\r')
            ending = at + 1 < len && text[at + 1] == '\n' ? 2 : cr;
        if (ending == 0)
            continue;
        if (update->count == PATCH_FILE_LINES_MAX)
            return update_refuse(update, ERR_TOO_LARGE, "%s has more than %u lines",
                                 update->old->path, PATCH_FILE_LINES_MAX);
        add_line(update, text + begin, at - begin, ending);
        at += ending - 1;
        begin = at + 1;
    }
    if (begin < len)
        add_line(update, text + begin, len - begin, 0);
    return 0;
}

static int update_not_found(struct update *update, const struct patch_line *old, size_t count)
{
    struct buf text;
    buf_init(&text, WHY_MAX);
    for (size_t i = 0;
         i < count && buf_append(&text, "\n", 1) && buf_append(&text, old[i].text, old[i].len);
         i++) {
    }
    int rc = update_refuse(update, ERR_ARGUMENTS, "Failed to find expected lines in %s:%s",
                           update->old->path, text.len > 0 ? text.data : "");
    buf_fini(&text);
    return rc;
}

static int too_costly(struct update *update)
{
    return update_refuse(update, ERR_TOO_LARGE, "Too much to search in %s for one patch; split it",
                         update->old->path);
}

/* Where the old lines of a chunk stand, at start or behind it. */
static size_t find_block(struct update *update, const struct patch_chunk *chunk,
                         const struct patch_line *old, size_t count, size_t start)
{
    if (chunk->at_end) {
        if (count > update->count)
            return SEEK_NONE;
        start = update->count - count; /* also when an earlier chunk lies behind it */
    }
    return seek_find(&update->seek, old, count, start);
}

/* Drops the empty line that the old lines end with, and one at the end of the new lines. */
static void drop_last_empty(struct edit *edit)
{
    BUG_UNLESS(edit->count > 0 && edit->removed > 0);
    struct patch_change *changes = xmemdup(edit->changes, edit->count * sizeof *changes);
    size_t old = edit->count - 1, new;
    while (changes[old].sign == '+')
        old--;
    if (changes[old].sign == '-')
        memmove(&changes[old], &changes[old + 1], (--edit->count - old) * sizeof *changes);
    else
        changes[old].sign = '+';
    for (new = edit->count; new > 0 && changes[new - 1].sign == '-'; new--) {
    }
    if (new > 0 && changes[new - 1].line.len == 0 && changes[new - 1].sign == ' ')
        changes[new - 1].sign = '-';
    else if (new > 0 && changes[new - 1].line.len == 0)
        memmove(&changes[new - 1], &changes[new], (edit->count-- - new) * sizeof *changes);
    edit->removed--;
    edit->changes = edit->owned = changes;
}

/* Finds one chunk from *at on and makes its edit; moves *at behind it. */
static int place_chunk(struct update *update, const struct patch_chunk *chunk,
                       const struct patch_line *old, size_t count, size_t *at)
{
    struct edit *edit = &update->edits[update->edit_count];
    *edit = (struct edit){
        .changes = &update->patch->changes[chunk->first], .count = chunk->count, .removed = count};
    edit->order = update->edit_count;
    edit->at_end = chunk->at_end;
    if (chunk->has_context) {
        size_t found = seek_find(&update->seek, &chunk->context, 1, *at);
        if (found == SEEK_COSTLY)
            return too_costly(update);
        if (found == SEEK_NONE)
            return update_refuse(update, ERR_ARGUMENTS, "Failed to find context '%.*s' in %s",
                                 (int)patch_line_cut(chunk->context, WHY_MAX).len,
                                 chunk->context.text, update->old->path);
        *at = found + 1;
    }
    update->edit_count++;
    if (count == 0) {
        edit->at = update->count - (update->count > 0 && update->lines[update->count - 1].len == 0);
        return 0;
    }
    size_t found = find_block(update, chunk, old, count, *at);
    if (found == SEEK_NONE && old[count - 1].len == 0) {
        found = find_block(update, chunk, old, count - 1, *at);
        if (found < SEEK_COSTLY)
            drop_last_empty(edit);
    }
    if (found == SEEK_COSTLY)
        return too_costly(update);
    if (found == SEEK_NONE)
        return update_not_found(update, old, count);
    edit->at = found;
    *at = found + edit->removed;
    return 0;
}

static int place_chunks(struct update *update)
{
    size_t at = 0;
    int rc = 0;
    update->edits = xcalloc(update->hunk->count + 1, sizeof *update->edits);
    for (size_t i = 0; i < update->hunk->count && rc == 0; i++) {
        const struct patch_chunk *chunk = &update->patch->chunks[update->hunk->first + i];
        struct patch_line *old = xreallocarray(NULL, chunk->count + 1, sizeof *old);
        size_t count = 0;
        for (size_t j = 0; j < chunk->count; j++)
            if (update->patch->changes[chunk->first + j].sign != '+')
                old[count++] = update->patch->changes[chunk->first + j].line;
        rc = place_chunk(update, chunk, old, count, &at);
        free(old);
    }
    return rc;
}

static int compare_edits(const void *a, const void *b)
{
    const struct edit *left = a, *right = b;
    if (left->at != right->at)
        return left->at < right->at ? -1 : 1;
    if ((left->removed == 0) != (right->removed == 0))
        return left->removed == 0 ? -1 : 1;
    return left->order < right->order ? -1 : 1;
}

/* A block at the end of the file that begins before the end of the one before it: Codex puts it in
 * first, and the earlier one then replaces as many lines as it quotes. What is left of this block
 * follows the earlier one, at end. */
static void cut_overlap(struct edit *edit, size_t end)
{
    size_t covered = edit->at + edit->removed, gone = covered > end ? covered - end : 0, count = 0,
           eaten = end - edit->at;
    struct patch_change *left = xreallocarray(NULL, edit->count + gone + 1, sizeof *left);
    for (size_t i = 0; i < gone; i++)
        left[count++] = (struct patch_change){.sign = '-'};
    for (size_t i = 0; i < edit->count; i++) {
        if (edit->changes[i].sign == '-')
            continue;
        if (eaten > 0)
            eaten--;
        else
            left[count++] = (struct patch_change){'+', edit->changes[i].line};
    }
    free(edit->owned);
    edit->changes = edit->owned = left;
    edit->count = count;
    edit->at = end;
    edit->removed = gone;
}

/* Sorts the edits by their place and refuses overlaps. An edit that only adds and would fall into
 * another goes behind it. */
static int order_edits(struct update *update)
{
    qsort(update->edits, update->edit_count, sizeof *update->edits, compare_edits);
    size_t end = 0;
    for (size_t i = 0; i < update->edit_count; i++) {
        struct edit *edit = &update->edits[i];
        if (edit->at < end && edit->removed > 0 && edit->at_end)
            cut_overlap(edit, end);
        else if (edit->at < end && edit->removed > 0)
            return update_refuse(update, ERR_ARGUMENTS,
                                 "Overlapping chunks in %s: line %zu is matched twice",
                                 update->old->path, edit->at + 1);
        if (edit->at < end)
            edit->at = end;
        end = edit->at + edit->removed;
    }
    return 0;
}

/* The ending of line at, also for a new line beside it; in_chunk: of a line that a chunk has. */
static struct patch_line ending_of(const struct update *update, size_t at, bool in_chunk)
{
    struct patch_line ending = {"\n", 1};
    bool codex = update->endings == PATCH_ENDINGS_CODEX;
    if (update->count == 0 || (codex && in_chunk))
        return ending;
    BUG_UNLESS(at < update->count);
    if (update->ending_size[at] == 0 && at > 0 && !codex)
        at--; /* the last line ends as the one before it */
    if (update->ending_size[at] > 0)
        ending = (struct patch_line){update->lines[at].text + update->lines[at].len,
                                     update->ending_size[at]};
    return ending;
}

static size_t write_line(struct buf *out, struct patch_line line, struct patch_line ending)
{
    buf_append(out, line.text, line.len);
    buf_append(out, ending.text, ending.len);
    return ending.len;
}

static void write_lines(const struct update *update, struct buf *out)
{
    size_t at = 0, last = 0;
    for (size_t i = 0; i <= update->edit_count; i++) {
        const struct edit *edit = i < update->edit_count ? &update->edits[i] : NULL;
        for (size_t end = edit != NULL ? edit->at : update->count; at < end; at++)
            last = write_line(out, update->lines[at], ending_of(update, at, false));
        for (size_t j = 0; edit != NULL && j < edit->count; j++) {
            char sign = edit->changes[j].sign;
            if (sign == '+')
                last = write_line(out, edit->changes[j].line,
                                  ending_of(update, at > 0 ? at - 1 : 0, true));
            if (sign == ' ')
                last = write_line(out, update->lines[at], ending_of(update, at, true));
            at += sign != '+';
        }
        BUG_UNLESS(edit == NULL || at == edit->at + edit->removed);
    }
    if (update->endings == PATCH_ENDINGS_EXACT && update->count > 0 &&
        update->ending_size[update->count - 1] == 0)
        buf_truncate(out, out->len - last);
}

int patch_update(struct buf *out, const struct patch *patch, const struct patch_hunk *hunk,
                 const struct patch_old *old, enum patch_endings endings, uint64_t *steps,
                 char **why)
{
    struct update update = {
        .patch = patch, .hunk = hunk, .old = old, .endings = endings, .why = why};
    *why = NULL;
    BUG_UNLESS(hunk->kind == PATCH_UPDATE);
    BUG_UNLESS(hunk->count == 0 || hunk->first + hunk->count <= patch->chunk_count);
    int rc = old->len <= PATCH_FILE_MAX
                 ? split_lines(&update)
                 : update_refuse(&update, ERR_TOO_LARGE, "%s is larger than %u bytes", old->path,
                                 PATCH_FILE_MAX);
    if (rc == 0) {
        seek_init(&update.seek, update.lines, update.count, steps);
        rc = place_chunks(&update);
        seek_fini(&update.seek);
    }
    if (rc == 0)
        rc = order_edits(&update);
    if (rc == 0)
        write_lines(&update, out);
    for (size_t i = 0; i < update.edit_count; i++)
        free(update.edits[i].owned);
    free(update.edits);
    free(update.lines);
    free(update.ending_size);
    return rc;
}
