/* recorder_tidy: keeps the directory of recordings below its cap. Runs in a thread. For this
 * room only. */
#ifndef MUXD_PARTS_RECORDER_TIDY_H
#define MUXD_PARTS_RECORDER_TIDY_H
#include <stdint.h>

#define RECORDER_DIR "recordings"          /* below the state directory */
#define RECORDER_NOTE_EXTENSION ".rec"     /* .NUMBER.rec: the note of a recording under way */

/* Removes notes that no worker has locked, whose recordings therefore have ended; then
 * recordings, the oldest first, until all together have at most max bytes. Never one under way. */
void recorder_tidy(const char *dir, uint64_t max);
#endif
