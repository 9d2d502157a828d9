/* value.c: owns the reading of words: numbers with units, names, signals, and the search for the
 * nearest known word. */
#include "base/value.h"
#include "base/bug.h"
#include <signal.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads the digits at *text, which moves behind them. */
static bool take_digits(const char **text, uint64_t *out)
{
    const char *at = *text;
    uint64_t number = 0;
    for (; is_digit(*at); at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
            return false;
    if (at == *text)
        return false;
    *text = at;
    *out = number;
    return true;
}

bool value_int(const char *text, int64_t min, int64_t max, int64_t *out)
{
    BUG_UNLESS(min <= max);
    bool minus = *text == '-' && min < 0;
    const char *at = text + minus;
    uint64_t size;
    if (!take_digits(&at, &size) || *at || size > (uint64_t)INT64_MAX + minus)
        return false;
    int64_t number = (int64_t)(minus ? 0 - size : size);
    if (number < min || number > max)
        return false;
    *out = number;
    return true;
}

bool value_bool(const char *text, bool *out)
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(text, words[i]) != 0)
            continue;
        *out = i % 2 == 1;
        return true;
    }
    return false;
}

struct unit {
    const char *name;
    int64_t factor;
};

/* A number and one of the units; an empty name is the unit of a bare number. */
static bool with_unit(const char *text, const struct unit *units, size_t count, int64_t *out)
{
    uint64_t number;
    if (!take_digits(&text, &number))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(text, units[i].name) != 0)
            continue;
        int64_t product;
        if (number > INT64_MAX ||
            __builtin_mul_overflow((int64_t)number, units[i].factor, &product))
            return false;
        *out = product;
        return true;
    }
    return false;
}

bool value_bytes(const char *text, int64_t *out)
{
    static const struct unit units[] = {{"", 1},         {"k", 1 << 10},   {"KiB", 1 << 10},
                                        {"M", 1 << 20},  {"MiB", 1 << 20}, {"G", 1 << 30},
                                        {"GiB", 1 << 30}};
    return with_unit(text, units, sizeof units / sizeof units[0], out);
}

bool value_ms(const char *text, int64_t *out)
{
    static const struct unit units[] = {{"", 1},      {"ms", 1},      {"s", 1000},
                                        {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    if (strcasecmp(text, "inf") != 0)
        return with_unit(text, units, sizeof units / sizeof units[0], out);
    *out = INT64_MAX;
    return true;
}

bool value_size(const char *text, int *rows, int *cols)
{
    uint64_t r, c;
    if (!take_digits(&text, &r) || *text++ != 'x' || !take_digits(&text, &c) || *text)
        return false;
    if (r < 1 || r > 1000 || c < 1 || c > 1000)
        return false;
    *rows = (int)r;
    *cols = (int)c;
    return true;
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

bool value_env_name(const char *name, size_t len)
{
    if (len == 0 || is_digit(name[0]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_word_byte(name[i]))
            return false;
    return true;
}

bool value_session_name(const char *name)
{
    size_t len = strnlen(name, 65);
    if (len < 1 || len > 64 || !is_word_byte(name[0]))
        return false;
    bool all_digits = true;
    for (size_t i = 0; i < len; i++) {
        if (!is_word_byte(name[i]) && name[i] != '.' && name[i] != '-')
            return false;
        all_digits = all_digits && is_digit(name[i]);
    }
    return !all_digits;
}

const char *value_signal_name(int signo)
{
    return signo > 0 && signo < NSIG ? sigabbrev_np(signo) : NULL;
}

bool value_signal(const char *text, int *signo)
{
    if (is_digit(*text)) {
        int64_t number;
        if (!value_int(text, 1, NSIG - 1, &number))
            return false;
        *signo = (int)number;
        return true;
    }
    if (strncasecmp(text, "SIG", 3) == 0)
        text += 3;
    static const struct {
        const char *name;
        int signo;
    } aliases[] = {{"CLD", SIGCHLD}, {"IOT", SIGABRT}, {"IO", SIGIO}};
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (strcasecmp(text, aliases[i].name) == 0) {
            *signo = aliases[i].signo;
            return true;
        }
    }
    for (int i = 1; i < NSIG; i++) {
        const char *name = sigabbrev_np(i);
        if (name && strcasecmp(text, name) == 0) {
            *signo = i;
            return true;
        }
    }
    return false;
}

enum { NEAREST_MAX = 63 };
_Static_assert(NEAREST_MAX < 256, "a distance fits a byte");

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment); both at
 * most NEAREST_MAX. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    BUG_UNLESS(a_len <= NEAREST_MAX && b_len <= NEAREST_MAX);
    unsigned char rows[3][NEAREST_MAX + 1];
    unsigned char *before = rows[0], *last = rows[1], *here = rows[2];
    for (size_t j = 0; j <= b_len; j++)
        last[j] = (unsigned char)j;
    for (size_t i = 1; i <= a_len; i++) {
        here[0] = (unsigned char)i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = min_size(best, min_size(last[j], here[j - 1]) + 1u);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = min_size(best, before[j - 2] + 1u);
            here[j] = (unsigned char)best;
        }
        unsigned char *spare = before;
        before = last;
        last = here;
        here = spare;
    }
    return last[b_len];
}

const char *value_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t len = strlen(word);
    if (len == 0 || len > NEAREST_MAX)
        return NULL;
    size_t best = 2 + len / 4; /* one more than is near */
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]);
        if (other > NEAREST_MAX)
            continue;
        size_t far = distance(word, len, candidates[i], other);
        if (far < best && (far < len || far < other)) { /* else it shares no letter with word */
            best = far;
            nearest = candidates[i];
        }
    }
    return nearest;
}

const char *value_nearest_signal(const char *word)
{
    const char *names[NSIG];
    char upper[16];
    size_t count = 0, len = 0;
    if (strncasecmp(word, "SIG", 3) == 0)
        word += 3;
    while (len < sizeof upper - 1 && word[len]) {
        upper[len] = (char)(word[len] >= 'a' && word[len] <= 'z' ? word[len] - 'a' + 'A'
                                                                 : word[len]);
        len++;
    }
    upper[len] = '\0';
    for (int i = 1; i < NSIG; i++)
        if (sigabbrev_np(i))
            names[count++] = sigabbrev_np(i);
    return value_nearest(upper, names, count);
}
