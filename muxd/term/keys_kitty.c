/* keys_kitty: owns the coding of keys by the kitty keyboard protocol: CSI CODE[:SHIFTED] ;
 * MODIFIERS[:EVENT] [; TEXT] u, with the traditional letters and numbers for the keys that have
 * them. */
#include "term/keys_code.h"
#include "base/bug.h"
#include "base/utf8.h"
#include <ctype.h>
#include <stdio.h>

enum { DISAMBIGUATE = 1, EVENTS = 2, ALTERNATES = 4, ALL = 8, TEXT = 16 };
#define F13 57376
#define KP_0 57399

struct coded {
    int code;    /* before the letter; 1 for keys that the letter alone names */
    char final;  /* u, ~ or a letter */
    int32_t shifted, text; /* 0: none */
};

/* The code of the keypad's key for this character. */
static int keypad_code(char c)
{
    switch (c) {
    case '.': return 57409;
    case '/': return 57410;
    case '*': return 57411;
    case '-': return 57412;
    case '+': return 57413;
    case '\r': return 57414;
    case '=': return 57415;
    default: return KP_0 + c - '0';
    }
}

static struct coded code_of_named(const struct keyname *named)
{
    switch (named->form) {
    case KEYNAME_CURSOR:
        return named->code == 'Z' ? (struct coded){.code = '\t', .final = 'u'}
                                  : (struct coded){.code = 1, .final = (char)named->code};
    case KEYNAME_SS3: /* the letter of F3 is that of a cursor report */
        return named->code == 'R' ? (struct coded){.code = 13, .final = '~'}
                                  : (struct coded){.code = 1, .final = (char)named->code};
    case KEYNAME_TILDE: return (struct coded){.code = named->code, .final = '~'};
    case KEYNAME_SHIFTED: return (struct coded){.code = F13 + named->code - 1, .final = 'u'};
    case KEYNAME_KEYPAD:
        return (struct coded){.code = keypad_code((char)named->code),
                              .final = 'u',
                              .text = named->code == '\r' ? 0 : named->code};
    case KEYNAME_BYTE:
    case KEYNAME_KITTY: break;
    }
    return (struct coded){.code = named->code, .final = 'u'};
}

/* The code is that of the key without Shift. Only the keyboard knows which sign Shift gives. */
static struct coded code_of_rune(int32_t rune, unsigned mods)
{
    struct coded coded = {.code = rune, .final = 'u', .text = rune};
    if (rune < 128 && isupper((int)rune))
        coded.code = tolower((int)rune);
    if (rune < 128 && isalpha((int)rune) && (mods & KEY_SHIFT)) {
        coded.shifted = toupper((int)rune);
        coded.text = coded.shifted;
    }
    return coded;
}

static void append_event(struct buf *out, const struct coded *coded, unsigned mods, unsigned flags,
                         bool released)
{
    bool text = (flags & ALL) && (flags & TEXT) && coded->text && !released &&
                !(mods & ~(unsigned)KEY_SHIFT);
    bool tail = mods || released || text;
    buf_append_text(out, "\033[");
    if (coded->code != 1 || tail)
        buf_printf(out, "%d", coded->code);
    if ((flags & ALTERNATES) && coded->shifted)
        buf_printf(out, ":%ld", (long)coded->shifted);
    if (tail)
        buf_append_byte(out, ';');
    if (mods || released)
        buf_printf(out, "%u", mods + 1);
    if (released)
        buf_append_text(out, ":3");
    if (text)
        buf_printf(out, ";%ld", (long)coded->text);
    buf_append_byte(out, coded->final);
}

/* What keeps its traditional bytes: text, and Enter, Tab and Backspace, so that a shell can be used
 * after a program that has died. */
static bool append_plain(struct buf *out, const struct key *key, unsigned flags, unsigned mods,
                         const struct coded *coded)
{
    char bytes[4];
    size_t len;
    if (flags & ALL)
        return false;
    if (key->named) {
        bool keypad = key->named->form == KEYNAME_KEYPAD && coded->text;
        bool kept = key->named->form == KEYNAME_BYTE &&
                    (key->named->code != 033 || !(flags & DISAMBIGUATE));
        if (mods || (!kept && !keypad))
            return false;
        buf_append_byte(out, (char)(keypad ? coded->text : key->named->code));
        return true;
    }
    bool letter = key->rune < 128 && isalpha((int)key->rune);
    if ((mods & ~(unsigned)KEY_SHIFT) || ((mods & KEY_SHIFT) && !letter) || coded->text < ' ' ||
        coded->text == 0177)
        return false;
    len = utf8_encode(coded->text, bytes);
    buf_append(out, bytes, len);
    return len > 0;
}

/* Without DISAMBIGUATE and ALL a key keeps its traditional coding; but with EVENTS the keys that
 * were sequences also report their release. */
static bool keys_kitty_append_old(struct buf *out, const struct key *key, unsigned flags)
{
    static const struct keys_modes plain;
    bool text = !key->named || key->named->form == KEYNAME_BYTE;
    return !(flags & (DISAMBIGUATE | ALL)) && (text || !(flags & EVENTS)) &&
           keys_code(out, key, &plain);
}

bool keys_kitty(struct buf *out, const struct key *key, unsigned flags)
{
    unsigned mods = key->mods;
    BUG_UNLESS(flags != 0);
    if (!key->named && key->rune < 128 && isupper((int)key->rune) && !(mods & KEY_CTRL))
        mods |= KEY_SHIFT;
    if (key->named && key->named->form == KEYNAME_CURSOR && key->named->code == 'Z')
        mods |= KEY_SHIFT;
    struct coded coded = key->named ? code_of_named(key->named) : code_of_rune(key->rune, mods);
    if (keys_kitty_append_old(out, key, flags) || append_plain(out, key, flags, mods, &coded))
        return true;
    if (coded.code == 0)
        return false; /* U+0000 is no key */
    append_event(out, &coded, mods, flags, false);
    if (flags & EVENTS)
        append_event(out, &coded, mods, flags, true);
    return true;
}
