/* own_args.c: owns the place of a role in muxd-keeper's command line, right behind the name, and
 * the numbers in its value. */
#include "keep/own_args.h"
#include "base/bug.h"
#include <stddef.h>
#include <stdlib.h>

void own_args(char *args[OWN_ARGS_MAX], char *const argv[], char *option, char *value)
{
    size_t n = 0;
    args[n++] = argv[0];
    args[n++] = option;
    args[n++] = value;
    for (size_t i = 1; argv[i]; i++) {
        BUG_UNLESS(n < OWN_ARGS_MAX - 1);
        args[n++] = argv[i];
    }
    args[n] = NULL;
}

bool own_numbers(const char *text, int numbers[], int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        numbers[i] = (int)strtol(text, &end, 10);
        if (end == text || *end != (i < count - 1 ? ':' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}
