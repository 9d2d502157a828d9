/* keep.c: owns the word by which keeper and worker know that they speak the same protocol, and
 * where one looks for the other's program. */
#include "keep/keep.h"
#include <stddef.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const char keep_protocol_word[] = "muxd-keep-" TEXT(KEEP_PROTOCOL);
const char *const keep_program_places[] = {"muxd-keeper", "../libexec/muxd/muxd-keeper", NULL};
