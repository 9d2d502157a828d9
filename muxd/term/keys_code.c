/* keys_code: owns the traditional coding of keys, and what xterm's modifyOtherKeys adds to it. */
#include "term/keys_code.h"
#include "base/bug.h"
#include "base/utf8.h"
#include <ctype.h>
#include <stdio.h>

static bool is_ascii(int32_t rune, int (*is)(int))
{
    return rune < 128 && is((int)rune);
}

static void alt_prefix(struct buf *out, unsigned mods)
{
    if (mods & KEY_ALT)
        buf_append_byte(out, 033);
}

/* The byte of control with this character: @ A to Z [ \ ] ^ _ give 0 to 31, ? gives DEL; letters in
 * either case. -1: there is none. */
static int control_byte(int32_t rune)
{
    int upper = is_ascii(rune, islower) ? toupper((int)rune) : (int)rune;
    if (rune == ' ' || rune == '@')
        return 0;
    if (upper >= 'A' && upper <= '_')
        return upper - '@';
    return rune == '/' ? 037 : rune == '?' ? 0177 : -1;
}

static bool append_text(struct buf *out, const struct key *key)
{
    int32_t rune = key->rune;
    if (key->mods & KEY_SHIFT && !is_ascii(rune, isalpha))
        return false;
    if (key->mods & KEY_CTRL) {
        int byte = key->mods & KEY_SHIFT ? -1 : control_byte(rune);
        if (byte < 0)
            return false;
        alt_prefix(out, key->mods);
        buf_append_byte(out, (char)byte);
        return true;
    }
    alt_prefix(out, key->mods);
    return utf8_append_rune(out, key->mods & KEY_SHIFT ? toupper((int)rune) : rune);
}

/* Enter, Tab, Escape, Backspace, line feed. */
static bool append_byte_key(struct buf *out, char byte, unsigned mods,
                            const struct keys_modes *modes)
{
    if (byte == 0177 && modes->backspace_is_bs)
        byte = '\b';
    if (byte == '\t' && (mods & KEY_SHIFT) && !(mods & KEY_CTRL)) {
        alt_prefix(out, mods);
        buf_append_text(out, "\033[Z");
        return true;
    }
    /* xterm's bytes for control and backspace */
    if ((byte == 0177 || byte == '\b') && mods == KEY_CTRL) {
        buf_append_byte(out, byte == '\b' ? 0177 : '\b');
        return true;
    }
    if (mods & (KEY_CTRL | KEY_SHIFT))
        return false;
    alt_prefix(out, mods);
    buf_append_byte(out, byte);
    return true;
}

static bool append_keypad(struct buf *out, char c, unsigned mods, const struct keys_modes *modes)
{
    if (mods)
        return false;
    if (!modes->application_keypad)
        buf_append_byte(out, c);
    /* SS3 and a letter: p to y for 0 to 9, j to o for * to /, M for Enter, X for = */
    else
        buf_printf(out, "\033O%c", c == '\r' ? 'M' : c == '=' ? 'X' : c + ('p' - '0'));
    return true;
}

static bool append_named(struct buf *out, const struct key *key, const struct keys_modes *modes)
{
    const struct keyname *named = key->named;
    unsigned mods = key->mods;
    switch (named->form) {
    case KEYNAME_BYTE:
        return append_byte_key(out, (char)named->code, mods, modes);
    case KEYNAME_TILDE:
        mods ? buf_printf(out, "\033[%d;%u~", named->code, mods + 1)
             : buf_printf(out, "\033[%d~", named->code);
        return true;
    case KEYNAME_SS3:
        mods ? buf_printf(out, "\033[1;%u%c", mods + 1, named->code)
             : buf_printf(out, "\033O%c", named->code);
        return true;
    case KEYNAME_CURSOR:
        if (named->code == 'Z')
            return append_byte_key(out, '\t', mods | KEY_SHIFT, modes);
        if (mods)
            buf_printf(out, "\033[1;%u%c", mods + 1, named->code);
        else
            buf_printf(out, modes->application_cursor ? "\033O%c" : "\033[%c", named->code);
        return true;
    case KEYNAME_KEYPAD:
        return append_keypad(out, (char)named->code, mods, modes);
    case KEYNAME_SHIFTED: /* keys_code has replaced it */
    case KEYNAME_KITTY:
        break;
    }
    return false;
}

static bool keys_code_append_old(struct buf *out, const struct key *key,
                                 const struct keys_modes *modes)
{
    if (key->mods & (KEY_SUPER | KEY_HYPER))
        return false;
    return key->named ? append_named(out, key, modes) : append_text(out, key);
}

/* modifyOtherKeys codes a key as CSI 27 ; MODIFIERS ; CHARACTER ~: at level 1 one that has no other
 * bytes, at level 2 every modified one. */
static bool append_other(struct buf *out, const struct key *key)
{
    bool named = key->named && key->named->form == KEYNAME_BYTE;
    if (key->mods == 0 || (key->mods & (KEY_SUPER | KEY_HYPER)) || (key->named && !named))
        return false;
    int32_t rune = named ? key->named->code : key->rune;
    if ((key->mods & KEY_SHIFT) && is_ascii(rune, islower))
        rune = toupper((int)rune);
    buf_printf(out, "\033[27;%u;%ld~", key->mods + 1, (long)rune);
    return true;
}

/* Shift with a letter gives another letter, which is sent as it is. */
static bool is_plain(const struct key *key)
{
    return key->mods == 0 ||
           (!key->named && key->mods == KEY_SHIFT && is_ascii(key->rune, isalpha));
}

bool keys_code(struct buf *out, const struct key *key, const struct keys_modes *modes)
{
    struct key resolved = *key;
    char plain[8];
    BUG_UNLESS(key->named || key->rune >= 0);
    if (key->named && key->named->form == KEYNAME_SHIFTED && !modes->kitty) {
        if (key->mods & KEY_SHIFT)
            return false;
        snprintf(plain, sizeof plain, "F%d", key->named->code);
        resolved = (struct key){.named = keyname_find(plain), .mods = key->mods | KEY_SHIFT};
        BUG_UNLESS(resolved.named);
    }
    if (modes->kitty)
        return keys_kitty(out, &resolved, modes->kitty);
    if (modes->other_keys == 2 && !is_plain(&resolved) && append_other(out, &resolved))
        return true;
    return keys_code_append_old(out, &resolved, modes) ||
           (modes->other_keys > 0 && append_other(out, &resolved));
}
