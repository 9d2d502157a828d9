/* try_run: runs a program to its end, to see whether that works. For threads that may block. */
#ifndef MUXD_SYS_TRY_RUN_H
#define MUXD_SYS_TRY_RUN_H
#include <stddef.h>

/* argv[0] is a path. The program gets no input, and what it prints is thrown away, but the
 * beginning of its standard error, of which text becomes the first line. The exit status; 128 + the
 * signal that ended it (SIGKILL after the limit); -1 with text: it could not be started. */
int try_run(char *const argv[], int limit_ms, char *text, size_t size);
#endif
