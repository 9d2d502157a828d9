/* modes: owns how sequences change the modes, and the layout of the 64 bits: flags,
 * modifyOtherKeys, cursor style, two stacks of kitty keyboard flags, four deep on the main screen
 * and three on the other, the flags in force lowest, and more flags. A push too many forgets the
 * oldest flags, as that protocol allows. */
#include "term/modes.h"
#include <assert.h>

enum {
    OTHER_KEYS_AT = 19, /* 2 bits */
    STYLE_AT = 21,      /* 3 bits */
    KITTY_AT = 24,      /* of the main screen */
    KITTY_BITS = 20,
    KITTY_OTHER_AT = KITTY_AT + KITTY_BITS,
    KITTY_OTHER_BITS = 15,
    KITTY_FLAGS = 31,
    KITTY_STEP = 5
};
static_assert(KITTY_OTHER_AT + KITTY_OTHER_BITS == MODE_INSERT && MODE_LONG_STRING < 64,
              "the modes fit into 64 bits");
static_assert((int)MODE_COUNT <= OTHER_KEYS_AT, "the flags lie below");

#define PARAMS_MAX 32
#define BRACKETED_PASTE 2004
#define SCHEME_REPORTS 2031
/* The wheel sends arrow keys on the alternate screen, always: ue, too, leaves its terminal by
 * XTRESTORE of this mode, which no multiplexer knows, and would leave the session without. */
#define SCROLL_KEYS 1007

static const struct numbered {
    int number;
    enum term_mode mode;
    bool turned; /* the bit is set when the mode is reset */
} table[] = {
    {1, MODE_APPLICATION_CURSOR, false},
    {3, MODE_COLUMNS, false},
    {5, MODE_REVERSE_VIDEO, false},
    {6, MODE_ORIGIN, false},
    {7, MODE_NO_WRAP, true},
    {9, MODE_MOUSE_X10, false},
    {25, MODE_CURSOR_HIDDEN, true},
    {40, MODE_MAY_COLUMNS, false},
    {47, MODE_ALTERNATE_SCREEN, false},
    {66, MODE_APPLICATION_KEYPAD, false},
    {67, MODE_BACKSPACE_IS_BS, false},
    {1000, MODE_MOUSE_CLICK, false},
    {1002, MODE_MOUSE_DRAG, false},
    {1003, MODE_MOUSE_MOVE, false},
    {1004, MODE_FOCUS, false},
    {1005, MODE_MOUSE_UTF8, false},
    {1006, MODE_MOUSE_SGR, false},
    {1015, MODE_MOUSE_URXVT, false},
    {1047, MODE_ALTERNATE_SCREEN, false},
    {1049, MODE_ALTERNATE_SCREEN, false},
    {BRACKETED_PASTE, MODE_BRACKETED_PASTE, false},
    {2026, MODE_SYNCHRONIZED, false},
};

static const struct numbered plain[] = {{4, MODE_INSERT, false}, {20, MODE_NEWLINE, false}};

static const struct numbered *modes_find(bool private, int number)
{
    const struct numbered *rows = private ? table : plain;
    size_t count = private ? sizeof table / sizeof *table : sizeof plain / sizeof *plain;
    for (size_t i = 0; i < count; i++)
        if (rows[i].number == number)
            return &rows[i];
    return NULL;
}

static void modes_put(uint64_t *modes, unsigned at, unsigned bits, uint64_t value)
{
    uint64_t mask = ((UINT64_C(1) << bits) - 1) << at;
    *modes = (*modes & ~mask) | (value << at & mask);
}

static uint64_t modes_get(uint64_t modes, unsigned at, unsigned bits)
{
    return modes >> at & ((UINT64_C(1) << bits) - 1);
}

unsigned modes_other_keys(uint64_t modes)
{
    return (unsigned)modes_get(modes, OTHER_KEYS_AT, 2);
}

unsigned modes_cursor_style(uint64_t modes)
{
    return (unsigned)modes_get(modes, STYLE_AT, 3);
}

static unsigned kitty_at(uint64_t modes)
{
    return modes_has(modes, MODE_ALTERNATE_SCREEN) ? KITTY_OTHER_AT : KITTY_AT;
}

static unsigned kitty_bits(uint64_t modes)
{
    return modes_has(modes, MODE_ALTERNATE_SCREEN) ? KITTY_OTHER_BITS : KITTY_BITS;
}

unsigned modes_kitty(uint64_t modes)
{
    return (unsigned)modes_get(modes, kitty_at(modes), KITTY_STEP);
}

/* Resets go first: one of them may end a mode that another has begun (mouse). The reset of the
 * origin mode is left out: it moves the cursor, and DECSTR has done it; so is that of DECCOLM,
 * which erases. */
void modes_append(struct buf *out, uint64_t modes, bool with_kitty)
{
    buf_append_text(out, "\033[!p");
    if (modes_has(modes, MODE_MAY_COLUMNS)) /* before ?3 */
        buf_append_text(out, "\033[?40h");
    for (int set = 0; set <= 1; set++)
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
            if (table[i].mode != MODE_ALTERNATE_SCREEN &&
                modes_has(modes, table[i].mode) == (bool)set &&
                (set || (table[i].mode != MODE_ORIGIN && table[i].mode != MODE_COLUMNS)))
                buf_printf(out, "\033[?%d%c", table[i].number,
                           (bool)set != table[i].turned ? 'h' : 'l');
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        buf_printf(out, "\033[%d%c", plain[i].number, modes_has(modes, plain[i].mode) ? 'h' : 'l');
    buf_printf(out, "\033[>4;%um\033[%u q", modes_other_keys(modes), modes_cursor_style(modes));
    if (with_kitty)
        buf_printf(out, "\033[=%u;1u", modes_kitty(modes));
}

int modes_report(uint64_t modes, bool private, int number)
{
    const struct numbered *it = modes_find(private, number);
    if (private && number == SCROLL_KEYS)
        return 3;
    return !it ? 0 : modes_has(modes, it->mode) != it->turned ? 1 : 2;
}

/* A terminal reports the mouse in one way, with one encoding: each takes the place of another. The
 * reset of any way ends the reports. */
static void modes_set_one(uint64_t *modes, enum term_mode mode, bool set)
{
    static const enum term_mode ways[] = {MODE_MOUSE_X10, MODE_MOUSE_CLICK, MODE_MOUSE_DRAG,
                                          MODE_MOUSE_MOVE},
                                encodings[] = {MODE_MOUSE_UTF8, MODE_MOUSE_SGR, MODE_MOUSE_URXVT};
    bool way = mode == MODE_MOUSE_X10 || (mode >= MODE_MOUSE_CLICK && mode <= MODE_MOUSE_MOVE);
    for (size_t i = 0; way && i < sizeof ways / sizeof *ways; i++)
        modes_put(modes, ways[i], 1, 0);
    bool encoding = mode == MODE_MOUSE_UTF8 || mode == MODE_MOUSE_SGR || mode == MODE_MOUSE_URXVT;
    for (size_t i = 0; encoding && set && i < sizeof encodings / sizeof *encodings; i++)
        modes_put(modes, encodings[i], 1, 0);
    modes_put(modes, mode, 1, set);
}

static void set_numbered(uint64_t *modes, const struct scan_seq *seq)
{
    int numbers[PARAMS_MAX];
    size_t count = scan_params(seq, numbers, PARAMS_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct numbered *it = modes_find(seq->prefix == '?', numbers[i]);
        if (it && (it->mode != MODE_COLUMNS || modes_has(*modes, MODE_MAY_COLUMNS)))
            modes_set_one(modes, it->mode, (seq->final == 'h') != it->turned);
    }
}

/* XTMODKEYS. Without a value it resets to 0; without any parameter it resets all of its kind. */
static void set_other_keys(uint64_t *modes, const struct scan_seq *seq)
{
    int values[2] = {-1, -1};
    if (scan_params(seq, values, 2) > 0 && values[0] != 4)
        return;
    if (seq->final == 'n' || values[1] <= 2)
        modes_put(modes, OTHER_KEYS_AT, 2,
                  seq->final == 'n' || values[1] < 0 ? 0 : (uint64_t)values[1]);
}

static void set_kitty(uint64_t *modes, const struct scan_seq *seq)
{
    int values[2] = {-1, -1};
    unsigned at = kitty_at(*modes), bits = kitty_bits(*modes), pops;
    uint64_t stack = modes_get(*modes, at, bits), flags;
    scan_params(seq, values, 2);
    flags = values[0] < 0 ? 0 : (uint64_t)values[0] & KITTY_FLAGS;
    switch (seq->prefix) {
    case '>': stack = stack << KITTY_STEP | flags; break;
    case '<':
        pops = values[0] < 1 ? 1 : (unsigned)values[0];
        stack = pops < KITTY_BITS / KITTY_STEP ? stack >> pops * KITTY_STEP : 0;
        break;
    case '=':
        if (values[1] == 2)
            stack |= flags;
        else if (values[1] == 3)
            stack &= ~flags;
        else if (values[1] <= 1)
            stack = (stack & ~(uint64_t)KITTY_FLAGS) | flags;
        break;
    default: break;
    }
    modes_put(modes, at, bits, stack);
}

static void set_style(uint64_t *modes, const struct scan_seq *seq)
{
    int style = 0;
    scan_params(seq, &style, 1);
    if (style <= 6)
        modes_put(modes, STYLE_AT, 3, style < 0 ? 0 : (uint64_t)style);
}

/* DECSTR, softer than RIS: it does not switch the screen, and as in xterm neither the mouse, nor
 * focus, nor pastes. */
static void modes_soft_reset(uint64_t *modes)
{
    static const enum term_mode cleared[] = {MODE_APPLICATION_CURSOR, MODE_ORIGIN,
                                             MODE_APPLICATION_KEYPAD, MODE_NO_WRAP,
                                             MODE_CURSOR_HIDDEN,      MODE_INSERT,
                                             MODE_NEWLINE};
    for (size_t i = 0; i < sizeof cleared / sizeof *cleared; i++)
        modes_put(modes, cleared[i], 1, 0);
    modes_put(modes, STYLE_AT, 3, 0);
    modes_put(modes, OTHER_KEYS_AT, 2, 0);
}

static bool apply_esc(uint64_t *modes, const struct scan_seq *seq)
{
    if (seq->inter || (seq->final != 'c' && seq->final != '=' && seq->final != '>'))
        return false;
    if (seq->final == 'c')
        *modes = 0;
    else
        modes_put(modes, MODE_APPLICATION_KEYPAD, 1, seq->final == '=');
    return true;
}

static bool sets_private(const struct scan_seq *seq, int number)
{
    int numbers[PARAMS_MAX];
    if (seq->kind != SCAN_CSI || seq->prefix != '?' || seq->inter ||
        (seq->final != 'h' && seq->final != 'l'))
        return false;
    for (size_t i = 0, count = scan_params(seq, numbers, PARAMS_MAX); i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

enum modes_scheme modes_scheme(const struct scan_seq *seq)
{
    if (seq->kind == SCAN_ESC && seq->final == 'c' && !seq->inter)
        return MODES_SCHEME_OFF;
    if (!sets_private(seq, SCHEME_REPORTS))
        return MODES_SCHEME_SAME;
    return seq->final == 'h' ? MODES_SCHEME_ON : MODES_SCHEME_OFF;
}

enum modes_editor modes_editor(const struct scan_seq *seq)
{
    if (!sets_private(seq, BRACKETED_PASTE))
        return MODES_EDITOR_SAME;
    return seq->final == 'h' ? MODES_EDITOR_READS : MODES_EDITOR_LEAVES;
}

void modes_past_string(uint64_t *modes, const char *data, size_t size, size_t *at)
{
    if (!modes_has(*modes, MODE_LONG_STRING))
        return;
    while (*at < size && !scan_ends_string(data[*at]))
        ++*at;
    if (*at < size)
        modes_put(modes, MODE_LONG_STRING, 1, 0);
}

bool modes_apply(uint64_t *modes, const struct scan_seq *seq)
{
    if (seq->kind == SCAN_LONG)
        modes_put(modes, MODE_LONG_STRING, 1, 1);
    if (seq->kind == SCAN_ESC)
        return apply_esc(modes, seq);
    if (seq->kind != SCAN_CSI)
        return seq->kind == SCAN_LONG;
    if (seq->inter == 0 && (!seq->prefix || seq->prefix == '?') &&
        (seq->final == 'h' || seq->final == 'l'))
        set_numbered(modes, seq);
    else if (seq->inter == 0 && seq->prefix == '>' && (seq->final == 'm' || seq->final == 'n'))
        set_other_keys(modes, seq);
    else if (seq->inter == 0 && seq->final == 'u' && seq->prefix && seq->prefix != '?')
        set_kitty(modes, seq);
    else if (seq->inter == ' ' && !seq->prefix && seq->final == 'q')
        set_style(modes, seq);
    else if (seq->inter == '!' && !seq->prefix && seq->final == 'p')
        modes_soft_reset(modes);
    else
        return false;
    return true;
}
