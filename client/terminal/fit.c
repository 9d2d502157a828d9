/* fit: owns how text is cut and wrapped for a row. */
#include "client/terminal/fit.h"
#include "base/bug.h"
#include "base/utf8.h"
#include <string.h>

size_t fit_line(const char *text, size_t size, int cols)
{
    size_t at = 0;
    for (int used = 0; at < size && text[at] != '\n';) {
        int32_t rune;
        size_t taken = utf8_decode(text + at, size - at, &rune);
        taken = taken > 0 ? taken : size - at; /* a character that was cut */
        used += rune < 0 ? 1 : utf8_width(rune);
        if (used > cols && at > 0)
            break;
        at += taken;
    }
    return at;
}

size_t fit_words(const char *text, size_t size, int cols)
{
    size_t most = fit_line(text, size, cols), end = most, begin = 0;
    while (begin < most && text[begin] == ' ')
        begin++;
    while (end < size && end > begin && text[end] != ' ' && text[end - 1] != ' ' &&
           text[end] != '\n')
        end--;
    end = end > begin ? end : most;
    while (end < size && text[end] == ' ')
        end++;
    return end;
}

const char *fit_one(const char *const texts[], int cols)
{
    BUG_UNLESS(texts[0]);
    while (texts[1] && fit_line(*texts, strlen(*texts), cols) < strlen(*texts))
        texts++;
    return *texts;
}
