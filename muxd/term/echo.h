/* echo: which bytes of a terminal's output repeat what was typed. The kernel repeats it as it is;
 * a line editor draws it, with its prompt, colours and suggestions, as often as it likes; it is
 * followed until the cursor leaves the line. Where it can't be told, output is output: it must show
 * what was typed at the place where the cursor was, or behind the same prompt, to be an echo. No
 * fd, no clock; bounded in time and memory. */
#ifndef MUXD_TERM_ECHO_H
#define MUXD_TERM_ECHO_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct echo;

#define ECHO_LINES_MAX 256   /* lines that were typed and not seen yet; the oldest go */
#define ECHO_BYTES_MAX 65536 /* of one input; what goes beyond is not looked for */
#define ECHO_CONTEXT 4096    /* bytes of output before the place that are worth feeding */

struct echo *echo_new(size_t width);
void echo_free(struct echo *echo);                 /* NULL is fine */
void echo_rest(struct echo *echo); /* gives memory back while nothing is waited for */
void echo_resize(struct echo *echo, size_t width); /* columns of the terminal */

/* Whether the program reads raw keys, and so draws them itself: else the kernel repeats them. */
enum echo_by { ECHO_BY_KERNEL, ECHO_BY_PROGRAM };
/* This was typed when that much had been printed. What is typed later has no lower offset. */
void echo_typed(struct echo *echo, uint64_t at, const char *text, size_t size, enum echo_by by);
/* What was typed is waited for: output from echo_next on is to be fed. */
bool echo_waits(const struct echo *echo);
uint64_t echo_next(const struct echo *echo);
/* Begins anew at that offset, and forgets what is waited for. paste, full: a line editor reads
 * (bracketed paste is on), a full-screen program shows (the alternate screen). */
void echo_begin(struct echo *echo, uint64_t at, bool paste, bool full);
/* Output at echo_next. */
void echo_feed(struct echo *echo, const char *data, size_t size);

/* What was fed from this offset on may be an echo and may be none; UINT64_MAX: all is decided. */
uint64_t echo_hold(const struct echo *echo);
/* Nothing has come for long: what is held is output, and what was typed is not waited for. */
void echo_give_up(struct echo *echo);
/* Whether a match [from, to) of what was fed doesn't count, because it lies in an echo or begins or
 * ends in one. *next: where the next match may begin. */
bool echo_covers(const struct echo *echo, uint64_t from, uint64_t to, uint64_t *next);
#endif
