/* keys: owns the coding of keys. */
#include "term/keys.h"
#include "base/utf8.h"
#include "wire/keynames.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SHIFT = 1, ALT = 2, CTRL = 4 }; /* xterm's parameter is one more than their sum */

static const struct modifier {
    const char *word;
    unsigned bit;
} modifiers[] = {{"C-", CTRL},       {"^", CTRL},   {"M-", ALT},   {"S-", SHIFT},  {"ctrl+", CTRL}, {"ctrl-", CTRL},   {"control+", CTRL},
                 {"control-", CTRL}, {"alt+", ALT}, {"alt-", ALT}, {"meta+", ALT}, {"meta-", ALT},  {"shift+", SHIFT}, {"shift-", SHIFT}};

/* Takes the modifiers off the front; what is left is the key, which may itself be "-", "+" or "^". */
static const char *take_modifiers(const char *name, unsigned *mods)
{
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers;) {
        size_t len = strlen(modifiers[i].word);
        if (strncasecmp(name, modifiers[i].word, len) == 0 && name[len] && !(*mods & modifiers[i].bit)) {
            *mods |= modifiers[i].bit;
            name += len;
            i = 0;
        } else {
            i++;
        }
    }
    return name;
}

static int inexpressible(struct err *err, const char *name)
{
    return err_set(err, ERR_KEY, "'%s': a terminal has no bytes for this combination; send another key", name);
}

static void alt_prefix(struct buf *out, unsigned mods)
{
    if (mods & ALT)
        buf_append_byte(out, 033);
}

/* One byte and control: @ A to Z [ \ ] ^ _ become 0 to 31, ? becomes DEL; letters in either case. */
static int append_control(struct buf *out, const char *name, char byte, unsigned mods, struct err *err)
{
    char upper = (char)toupper((unsigned char)byte), code;
    if (byte == ' ' || byte == '@')
        code = 0;
    else if (upper >= 'A' && upper <= '_')
        code = (char)(upper - '@');
    else if (byte == '/')
        code = 037;
    else if (byte == '?')
        code = 0177;
    else
        return inexpressible(err, name);
    if ((mods & SHIFT) && isalpha((unsigned char)byte))
        return inexpressible(err, name);
    alt_prefix(out, mods);
    buf_append_byte(out, code);
    return 0;
}

static int append_rune(struct buf *out, const char *name, int32_t rune, unsigned mods, struct err *err)
{
    char bytes[4];
    size_t len = utf8_encode(rune, bytes);
    if (len == 0)
        return err_set(err, ERR_KEY, "'%s': no character of Unicode; use U+0000 to U+10FFFF", name);
    if (mods & CTRL)
        return len == 1 ? append_control(out, name, bytes[0], mods, err) : inexpressible(err, name);
    if (mods & SHIFT) {
        if (len > 1 || !islower((unsigned char)bytes[0]))
            return len == 1 && isupper((unsigned char)bytes[0]) ? (alt_prefix(out, mods), buf_append(out, bytes, 1), 0)
                                                                : inexpressible(err, name);
        bytes[0] = (char)toupper((unsigned char)bytes[0]);
    }
    alt_prefix(out, mods);
    buf_append(out, bytes, len);
    return 0;
}

static int append_byte_key(struct buf *out, const char *name, char byte, unsigned mods, struct err *err)
{
    if (byte == '\t' && (mods & SHIFT) && !(mods & CTRL)) {
        alt_prefix(out, mods);
        buf_append_text(out, "\033[Z");
        return 0;
    }
    if (byte == ' ' && (mods & CTRL) && !(mods & SHIFT))
        return append_control(out, name, byte, mods, err);
    if (byte == 0177 && mods == CTRL) { /* what xterm sends for control and backspace */
        buf_append_byte(out, '\b');
        return 0;
    }
    if (mods & (CTRL | SHIFT))
        return inexpressible(err, name);
    alt_prefix(out, mods);
    buf_append_byte(out, byte);
    return 0;
}

static int append_named(struct buf *out, const char *name, const struct keyname *key, unsigned mods, const struct keys_modes *modes,
                        struct err *err)
{
    char plain[8];
    switch (key->form) {
    case KEYNAME_SHIFTED:
        if (mods & SHIFT)
            return inexpressible(err, name);
        snprintf(plain, sizeof plain, "F%d", key->code);
        return append_named(out, name, keyname_find(plain), mods | SHIFT, modes, err);
    case KEYNAME_BYTE:
        return append_byte_key(out, name, (char)key->code, mods, err);
    case KEYNAME_TILDE:
        mods ? buf_printf(out, "\033[%d;%u~", key->code, mods + 1) : buf_printf(out, "\033[%d~", key->code);
        return 0;
    case KEYNAME_SS3:
        mods ? buf_printf(out, "\033[1;%u%c", mods + 1, key->code) : buf_printf(out, "\033O%c", key->code);
        return 0;
    case KEYNAME_CURSOR:
        if (key->code == 'Z') {
            if (mods & CTRL)
                return inexpressible(err, name);
            alt_prefix(out, mods);
            buf_append_text(out, "\033[Z");
        } else if (mods) {
            buf_printf(out, "\033[1;%u%c", mods + 1, key->code);
        } else {
            buf_printf(out, modes->application_cursor ? "\033O%c" : "\033[%c", key->code);
        }
        return 0;
    }
    return inexpressible(err, name);
}

/* "0x1b" is a byte, "U+20AC" a character. False when rest is neither. */
static bool numbered(const char *rest, const char *prefix, size_t digits_max, unsigned long *out)
{
    size_t len = strlen(rest);
    if (strncasecmp(rest, prefix, 2) != 0 || len < 3 || len > 2 + digits_max || strspn(rest + 2, "0123456789abcdefABCDEF") != len - 2)
        return false;
    *out = strtoul(rest + 2, NULL, 16);
    return true;
}

int keys_append_modes(struct buf *out, const char *name, const struct keys_modes *modes, struct err *err)
{
    unsigned mods = 0;
    int32_t rune;
    unsigned long number;
    const char *rest = take_modifiers(name, &mods);
    size_t len = strlen(rest);
    if (len > 0 && utf8_decode(rest, len, &rune) == len && rune >= 0)
        return append_rune(out, name, rune, mods, err);
    if (numbered(rest, "0x", 2, &number)) {
        if (mods)
            return inexpressible(err, name);
        buf_append_byte(out, (char)number);
        return 0;
    }
    if (numbered(rest, "U+", 6, &number))
        return append_rune(out, name, number <= 0x10ffff ? (int32_t)number : -1, mods, err);
    const struct keyname *key = keyname_find(rest);
    if (key)
        return append_named(out, name, key, mods, modes, err);
    const char *nearest = keyname_nearest(rest);
    return nearest ? err_set(err, ERR_KEY, "'%s': no key of that name; did you mean '%s'?", name, nearest)
                   : err_set(err, ERR_KEY, "'%s': no key of that name; use Enter, Up, C-c, M-x, F5 or a character", name);
}

int keys_append(struct buf *out, const char *name, struct err *err)
{
    static const struct keys_modes plain;
    return keys_append_modes(out, name, &plain, err);
}
