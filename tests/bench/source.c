/* source: a program that writes as fast as it is read.
 *   bench-source KIND MEGABYTES          writes about as much, to the nearest whole block
 *   bench-source KIND MEGABYTES count    tells exactly how much that is: bytes, and newlines in it
 * Kinds: short (lines of 8 bytes), long (5,000), colour (colours and UTF-8), plain (short, output processing of the terminal off). */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define BLOCK_MAX (64u << 10)

static char block[BLOCK_MAX];
static size_t block_len;

static void fill_with(const char *line, size_t len)
{
    while (block_len + len <= sizeof block) {
        memcpy(block + block_len, line, len);
        block_len += len;
    }
}

static bool fill(const char *kind)
{
    static const char colour[] =
        "\033[1;32mok\033[0m  \033[36mmuxd/wire/größe.c\033[0m:42  Prüfung → fertig ✓ 日本語  \033[38;5;208m12,5 µs\033[0m\n";
    if (strcmp(kind, "short") == 0 || strcmp(kind, "plain") == 0) {
        fill_with("1234567\n", 8);
    } else if (strcmp(kind, "colour") == 0) {
        fill_with(colour, sizeof colour - 1);
    } else if (strcmp(kind, "long") == 0) {
        char line[5000];
        for (size_t i = 0; i < sizeof line - 1; i++)
            line[i] = (char)('a' + i % 26);
        line[sizeof line - 1] = '\n';
        fill_with(line, sizeof line);
    }
    return block_len > 0;
}

static bool pass_newlines(void)
{
    struct termios mode;
    if (tcgetattr(1, &mode) < 0)
        return errno == ENOTTY;
    mode.c_oflag &= ~(tcflag_t)OPOST;
    return tcsetattr(1, TCSANOW, &mode) == 0;
}

int main(int argc, char **argv)
{
    char *end;
    if (argc < 3 || !fill(argv[1])) {
        fputs("usage: bench-source short|long|colour|plain MEGABYTES [count]\n", stderr);
        return 64;
    }
    long long blocks = strtoll(argv[2], &end, 10) * 1000000 / (long long)block_len, newlines = 0;
    if (argc > 3) {
        for (size_t i = 0; i < block_len; i++)
            newlines += block[i] == '\n';
        printf("%lld %lld\n", blocks * (long long)block_len, blocks * newlines);
        return 0;
    }
    if (strcmp(argv[1], "plain") == 0 && !pass_newlines())
        return 1;
    while (blocks-- > 0) {
        for (size_t at = 0; at < block_len;) {
            ssize_t n = write(1, block + at, block_len - at);
            if (n < 0 && errno != EINTR)
                return 1;
            at += n > 0 ? (size_t)n : 0;
        }
    }
    return 0;
}
