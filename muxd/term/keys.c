/* keys: owns the reading of key names. keys_code.c and keys_kitty.c code them. */
#include "term/keys.h"
#include "base/utf8.h"
#include "term/keys_code.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_BYTES 64

static const struct modifier {
    const char *word;
    unsigned bit;
} modifiers[] = {
    {"C-", KEY_CTRL},       {"^", KEY_CTRL},       {"M-", KEY_ALT},       {"A-", KEY_ALT},
    {"S-", KEY_SHIFT},      {"ctrl+", KEY_CTRL},   {"ctrl-", KEY_CTRL},   {"control+", KEY_CTRL},
    {"control-", KEY_CTRL}, {"alt+", KEY_ALT},     {"alt-", KEY_ALT},     {"meta+", KEY_ALT},
    {"meta-", KEY_ALT},     {"option+", KEY_ALT},  {"shift+", KEY_SHIFT}, {"shift-", KEY_SHIFT},
    {"super+", KEY_SUPER},  {"super-", KEY_SUPER}, {"cmd+", KEY_SUPER},   {"D-", KEY_SUPER},
    {"hyper+", KEY_HYPER},  {"hyper-", KEY_HYPER}, {"H-", KEY_HYPER}};

/* Takes the modifiers off the front. The rest is the key, which may itself be "-", "+" or "^". */
static const char *take_modifiers(const char *name, unsigned *mods)
{
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers;) {
        size_t len = strlen(modifiers[i].word);
        if (strncasecmp(name, modifiers[i].word, len) == 0 && name[len] &&
            !(*mods & modifiers[i].bit)) {
            *mods |= modifiers[i].bit;
            name += len;
            i = 0;
        } else {
            i++;
        }
    }
    return name;
}

/* "<up>" without its brackets, copied to room; a name without brackets as it is. */
static const char *take_brackets(const char *name, unsigned *mods, char room[NAME_MAX_BYTES])
{
    size_t len = strlen(name);
    if (len < 4 || len >= NAME_MAX_BYTES || name[0] != '<' || name[len - 1] != '>')
        return name;
    memcpy(room, name + 1, len - 2);
    room[len - 2] = '\0';
    return take_modifiers(room, mods);
}

/* "0x1b" is a byte, "U+20AC" a character. False: rest is neither. */
static bool numbered(const char *rest, const char *prefix, size_t digits_max, unsigned long *out)
{
    size_t len = strlen(rest);
    if (strncasecmp(rest, prefix, 2) != 0 || len < 3 || len > 2 + digits_max ||
        strspn(rest + 2, "0123456789abcdefABCDEF") != len - 2)
        return false;
    *out = strtoul(rest + 2, NULL, 16);
    return true;
}

static int keys_unknown(struct err *err, const char *name, const char *rest)
{
    const char *nearest = keyname_nearest(rest);
    return nearest
               ? err_set(err, ERR_KEY, "'%s': no key of that name; did you mean '%s'?", name,
                         nearest)
               : err_set(err, ERR_KEY,
                         "'%s': no key of that name; use Enter, Up, C-c, M-x, F5 or a character",
                         name);
}

static int code(struct buf *out, const char *name, struct key *key, const struct keys_modes *modes,
                struct err *err)
{
    char byte;
    /* the space bar is a character like others */
    if (key->named && key->named->form == KEYNAME_BYTE && key->named->code == ' ') {
        key->named = NULL;
        key->rune = ' ';
    }
    /* given as 0xHH: sent as it is */
    bool control = !key->named && (key->rune < ' ' || key->rune == 0177);
    if (control && key->mods == 0) {
        byte = (char)key->rune;
        buf_append(out, &byte, 1);
        return 0;
    }
    if (!control && keys_code(out, key, modes))
        return 0;
    return err_set(err, ERR_KEY,
                   "'%s': no bytes mean this combination in the keyboard mode that the program has "
                   "set; use another",
                   name);
}

int keys_append_modes(struct buf *out, const char *name, const struct keys_modes *modes,
                      struct err *err)
{
    char room[NAME_MAX_BYTES], byte;
    unsigned long number;
    struct key key = {0};
    const char *rest = take_brackets(take_modifiers(name, &key.mods), &key.mods, room);
    size_t len = strlen(rest);
    if (len > 0 && utf8_decode(rest, len, &key.rune) == len && key.rune >= 0)
        return code(out, name, &key, modes, err);
    if (numbered(rest, "0x", 2, &number)) {
        if (key.mods)
            return err_set(err, ERR_KEY, "'%s': a byte has no modifiers; name the key", name);
        byte = (char)number;
        buf_append(out, &byte, 1);
        return 0;
    }
    if (numbered(rest, "U+", 6, &number)) {
        char bytes[4];
        key.rune = number <= 0x10ffff ? (int32_t)number : -1;
        if (utf8_encode(key.rune, bytes) == 0)
            return err_set(err, ERR_KEY, "'%s': no character of Unicode; use U+0000 to U+10FFFF",
                           name);
        return code(out, name, &key, modes, err);
    }
    key.named = keyname_find(rest);
    return key.named ? code(out, name, &key, modes, err) : keys_unknown(err, name, rest);
}

int keys_append(struct buf *out, const char *name, struct err *err)
{
    static const struct keys_modes plain;
    return keys_append_modes(out, name, &plain, err);
}
