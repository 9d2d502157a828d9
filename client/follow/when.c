/* when: owns the forms of a time. */
#include "client/follow/when.h"
#include "base/value.h"
#include <string.h>
#include <time.h>

static int64_t number_before(const char *text, int min, int max, const char **end)
{
    int64_t number = 0;
    const char *at = text;
    while (*at >= '0' && *at <= '9' && at - text < 5)
        number = 10 * number + (*at++ - '0');
    *end = at;
    return at == text || number < min || number > max ? -1 : number;
}

/* HH:MM[:SS] */
static bool read_clock(const char *text, struct tm *tm, const char **end)
{
    int64_t hour = number_before(text, 0, 23, end), minute = -1, second = 0;
    if (hour >= 0 && **end == ':')
        minute = number_before(*end + 1, 0, 59, end);
    if (minute >= 0 && **end == ':')
        second = number_before(*end + 1, 0, 60, end);
    tm->tm_hour = (int)hour;
    tm->tm_min = (int)minute;
    tm->tm_sec = (int)second;
    return hour >= 0 && minute >= 0 && second >= 0;
}

bool when_read(const char *text, int64_t now_ms, int64_t *out)
{
    int64_t ago;
    time_t now = (time_t)(now_ms / 1000);
    struct tm tm = {0};
    const char *end = text;
    if (value_ms(text, &ago) && ago != INT64_MAX) {
        *out = now_ms > ago ? now_ms - ago : 1;
        return true;
    }
    if (!localtime_r(&now, &tm))
        return false;
    tm.tm_isdst = -1;
    if (strchr(text, '-')) {
        int64_t year = number_before(text, 1970, 9999, &end),
                month = *end == '-' ? number_before(end + 1, 1, 12, &end) : -1;
        int64_t day = *end == '-' ? number_before(end + 1, 1, 31, &end) : -1;
        if (year < 0 || month < 0 || day < 0)
            return false;
        tm = (struct tm){.tm_year = (int)year - 1900,
                         .tm_mon = (int)month - 1,
                         .tm_mday = (int)day,
                         .tm_isdst = -1};
        if (*end && ((*end != 'T' && *end != ' ') || !read_clock(end + 1, &tm, &end)))
            return false;
    } else if (!read_clock(text, &tm, &end)) {
        return false;
    }
    if (*end == '.') /* as `ue list` prints them */
        end += 1 + strspn(end + 1, "0123456789");
    bool utc = strcmp(end, "Z") == 0;
    if (*end && !utc)
        return false;
    time_t at = utc ? timegm(&tm) : mktime(&tm);
    *out = (int64_t)at * 1000;
    return at > 0;
}
