/* doctor_here: the rows of `ue doctor` about its caller: terminal, man pages, completions, and the
 * person, where no daemon has judged that. */
#ifndef MUXD_CLIENT_DOCTOR_HERE_H
#define MUXD_CLIENT_DOCTOR_HERE_H
#include "wire/json.h"
#include <stdbool.h>

/* judged: the daemon has added the row about the person. */
void doctor_here(struct json *rows, bool judged);
#endif
