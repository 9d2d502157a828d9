/* hidden: reads a line from the person's terminal without showing it. */
#ifndef MUXD_CLIENT_HIDDEN_H
#define MUXD_CLIENT_HIDDEN_H
#include "base/err.h"
#include <signal.h>
#include <stddef.h>

#define HIDDEN_MAX 4000 /* bytes that the daemon takes */

/* From now on this process leaves no core dump, and no other process of the user can read its
 * memory: keys may be a secret (prctl(2), PR_SET_DUMPABLE). */
void hidden_no_dump(void);
/* Memory for a line of HIDDEN_MAX bytes: locked where that is allowed, and in no core dump. NULL
 * and errno. */
char *hidden_new(void);
void hidden_free(char *line); /* wipes it, too */
/* Asks on the controlling terminal. Returns the length without the line end; ERR_USAGE: there is no
 * terminal; ERR_CANCELLED after ^C or ^D; ERR_TOO_LARGE. It restores the terminal's settings also
 * when a signal ends or stops ue. */
long hidden_ask(const char *prompt, char *line, struct err *err);
/* Reads the first line of standard input. The same results. */
long hidden_read(char *line, struct err *err);
/* The next line of a descriptor that has no terminal's settings to change; what: its name, for
 * errors; mask: of signals while it waits, as for ppoll(2). The same results; ERR_CANCELLED also
 * after any signal that is caught. */
long hidden_read_from(int fd, const char *what, const sigset_t *mask, char *line, struct err *err);
#endif
