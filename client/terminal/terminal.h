/* terminal: the person's terminal while it shows a session: raw, in its alternate screen. It is
 * restored when ue ends, by a signal too, unless by one that can't be caught. */
#ifndef MUXD_CLIENT_TERMINAL_H
#define MUXD_CLIENT_TERMINAL_H
#include "base/buf.h"
#include "base/err.h"
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Once, before all else. Standard input and output must be terminals, and TERM not dumb: ERR_USAGE.
 * From here on a deadly signal restores the terminal first. */
int terminal_open(struct err *err);
/* Only makes it raw, so that it can be queried: what is on it stays. */
int terminal_make_raw(struct err *err);
/* The same, but the interrupt key still ends ue: nobody can be asked yet what it is to do. */
int terminal_make_raw_to_wait(struct err *err);
/* Makes it raw and shows an empty alternate screen; 0 at once when it is entered already. */
int terminal_enter(struct err *err);
bool terminal_is_entered(void);
void terminal_leave(void); /* restores it; may be called at any time, also again */
void terminal_size(int *rows, int *cols); /* each from 1 to 1000 */
/* Writes what the terminal takes without blocking (where it has a descriptor for that). Bytes, or
 * -1 with errno: the terminal is gone. */
ssize_t terminal_write(const char *data, size_t size);
int terminal_out_fd(void);
/* Call it for each drawing: remembers the modes that it sets and that have to be reset. */
void terminal_notice_modes(const char *data, size_t size);
bool terminal_marks_pastes(void); /* the drawings have set bracketed paste */

/* Appends the reset of all modes that a program may have set, except the alternate screen; mouse:
 * the wheel is reported. */
void terminal_append_plain(struct buf *out, bool mouse);
/* The mouse is reported, in SGR, for ue and not for the program. */
bool terminal_reports_wheel(void);
/* The cursor has a colour that a program has set; and the reset of that, nothing otherwise. */
bool terminal_cursor_coloured(void);
void terminal_append_own_cursor(struct buf *out);

/* Signals for the caller's loop; they are delivered only while it waits with this mask (ppoll). */
extern volatile sig_atomic_t terminal_resized, terminal_continued, terminal_stop;
const sigset_t *terminal_wait_mask(void);
/* Stops this job as ^Z does. Returns when it is continued; the terminal is not entered then. */
void terminal_suspend(void);
#endif
