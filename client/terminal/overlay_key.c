/* overlay_key: owns the decoding of ue's own keys: in plain encoding, with the wheel in SGR.
 * Source: xterm ctlseqs. */
#include "base/bug.h"
#include "base/utf8.h"
#include "client/terminal/overlay.h"
#include <string.h>

#define SEQUENCE_MAX 32 /* bytes; a longer one is no key */
#define WHEEL_UP 64
#define WHEEL_DOWN 65

static int32_t of_letter(char letter)
{
    static const char letters[] = "ABCDHF";
    static const int32_t keys[] = {OVERLAY_UP,   OVERLAY_DOWN, OVERLAY_RIGHT,
                                   OVERLAY_LEFT, OVERLAY_HOME, OVERLAY_END};
    const char *at = letter ? strchr(letters, letter) : NULL;
    return at ? keys[at - letters] : letter == 'M' ? '\r' : OVERLAY_OTHER;
}

static int32_t of_number(int number)
{
    switch (number) {
    case 1:
    case 7:
        return OVERLAY_HOME;
    case 4:
    case 8:
        return OVERLAY_END;
    case 5:
        return OVERLAY_PAGE_UP;
    case 6:
        return OVERLAY_PAGE_DOWN;
    default:
        return OVERLAY_OTHER;
    }
}

static int overlay_key_number_at(const char *at, const char *end)
{
    int number = 0;
    for (; at < end && *at >= '0' && *at <= '9' && number < 10000; at++)
        number = number * 10 + *at - '0';
    return number;
}

static int32_t of_sequence(const char *data, size_t size)
{
    char final = data[size - 1];
    int number = overlay_key_number_at(data + 2, data + size);
    if (data[2] == '<') {
        number = overlay_key_number_at(data + 3, data + size);
        return number == WHEEL_UP     ? OVERLAY_WHEEL_UP
               : number == WHEEL_DOWN ? OVERLAY_WHEEL_DOWN
                                      : OVERLAY_OTHER;
    }
    return final == '~' ? of_number(number) : of_letter(final);
}

static size_t take_sequence(const char *data, size_t size, int32_t *key)
{
    size_t at = 2;
    while (at < size && at < SEQUENCE_MAX && (data[at] < '@' || data[at] > '~'))
        at++;
    *key = OVERLAY_OTHER;
    if (at == SEQUENCE_MAX)
        return at;
    if (at == size)
        return 0;
    *key = of_sequence(data, at + 1);
    return at + 1;
}

/* An Escape with nothing behind it is the Escape key, as the bytes of a key arrive together. */
size_t overlay_key_next(const char *data, size_t size, int32_t *key)
{
    BUG_UNLESS(size > 0);
    if (data[0] != 033 || size == 1) {
        size_t used = utf8_decode(data, size, key);
        if (used > 0 && *key < 0)
            *key = OVERLAY_OTHER;
        return used;
    }
    if (data[1] == '[')
        return take_sequence(data, size, key);
    if (data[1] == 'O' && size > 2) {
        *key = of_letter(data[2]);
        return 3;
    }
    *key = data[1] == 033 ? 033 : OVERLAY_OTHER; /* with Alt, or Escape twice */
    return data[1] == 'O' ? 0 : 2;
}
