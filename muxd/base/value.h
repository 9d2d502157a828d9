/* value: the words of people and config files as values, read strictly; and the known word that is
 * nearest to a wrong one. */
#ifndef MUXD_BASE_VALUE_H
#define MUXD_BASE_VALUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each returns true and sets *out, or returns false and leaves *out as it was. Blanks around a
 * value are refused, and a sign where it makes no sense. */

bool value_int(const char *text, int64_t min, int64_t max, int64_t *out);
bool value_bool(const char *text, bool *out);        /* yes no true false on off 1 0 */
/* 4096, 512k, 8M, 2G (powers of 1024; KiB, MiB, GiB too) */
bool value_bytes(const char *text, int64_t *out);
/* 250, 250ms, 10s, 5m, 1h, 2d; "inf" = INT64_MAX */
bool value_ms(const char *text, int64_t *out);
bool value_size(const char *text, int *rows, int *cols); /* ROWSxCOLS, each 1 to 1000 */
bool value_env_name(const char *name, size_t len);   /* [A-Za-z_][A-Za-z0-9_]* */
/* [A-Za-z0-9_][A-Za-z0-9_.-]{0,63}, not all digits */
bool value_session_name(const char *name);
int value_hex_digit(char c);                         /* 0 to 15 in either case; -1: none */
bool value_signal(const char *text, int *signo);     /* 9, KILL, SIGKILL, any case */
/* "KILL" without SIG; NULL when unknown. RTMIN+n is not named */
const char *value_signal_name(int signo);
/* Decodes the C escapes of text (\n \t \r \e \a \b \f \v \\ \' \" \xHH \ooo \uHHHH) into out
 * (room strlen + 1). Bytes written, which may include NULs; or -1, and *bad points at the wrong
 * escape. */
long value_unescape(const char *text, char *out, const char **bad);
/* The candidate nearest to word by Damerau-Levenshtein distance, NULL when none is near (distance >
 * 1 + len / 4). */
const char *value_nearest(const char *word, const char *const *candidates, size_t count);
/* the nearest name of a signal, without SIG; static. NULL: none is near */
const char *value_nearest_signal(const char *word);
#endif
