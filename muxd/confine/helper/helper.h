/* helper: what the files of muxd-confine do for each other. It is a program of its own, libc only:
 * it runs in front of a confined command, once for each, so its start must cost next to nothing. */
#ifndef MUXD_CONFINE_HELPER_HELPER_H
#define MUXD_CONFINE_HELPER_HELPER_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Says why on standard error and ends with the status 126: nothing runs unconfined. */
void helper_fail(const char *what, const char *subject, int error) __attribute__((__noreturn__));

/* holds.c */
/* Makes the directory when there is none and holds it by a lock, so that it stays until the last
 * who needs it has ended. Fails loudly. */
void holds_add(const char *dir);
bool holds_any(void);
/* Removes those that nobody else holds and that are still empty. */
void holds_end(void);

/* gate.c: what the kernel is told before the command is executed. */
/* Landlock: nothing may be written but these files, and no process outside be signalled. */
void gate_landlock(char *const *writable, size_t count);
/* Landlock behind mounts, which know what may be changed: no file, and above all no named pipe, may
 * be opened for writing but below these places; and, where it knows that, no abstract socket of a
 * process outside be reached, which no mount hides. */
void gate_landlock_writing(char *const *places, size_t count);
void gate_drop_capabilities(void);
void gate_no_new_privileges(void);
void gate_filter(const char *hex);         /* into this process */
void gate_filter_at(const char *hex, int fd); /* into a memory file with that number */
void gate_close_from(int first);
#endif
