/* own_args: the argument vector with which one of our processes executes another, and the numbers
 * in it. */
#ifndef MUXD_KEEP_OWN_ARGS_H
#define MUXD_KEEP_OWN_ARGS_H
#include <stdbool.h>

#define OWN_ARGS_MAX 64 /* with the NULL at the end; no program of ours gives more than a few */

/* Fills args with "ARGV[0] option value ARGV[1]… NULL", all borrowed, as execv(3) takes it.
 * Async-signal-safe. */
void own_args(char *args[OWN_ARGS_MAX], char *const argv[], char *option, char *value);
/* "N:N:N", as many numbers as are wanted and nothing else. */
bool own_numbers(const char *text, int numbers[], int count);
#endif
