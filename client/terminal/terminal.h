/* terminal: the person's own terminal while a session is shown on it: raw, in its alternate screen;
 * given back as it was whatever ends this program, as long as it is told at all. */
#ifndef MUXD_CLIENT_TERMINAL_H
#define MUXD_CLIENT_TERMINAL_H
#include "base/buf.h"
#include "base/err.h"
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Standard input and output must be terminals: ERR_USAGE. From here on deadly signals give it back
 * first. */
int terminal_open(struct err *err);
int terminal_enter(struct err *err); /* raw, with an empty alternate screen; 0 at once when it is */
void terminal_leave(void);           /* back to how it was; may be called at any time and again */
void terminal_size(int *rows, int *cols);
/* What the terminal takes now, without waiting where that can be had. -1 with errno: it is gone. */
ssize_t terminal_write(const char *data, size_t size);
int terminal_out_fd(void);
/* A drawing that is about to be written may set what has to be taken back later. */
void terminal_notice_modes(const char *data, size_t size);

/* Appends what takes back all modes that a program may have set but the alternate screen; mouse:
 * the wheel is told of. */
void terminal_append_plain(struct buf *out, bool mouse);

/* Signals that the loop looks for; they come only while it waits with this mask (ppoll). */
extern volatile sig_atomic_t terminal_resized, terminal_continued, terminal_stop;
const sigset_t *terminal_wait_mask(void);
/* stops this job as ^Z does; returns when it goes on, with the terminal not entered */
void terminal_suspend(void);
#endif
