/* mark_file: the random word of a state directory, from which the marks of its daemons are made. */
#ifndef MUXD_SYS_MARK_FILE_H
#define MUXD_SYS_MARK_FILE_H
#include <stdbool.h>
#include <stdint.h>

/* The word of the file "mark", never 0. Makes the file (0600) when there is none or when it
 * holds no word; fresh: in any case. *kept false and errno: that failed, and the word holds for
 * this life only. */
uint32_t mark_file_word(const char *state_dir, bool fresh, bool *kept);
#endif
