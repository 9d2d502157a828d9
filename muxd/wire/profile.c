/* profile: owns the JSON form of terminal profiles and the spelling of colours (XParseColor(3),
 * xterm ctlseqs). */
#include "wire/profile.h"
#include "base/bug.h"
#include "wire/json.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 32

/* from PROFILE_FOREGROUND on */
static const char *const names[] = {"foreground", "background", "cursor"};
/* by enum profile_scheme */
static const char *const schemes[] = {NULL, "dark", "light"};
_Static_assert(sizeof names / sizeof *names == PROFILE_COLOURS - PROFILE_PALETTE,
               "one name for each");
_Static_assert(sizeof schemes / sizeof *schemes == PROFILE_LIGHT + 1, "one name for each");
_Static_assert(PROFILE_COLOURS <= 32, "known has a bit for each colour");

/* Parses one part; its digits are scaled, so that f, ff and ffff are the same. */
static bool parse_part(const char **at, const char *end, uint16_t *part)
{
    unsigned value = 0, most = 0;
    for (; *at < end && isxdigit((unsigned char)**at); ++*at) {
        unsigned char byte = (unsigned char)**at;
        if (most > 0xfff)
            return false;
        value = value << 4 | (isdigit(byte) ? byte - (unsigned)'0' : (byte | 32u) - 'a' + 10u);
        most = most << 4 | 15;
    }
    *part = most ? (uint16_t)(value * 65535u / most) : 0;
    return most > 0;
}

bool profile_parse_colour(const char *text, size_t size, uint16_t colour[3])
{
    const char *at = text, *end = text + size;
    uint16_t parts[4];
    int count = size > 4 && memcmp(text, "rgb:", 4) == 0    ? 3
                : size > 5 && memcmp(text, "rgba:", 5) == 0 ? 4
                                                            : 0;
    at += count + 1;
    for (int i = 0; i < count; i++)
        if (!parse_part(&at, end, &parts[i]) || (i < count - 1 && (at == end || *at++ != '/')))
            return false;
    if (count == 0 || at != end)
        return false;
    memcpy(colour, parts, 3 * sizeof *parts);
    return true;
}

enum profile_scheme profile_scheme(const struct profile *profile)
{
    if (!profile)
        return PROFILE_DARK;
    const uint16_t *colour = profile->colours[PROFILE_BACKGROUND];
    if (profile->scheme != PROFILE_SCHEME_UNKNOWN)
        return profile->scheme;
    if (!(profile->known >> PROFILE_BACKGROUND & 1))
        return PROFILE_DARK;
    /* luma, ITU-R BT.601 */
    return colour[0] * 299u + colour[1] * 587u + colour[2] * 114u > 500u * 65535u ? PROFILE_LIGHT
                                                                                  : PROFILE_DARK;
}

bool profile_equal(const struct profile *a, const struct profile *b)
{
    if (a->known != b->known || a->scheme != b->scheme || a->cell_height != b->cell_height ||
        a->cell_width != b->cell_width)
        return false;
    for (int i = 0; i < PROFILE_COLOURS; i++)
        if ((a->known >> i & 1) && memcmp(a->colours[i], b->colours[i], sizeof a->colours[i]) != 0)
            return false;
    return true;
}

static void add_colour(struct json *parent, const char *key, const struct profile *profile,
                       int which)
{
    char word[WORD_MAX];
    const uint16_t *colour = profile->colours[which];
    if (profile->known >> which & 1) {
        snprintf(word, sizeof word, "rgb:%04x/%04x/%04x", colour[0], colour[1], colour[2]);
        json_add_text(parent, key, word);
    } else if (!key) {
        json_add_null(parent, key); /* keeps its place */
    }
}

void profile_print(struct buf *out, const struct profile *profile)
{
    BUG_UNLESS(profile->cell_height <= PROFILE_CELL_MAX && profile->cell_width <= PROFILE_CELL_MAX);
    struct json *object = json_object_new();
    for (int i = PROFILE_PALETTE; i < PROFILE_COLOURS; i++)
        add_colour(object, names[i - PROFILE_PALETTE], profile, i);
    struct json *palette = json_add_array(object, "palette");
    for (int i = 0; i < PROFILE_PALETTE; i++)
        add_colour(palette, NULL, profile, i);
    if (profile->scheme != PROFILE_SCHEME_UNKNOWN)
        json_add_text(object, "scheme", schemes[profile->scheme]);
    if (profile->cell_height > 0 && profile->cell_width > 0) {
        struct json *cell = json_add_array(object, "cell");
        json_add(cell, NULL, json_int_new(profile->cell_height));
        json_add(cell, NULL, json_int_new(profile->cell_width));
    }
    json_print(out, object);
    json_free(object);
}

static void take_colour(struct profile *profile, const struct json *value, int which)
{
    size_t size;
    const char *word = json_str(value, &size);
    if (word && profile_parse_colour(word, size, profile->colours[which]))
        profile->known |= 1u << which;
}

static void take_cell(struct profile *profile, const struct json *cell)
{
    int64_t height = 0, width = 0;
    const struct json *first = json_type(cell) == JSON_ARRAY ? json_first(cell) : NULL;
    if (first && json_int(first, &height) && json_int(json_next(first), &width) && height > 0 &&
        width > 0 && height <= PROFILE_CELL_MAX && width <= PROFILE_CELL_MAX) {
        profile->cell_height = (int)height;
        profile->cell_width = (int)width;
    }
}

bool profile_parse(struct profile *profile, const char *data, size_t size)
{
    struct err err;
    struct json *object = json_parse(data, size, &err);
    const struct json *palette = json_get(object, "palette"),
                      *at = json_type(palette) == JSON_ARRAY ? json_first(palette) : NULL;
    const char *scheme = json_get_str(object, "scheme", NULL);
    bool is_object = json_type(object) == JSON_OBJECT;
    *profile = (struct profile){0};
    for (int i = 0; at && i < PROFILE_PALETTE; i++, at = json_next(at))
        take_colour(profile, at, i);
    for (int i = PROFILE_PALETTE; i < PROFILE_COLOURS; i++)
        take_colour(profile, json_get(object, names[i - PROFILE_PALETTE]), i);
    for (int i = PROFILE_DARK; scheme && i <= PROFILE_LIGHT; i++)
        if (strcmp(scheme, schemes[i]) == 0)
            profile->scheme = (enum profile_scheme)i;
    take_cell(profile, json_get(object, "cell"));
    json_free(object);
    return is_object;
}
