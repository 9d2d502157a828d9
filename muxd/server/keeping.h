/* keeping: the worker's side of the talk with its keeper. */
#ifndef MUXD_SERVER_KEEPING_H
#define MUXD_SERVER_KEEPING_H
#include "keep/link.h"
#include "server/server.h"

/* the arg of all handlers and of the functions here is the server */
extern const struct link_handlers keeping_handlers;
void keeping_on_link(void *arg, unsigned events);   /* loop_io_fn: the link can be read */
/* loop_fn: starts a new keeper for one that died; tries again by itself */
void keeping_replace_keeper(void *arg);
/* loop timer: gives the keeper everything, once more if it holds some of it */
void keeping_give(void *arg);
#endif
