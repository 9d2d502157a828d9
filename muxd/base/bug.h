/* bug: a broken promise inside muxd itself. Prints where and a stack to stderr and aborts; never
 * used for what the world or a peer does wrong. */
#ifndef MUXD_BASE_BUG_H
#define MUXD_BASE_BUG_H
#include <stdnoreturn.h>
noreturn void bug_at(const char *file, int line, const char *func, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define BUG(...) bug_at(__FILE__, __LINE__, __func__, __VA_ARGS__)
#define BUG_UNLESS(cond) ((cond) ? (void)0 : BUG("'%s' does not hold", #cond))
#endif
