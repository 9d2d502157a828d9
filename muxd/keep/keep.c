/* keep.c: owns the word by which keeper and worker know that they speak the same protocol. */
#include "keep/keep.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const char keep_protocol_word[] = "muxd-keep-" TEXT(KEEP_PROTOCOL);
