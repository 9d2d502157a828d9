/* loop: the one event loop of the worker, on epoll. Descriptors, timers, signals, finished work of
 * threads and the end of a turn are ordinary callbacks. Handlers may free themselves or any other
 * handler during dispatch. Only the wait blocks; an idle loop never wakes. */
#ifndef MUXD_SYS_LOOP_H
#define MUXD_SYS_LOOP_H
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop_io;

/* LOOP_EDGE: edge-triggered. LOOP_HANGUP is only reported, never asked for. */
enum { LOOP_READ = 1, LOOP_WRITE = 2, LOOP_HANGUP = 4, LOOP_EDGE = 8 };

typedef void loop_io_fn(void *arg, unsigned events);
typedef void loop_fn(void *arg);

/* NULL and err: ERR_SYSTEM. Sets the timer slack of the calling thread, too. */
struct loop *loop_new(struct err *err);
/* NULL is fine. No io may be left and no timer set: that would be a bug. */
void loop_free(struct loop *loop);
/* Runs turns until loop_stop. A turn: wait, io callbacks, due timers, then the turn-end
 * callbacks in the order in which they were added. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
/* One turn, not from within a callback; -1: wait for an event. False: nothing happened. For
 * tests. */
bool loop_turn(struct loop *loop, int timeout_ms);
/* CLOCK_MONOTONIC, read once a turn and after a long callback by loop_update */
int64_t loop_now_ns(const struct loop *loop);
void loop_update(struct loop *loop);

/* Watches fd, which stays the caller's and must outlive the io. NULL and errno: epoll refuses it
 * (ENOSPC; EPERM: a plain file). */
struct loop_io *loop_io_new(struct loop *loop, int fd, unsigned events, loop_io_fn *fn, void *arg);
/* 0: paused (not even hang-ups wake); -1 with errno */
int loop_io_set(struct loop_io *io, unsigned events);
void loop_io_free(struct loop_io *io); /* NULL is fine; safe inside any callback */

struct loop_timer { /* embedded in its owner; loop_timer_init before any other use */
    struct loop *loop;
    loop_fn *fn;
    void *arg;
    int64_t due_ns;
    long slot; /* place in the heap, -1 while not set */
};
void loop_timer_init(struct loop_timer *timer, struct loop *loop, loop_fn *fn, void *arg);
/* absolute, CLOCK_MONOTONIC; replaces an earlier setting */
void loop_timer_set_ns(struct loop_timer *timer, int64_t due_ns);
void loop_timer_set_ms(struct loop_timer *timer, int64_t after_ms);
void loop_timer_stop(struct loop_timer *timer); /* fine when not set */
static inline bool loop_timer_is_set(const struct loop_timer *timer) { return timer->slot >= 0; }

/* Calls fn(arg) in a turn whenever signo has come. 0 or ERR_SYSTEM. The calling thread blocks
 * signo from now on, also after loop_free, so a program that is started from it needs its signal
 * mask set. Other threads must block signo too, as those of loop_offload do. */
int loop_signal(struct loop *loop, int signo, loop_fn *fn, void *arg);
/* Calls work(arg) in a thread, for what may block (disks); it may touch nothing but arg. Then
 * done(arg) in a turn. 0; or a negative errno when the kernel gives no thread: neither is
 * called. */
int loop_offload(struct loop *loop, loop_fn *work, loop_fn *done, void *arg);
/* blocks until the last done has returned; for the end of the process */
void loop_wait_offloaded(struct loop *loop);
/* Calls fn(arg) at the end of every turn in which something happened. */
void loop_at_turn_end(struct loop *loop, loop_fn *fn, void *arg);
/* removes the turn-end callbacks that were added with this arg; safe inside any callback */
void loop_drop_turn_end(struct loop *loop, void *arg);
/* The next turn doesn't wait: this one has left some work over. */
void loop_once_more(struct loop *loop);
#endif
