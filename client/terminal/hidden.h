/* hidden: a line from the person's own terminal that is not shown there. */
#ifndef MUXD_CLIENT_HIDDEN_H
#define MUXD_CLIENT_HIDDEN_H
#include "base/err.h"
#include <stddef.h>

#define HIDDEN_MAX 4000 /* bytes; what the daemon takes */

/* Memory for one: locked where that is allowed, in no core dump. Wiped and given back by
 * hidden_free. */
char *hidden_new(void);
void hidden_free(char *line);
/* Asks on the controlling terminal. Its length without the line end; ERR_USAGE: there is no
 * terminal; ERR_CANCELLED after ^C or ^D; ERR_TOO_LARGE. The terminal is as it was afterwards,
 * whatever comes in between (^Z too). */
long hidden_ask(const char *prompt, char *line, struct err *err);
/* The first line of standard input. */
long hidden_read(char *line, struct err *err);
#endif
