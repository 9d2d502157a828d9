/* seek: owns the four passes and the search: that of Knuth, Morris and Pratt on one hash a line;
 * each match is verified. */
#include "patch/seek.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

/* The ASCII character for rune in the last pass; 0: rune itself. */
static char fold(int32_t rune)
{
    if ((rune >= 0x2010 && rune <= 0x2015) || rune == 0x2212)
        return '-';
    if (rune >= 0x2018 && rune <= 0x201B)
        return '\'';
    if (rune >= 0x201C && rune <= 0x201F)
        return '"';
    if (rune == 0xA0 || (rune >= 0x2002 && rune <= 0x200A) || rune == 0x202F || rune == 0x205F ||
        rune == 0x3000)
        return ' ';
    return '\0';
}

static struct patch_line trimmed(struct patch_line line, enum seek_pass pass)
{
    return pass == SEEK_EXACT      ? line
           : pass == SEEK_TRIM_END ? patch_line_trim_end(line)
                                   : patch_line_trim(line);
}

/* The next piece of line as the last pass reads it: a character, or its ASCII character in
 * *room. */
static struct patch_line next_folded(struct patch_line *line, char *room)
{
    int32_t rune = -1;
    size_t size = (unsigned char)line->text[0] < 0x80 ? 1
                                                      : utf8_decode(line->text, line->len, &rune);
    if (size == 0)
        size = line->len; /* a character that the end of the line cuts: bytes as they are */
    struct patch_line piece = {line->text, size};
    *room = fold(rune);
    if (*room != '\0')
        piece = (struct patch_line){room, 1};
    line->text += size;
    line->len -= size;
    return piece;
}

static bool same_bytes(struct patch_line a, struct patch_line b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.text, b.text, a.len) == 0);
}

bool seek_same(struct patch_line a, struct patch_line b, enum seek_pass pass)
{
    a = trimmed(a, pass);
    b = trimmed(b, pass);
    if (pass != SEEK_FOLD)
        return same_bytes(a, b);
    while (a.len > 0 && b.len > 0) {
        char a_room, b_room;
        if (!same_bytes(next_folded(&a, &a_room), next_folded(&b, &b_room)))
            return false;
    }
    return a.len == b.len;
}

/* FNV-1a, 64 bits. */
static uint64_t hash(uint64_t key, struct patch_line piece)
{
    for (size_t i = 0; i < piece.len; i++)
        key = (key ^ (unsigned char)piece.text[i]) * UINT64_C(0x100000001b3);
    return key;
}

static uint64_t line_key(struct patch_line line, enum seek_pass pass)
{
    uint64_t key = UINT64_C(0xcbf29ce484222325);
    line = trimmed(line, pass);
    if (pass != SEEK_FOLD)
        return hash(key, line);
    while (line.len > 0) {
        char room;
        key = hash(key, next_folded(&line, &room));
    }
    return key;
}

static uint64_t *make_keys(const struct patch_line *lines, size_t count, enum seek_pass pass)
{
    uint64_t *keys = xreallocarray(NULL, count + 1, sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = line_key(lines[i], pass);
    return keys;
}

void seek_init(struct seek *seek, const struct patch_line *lines, size_t count, uint64_t *steps)
{
    *seek = (struct seek){.lines = lines, .count = count, .steps = steps};
}

void seek_fini(struct seek *seek)
{
    for (int pass = 0; pass < SEEK_PASSES; pass++)
        free(seek->keys[pass]);
    *seek = (struct seek){.lines = NULL};
}

/* back[i]: the length of the longest proper prefix of keys[0..i] that is also its suffix. */
static void fill_back(size_t *back, const uint64_t *keys, size_t count)
{
    back[0] = 0;
    for (size_t i = 1, held = 0; i < count; i++) {
        while (held > 0 && keys[i] != keys[held])
            held = back[held - 1];
        if (keys[i] == keys[held])
            held++;
        back[i] = held;
    }
}

static bool stands_at(const struct seek *seek, size_t at, const struct patch_line *want,
                      size_t count, enum seek_pass pass)
{
    BUG_UNLESS(at + count <= seek->count);
    *seek->steps += count;
    for (size_t i = 0; i < count; i++)
        if (!seek_same(seek->lines[at + i], want[i], pass))
            return false;
    return true;
}

static size_t find_in_pass(struct seek *seek, const struct patch_line *want, size_t count,
                           size_t start, enum seek_pass pass)
{
    if (seek->keys[pass] == NULL)
        seek->keys[pass] = make_keys(seek->lines, seek->count, pass);
    const uint64_t *keys = seek->keys[pass];
    uint64_t *wanted = make_keys(want, count, pass);
    size_t *back = xreallocarray(NULL, count, sizeof *back), found = SEEK_NONE, at = start;
    fill_back(back, wanted, count);
    for (size_t held = 0; at < seek->count && found == SEEK_NONE; at++) {
        while (held > 0 && (held == count || keys[at] != wanted[held]))
            held = back[held - 1];
        if (keys[at] == wanted[held])
            held++;
        if (held == count && *seek->steps > SEEK_STEPS_MAX)
            found = SEEK_COSTLY;
        else if (held == count && stands_at(seek, at + 1 - count, want, count, pass))
            found = at + 1 - count;
    }
    *seek->steps += at - start + count;
    free(back);
    free(wanted);
    return found;
}

size_t seek_find(struct seek *seek, const struct patch_line *want, size_t count, size_t start)
{
    if (count == 0)
        return start;
    if (start > seek->count || count > seek->count - start)
        return SEEK_NONE;
    for (int pass = SEEK_EXACT; pass < SEEK_PASSES; pass++) {
        if (*seek->steps > SEEK_STEPS_MAX)
            return SEEK_COSTLY;
        size_t found = find_in_pass(seek, want, count, start, pass);
        if (found != SEEK_NONE)
            return found;
    }
    return SEEK_NONE;
}
